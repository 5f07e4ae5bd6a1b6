/** Many seats on one stream: every turn answered, whatever breaks, and what is told of a seat that is lost. */

import { Code, ErrorReason, MoonvaleError, type Seat, type ViewToAct, playSeats } from "moonvale";
import { expect, test, vi } from "vitest";

import { FakeService, GAME, SEATS, WAIT } from "./fake.js";

const BOTH: Seat[] = SEATS.map((credential) => ({ game: GAME, credential }));
const REVOKED = { code: Code.Unauthenticated, reason: ErrorReason.CREDENTIAL_REVOKED, message: "replaced" };

function choose(view: ViewToAct) {
  expect(view.decision.seat).toBe(view.viewerSeat);
  return view.decision.legalActions[0]!;
}

function placesOf(results: Awaited<ReturnType<typeof playSeats>>): unknown[] {
  return results.map((result) => (result instanceof MoonvaleError ? result.reason : result.places));
}

test("one bot plays both seats of a game on one stream", async () => {
  const fake = new FakeService();
  expect(placesOf(await playSeats(fake.client(), BOTH, choose))).toEqual([
    [0, 1],
    [0, 1],
  ]);
  expect(fake.carriedOut.size).toBe(fake.length);
  expect(fake.watchedSeats).toEqual([[...SEATS]]);
});

test("it uses as many streams as the server's limit asks for, and answers one seat at a time if told so", async () => {
  const fake = new FakeService();
  fake.maxWatchedSeats = 1;
  let choosing = 0;
  const chooseAlone = async (view: ViewToAct) => {
    choosing += 1;
    expect(choosing).toBe(1);
    await Promise.resolve();
    choosing -= 1;
    return choose(view);
  };
  await playSeats(fake.client(), BOTH, chooseAlone, { atOnce: 1 });
  expect(fake.isOver).toBe(true);
  expect(fake.watchedSeats).toEqual([["seat-0"], ["seat-1"]]);
});

test("it plays on through lost answers and broken streams", async () => {
  const fake = new FakeService(60);
  fake.faults = Array.from({ length: 40 }, () => Code.Unavailable);
  fake.streamLengths = [0, 1, 2, 3, 1, 2, 3, 5];
  const results = await playSeats(fake.client(), BOTH, choose);
  expect(placesOf(results)).toHaveLength(2);
  expect(fake.isOver).toBe(true);
  expect(fake.faults).toEqual([]);
  expect(fake.carriedOut.size).toBe(fake.length);
  expect(fake.watchedSeats.length).toBeGreaterThan(2);
});

test("a seat that is lost is told as an error of its own, and the others play on", async () => {
  const fake = new FakeService();
  fake.seatErrors = [REVOKED];
  const playing = playSeats(fake.client(), BOTH, choose);
  const act = setInterval(() => fake.version % 2 === 0 && !fake.isOver && fake.act(), 1);
  try {
    expect(placesOf(await playing)).toEqual(["CREDENTIAL_REVOKED", [0, 1]]);
  } finally {
    clearInterval(act);
  }
});

test("a seat that can't be watched just now is asked for again, with all others", async () => {
  const fake = new FakeService();
  const reason = ErrorReason.TOO_MANY_WATCHES;
  fake.seatErrors = [{ code: Code.ResourceExhausted, reason, message: "later", retryDelay: { nanos: 1_000_000 } }];
  await playSeats(fake.client(), BOTH, choose);
  expect(fake.watchedSeats).toEqual([[...SEATS], [...SEATS]]);
});

test("turns are told with their seats and the number of their stream", async () => {
  const fake = new FakeService(2);
  fake.streamLengths = [1];
  const told: unknown[] = [];
  for await (const turn of fake.client().watchTurns(BOTH)) {
    told.push([turn.case, turn.index, turn.game, turn.credential, turn.stream]);
    if (turn.case === "turn") {
      fake.act();
    }
  }
  expect(told).toEqual([
    ["turn", 0, GAME, "seat-0", 0],
    ["turn", 1, GAME, "seat-1", 1],
    ["over", 0, GAME, "seat-0", 1],
    ["over", 1, GAME, "seat-1", 1],
  ]);
});

test("a failing choice ends all, with its own error", async () => {
  const fake = new FakeService();
  fake.maxWatchedSeats = 1;
  const playing = playSeats(fake.client(), BOTH, (view) => {
    if (view.version === 3n) {
      throw new RangeError("mine");
    }
    return choose(view);
  });
  await expect(playing).rejects.toThrow(RangeError);
  expect(fake.version).toBe(3);
  await vi.waitFor(() => expect(fake.open).toBe(0), WAIT);
});

test("a signal ends all, with its own reason", async () => {
  const fake = new FakeService();
  const given = new AbortController();
  const playing = playSeats(fake.client(), BOTH, () => new Promise(() => {}), { signal: given.signal });
  const refused = expect(playing).rejects.toThrow("enough");
  await vi.waitFor(() => expect(fake.open).toBe(1), WAIT);
  given.abort(new Error("enough"));
  await refused;
});

test("no seats are played at once", async () => {
  expect(await playSeats(new FakeService().client(), [], choose)).toEqual([]);
});
