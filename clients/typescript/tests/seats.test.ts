/** Seats: claims and leaves whose answers are lost, and watches of games that wait for players. */

import { create } from "@bufbuild/protobuf";
import { Code, LogEntrySchema, ViewSchema, WatchEndReason, WatchGameResponseSchema } from "moonvale";
import { expect, test } from "vitest";

import { Cursor } from "../src/cursor.js";
import { StreamBrokenError } from "../src/retry.js";
import { FakeService, GAME, SEATS } from "./fake.js";

const LOST = Code.Unavailable;

test("a claim whose answer was lost is asked for again with the same request id", async () => {
  const fake = new FakeService();
  fake.faults = [LOST];
  const taken = await fake.client().claimSeat({ joinCode: "7QX4-M2TC", player: "Ben" });
  expect([taken.name, taken.seat, taken.credential]).toEqual([GAME, 1, SEATS[1]]);
  expect(new Set(fake.requestIds).size).toBe(1);
  expect(fake.claims.map((claim) => [claim.name, claim.joinCode, claim.player?.name])).toEqual(
    Array(2).fill(["games/-", "7QX4-M2TC", "Ben"]),
  );
});

test("a seat that is free when leaving it is repeated was left", async () => {
  const fake = new FakeService();
  fake.faults = [LOST];
  await fake.client().leaveSeat(GAME, SEATS[1]);
  expect(fake.left).toBe(true);
  await expect(fake.client().leaveSeat(GAME, SEATS[1])).rejects.toMatchObject({ reason: "CREDENTIAL_REVOKED" });
});

test("a rematch names the number that a loser has chosen", async () => {
  const answer = await new FakeService().client().rematch(GAME, SEATS[1], { number: 9 });
  expect([answer.name, answer.seatCredential]).toEqual([`${GAME}again`, "again-9"]);
});

function view(mark: string, version?: bigint) {
  const value = create(ViewSchema, { name: GAME, mark, ...(version === undefined ? {} : { version }) });
  return create(WatchGameResponseSchema, { content: { case: "view", value } });
}

function entry(version: bigint) {
  const value = create(LogEntrySchema, { version, mark: `mark ${version}` });
  return create(WatchGameResponseSchema, { content: { case: "entry", value } });
}

test("while a game waits each change of its view is passed on once, and its log begins with version 0", () => {
  const cursor = new Cursor(GAME, undefined, "");
  const told = [view("a"), view("a"), view("b"), entry(0n), entry(1n)].map((message) => cursor.take(message)?.case);
  expect(told).toEqual(["view", undefined, "view", "entry", "entry"]);
  expect(cursor.request()).toEqual({ name: GAME, afterVersion: 1n, afterMark: "mark 1" });
});

test("a game that began while no stream was open is told by its view", () => {
  const cursor = new Cursor(GAME, undefined, "");
  cursor.take(view("a"));
  expect(cursor.request()).toEqual({ name: GAME });
  expect(cursor.take(view("b", 3n))?.case).toBe("view");
  expect(cursor.take(entry(4n))?.case).toBe("entry");
  expect(() => cursor.take(entry(6n))).toThrow(StreamBrokenError);
});

test("an entry of a waiting game that is not the first is a broken stream", () => {
  const cursor = new Cursor(GAME, undefined, "");
  cursor.take(view("a"));
  expect(() => cursor.take(entry(1n))).toThrow(StreamBrokenError);
  cursor.take(
    create(WatchGameResponseSchema, { content: { case: "end", value: { reason: WatchEndReason.GAME_OVER } } }),
  );
  expect(cursor.finished).toBe(true);
});
