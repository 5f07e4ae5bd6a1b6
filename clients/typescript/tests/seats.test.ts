/** Seats: how one sits down, waits, reveals entropy, and takes a seat back after its time was out. */

import { create } from "@bufbuild/protobuf";
import {
  Code,
  LogEntrySchema,
  Phase,
  type Update,
  ViewSchema,
  type ViewToAct,
  WatchGameResponseSchema,
  entropyCommitment,
  newEntropy,
  playSeat,
  playSeats,
} from "moonvale";
import { expect, test } from "vitest";

import { Cursor } from "../src/cursor.js";
import { StreamBrokenError } from "../src/retry.js";
import { FakeService, GAME, SEATS, SPECTATOR, mark } from "./fake.js";

const ENTROPIES = [newEntropy(), newEntropy()];
const COMMITMENTS = await Promise.all(ENTROPIES.map(entropyCommitment));

function choose(view: ViewToAct) {
  expect(view.seats[view.viewerSeat!]!.away).toBe(false);
  return view.decision.legalActions[0]!;
}

function told({ case: kind, value }: Update): string | number {
  return kind === "view" ? value.mark : Number(value.version);
}

/** A game whose seats have to reveal what they have committed to. */
function revealing(commitments = COMMITMENTS): FakeService {
  const fake = new FakeService();
  fake.commitments = commitments;
  fake.change(Phase.REVEALING);
  return fake;
}

test("a commitment is what the service reads", async () => {
  const commitment = await entropyCommitment(new TextEncoder().encode("0123456789abcdef"));
  const hex = [...commitment].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  expect(hex).toBe("b628b6da52bced3f691aaa221b5418e160f37a75bfdf8049edea8ac76b33315b");
  expect(newEntropy()).not.toEqual(newEntropy());
  expect(newEntropy()).toHaveLength(32);
});

test("a seat is claimed by the game's name or by the join code alone", async () => {
  const fake = new FakeService();
  fake.faults = [Code.Unavailable];
  const client = fake.client();
  expect(await client.claimSeat({ game: GAME, player: "Ben" })).toMatchObject({ credential: `${GAME} Ben`, seat: 1 });
  expect(fake.requestIds).toHaveLength(2);
  expect(fake.requestIds[0]).toBe(fake.requestIds[1]);
  const claim = { joinCode: "7QX4-M2TC", seat: 0, player: { name: "Cleo", entropyCommitment: COMMITMENTS[0]! } };
  expect(await client.claimSeat(claim)).toMatchObject({ credential: "games/- Cleo", seat: 0 });
});

test("leaving a seat again after a lost answer is done", async () => {
  const fake = new FakeService();
  fake.faults = [Code.Unavailable];
  await fake.client().leaveSeat(GAME, "creator", { seat: 0 });
  expect(fake.left).toEqual([0]);
  await expect(fake.client().leaveSeat(GAME, SEATS[0])).rejects.toMatchObject({ reason: "CREDENTIAL_REVOKED" });
});

test("a rematch names a number and a commitment", async () => {
  const client = new FakeService().client();
  const again = await client.rematch(GAME, SEATS[0], { number: 0, entropyCommitment: COMMITMENTS[0]! });
  expect(again.seatCredential).toBe("0 32");
  expect((await client.rematch(GAME, SEATS[0])).seatCredential).toBe("undefined 0");
});

test("a game that waits is told at each change and begins with version 0", async () => {
  const fake = new FakeService();
  fake.change(Phase.WAITING);
  const watch = fake.client().watch(GAME, SPECTATOR);
  const next = async () => told((await watch.next()).value as Update);
  expect(await next()).toBe("change-1");
  fake.change(Phase.REVEALING);
  expect(await next()).toBe("change-2");
  fake.change(Phase.PLAYING);
  fake.act();
  expect([await next(), await next()]).toEqual([0, 1]);
  await watch.return();
});

