/** The agent loop: whole games, with answers that get lost and streams that break. */

import { Code, type ViewToAct, playSeat } from "moonvale";
import { expect, test } from "vitest";

import { FakeService, GAME, SEATS } from "./fake.js";

function choose(view: ViewToAct) {
  expect(view.decision.seat).toBe(view.viewerSeat);
  return view.decision.legalActions[0]!;
}

test("agents play a game to its end, choosing at once or later", async () => {
  const fake = new FakeService();
  const client = fake.client();
  const results = await Promise.all([
    playSeat(client, GAME, SEATS[0], choose),
    playSeat(client, GAME, SEATS[1], async (view) => {
      await Promise.resolve();
      return choose(view);
    }),
  ]);
  expect(fake.isOver).toBe(true);
  expect(results.map((result) => result.places)).toEqual([
    [0, 1],
    [0, 1],
  ]);
});

test("agents play on through lost answers and broken streams", async () => {
  const fake = new FakeService(60);
  fake.faults = Array.from({ length: 40 }, () => Code.Unavailable);
  fake.streamLengths = [1, 2, 3, 1, 2, 3, 1, 2, 3];
  const client = fake.client();
  await Promise.all(SEATS.map((seat) => playSeat(client, GAME, seat, choose)));
  expect(fake.isOver).toBe(true);
  expect(fake.faults).toEqual([]);
  expect(fake.carriedOut.size).toBe(fake.length);
});

test("an agent whose choice came too late chooses anew", async () => {
  const fake = new FakeService();
  const chosen: number[] = [];
  const chooseLate = (view: ViewToAct) => {
    if (chosen.length === 0) {
      fake.act();
    }
    chosen.push(Number(view.version));
    return choose(view);
  };
  const client = fake.client();
  await Promise.all(SEATS.map((seat) => playSeat(client, GAME, seat, chooseLate)));
  expect(fake.isOver).toBe(true);
  expect(chosen.slice(0, 2)).toEqual([0, 1]);
});

test("an illegal choice is the author's to mend", async () => {
  const playing = playSeat(new FakeService().client(), GAME, SEATS[0], () => ({
    verb: { case: "stop", value: {} },
  }));
  await expect(playing).rejects.toMatchObject({ reason: "ILLEGAL_ACTION" });
});

test("a signal gives a seat up even while it is being thought over", async () => {
  const given = new AbortController();
  const thinking = () => {
    given.abort(new Error("enough"));
    return new Promise<never>(() => {});
  };
  const playing = playSeat(new FakeService().client(), GAME, SEATS[0], thinking, { signal: given.signal });
  await expect(playing).rejects.toThrow("enough");
});

test("a signal gives a seat up with its own reason", async () => {
  const given = new AbortController();
  const playing = playSeat(new FakeService().client(), GAME, SEATS[1], choose, { signal: given.signal });
  given.abort(new Error("enough"));
  await expect(playing).rejects.toThrow("enough");
});