test("a game that began while the stream was broken is told by one more view", async () => {
  const fake = new FakeService();
  fake.change(Phase.WAITING);
  fake.streamLengths = [1, 0, 2];
  const watch = fake.client().watch(GAME, SPECTATOR);
  const next = async () => told((await watch.next()).value as Update);
  expect(await next()).toBe("change-1");
  fake.act();
  fake.act();
  fake.change(Phase.PLAYING);
  expect(await next()).toBe(mark(2));
  fake.act();
  fake.act();
  expect([await next(), await next()]).toEqual([3, 4]);
  await watch.return();
  expect(fake.watchedFrom.slice(0, 3)).toEqual([
    [undefined, ""],
    [undefined, ""],
    [undefined, ""],
  ]);
});

test("no view of a game that waits is told twice", async () => {
  const fake = new FakeService();
  fake.change(Phase.WAITING);
  fake.streamLengths = [1, 1];
  const watch = fake.client().watch(GAME, SPECTATOR);
  const next = async () => told((await watch.next()).value as Update);
  expect(await next()).toBe("change-1");
  fake.change(Phase.WAITING);
  expect(await next()).toBe("change-2");
  await watch.return();
});

test("an entry of a game that waits which is not the first is a broken stream", () => {
  const cursor = new Cursor(GAME, undefined, "");
  const view = create(ViewSchema, { name: GAME, mark: "a" });
  const entry = create(LogEntrySchema, { version: 1n });
  cursor.take(create(WatchGameResponseSchema, { content: { case: "view", value: view } }));
  const message = create(WatchGameResponseSchema, { content: { case: "entry", value: entry } });
  expect(() => cursor.take(message)).toThrow(StreamBrokenError);
});

test("agents reveal their entropy and play", async () => {
  const fake = revealing();
  fake.faults = [Code.Unavailable, Code.Unavailable];
  const client = fake.client();
  await Promise.all(SEATS.map((seat, i) => playSeat(client, GAME, seat, choose, { entropy: ENTROPIES[i] })));
  expect(fake.isOver).toBe(true);
  expect([fake.revealed.get(0), fake.revealed.get(1)]).toEqual(ENTROPIES);
});

test("a bot of many seats reveals their entropies", async () => {
  const fake = revealing();
  const entropies = new Map(SEATS.map((seat, i) => [seat as string, ENTROPIES[i]!]));
  const seats = SEATS.map((credential) => ({ game: GAME, credential }));
  await playSeats(fake.client(), seats, choose, { entropies });
  expect(fake.isOver).toBe(true);
  expect(fake.revealed.size).toBe(2);
});

test("nothing is revealed to a service that shows another commitment", async () => {
  const fake = revealing([COMMITMENTS[1]!, COMMITMENTS[1]!]);
  const playing = playSeat(fake.client(), GAME, SEATS[0], choose, { entropy: ENTROPIES[0] });
  await expect(playing).rejects.toThrow("nothing was revealed");
  expect(fake.revealed.size).toBe(0);
});

test("nothing is revealed once the service has changed its own commitment", async () => {
  const fake = new FakeService();
  fake.commitments = COMMITMENTS;
  fake.change(Phase.WAITING);
  const playing = playSeat(fake.client(), GAME, SEATS[0], choose, { entropy: ENTROPIES[0] });
  await expect.poll(() => fake.open).toBe(1);
  fake.commitment = new Uint8Array(32).fill(1);
  fake.change(Phase.REVEALING);
  await expect(playing).rejects.toThrow("another commitment of the service's: nothing was revealed");
  expect(fake.revealed.size).toBe(0);
});

test("a seat whose time was out is taken back and played on", async () => {
  const fake = new FakeService(20);
  fake.late = [2, 8];
  const client = fake.client();
  await Promise.all(SEATS.map((seat) => playSeat(client, GAME, seat, choose)));
  expect(fake.isOver).toBe(true);
  expect([fake.reclaimed, fake.late]).toEqual([2, []]);
});

test("a seat that never answers in time is left to the agent", async () => {
  const fake = new FakeService(20);
  fake.late = [0, 2, 4];
  let asked = 0;
  const playing = playSeat(fake.client(), GAME, SEATS[0], (view) => {
    asked += 1;
    return choose(view);
  });
  await expect.poll(() => fake.away.has(0) && asked === 2).toBe(true);
  while (!fake.isOver) {
    fake.act();
  }
  await playing;
  expect([fake.reclaimed, asked]).toEqual([1, 2]);
});
