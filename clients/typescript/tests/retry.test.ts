/** Retries: the same request id, pauses that grow, an end; what an error says. */

import { ConnectError } from "@connectrpc/connect";
import { Client, Code, ErrorReason, GameService, MoonvaleError } from "moonvale";
import { expect, test } from "vitest";

import * as errors from "../src/errors.js";
import { newRequestId } from "../src/requests.js";
import { Attempts, DEFAULT_RETRY, StreamBrokenError } from "../src/retry.js";
import { FakeService, GAME, QUICK, SEATS } from "./fake.js";

const LOST = Code.Unavailable;

/** The MoonvaleError that a promise fails with. */
async function errorOf(promise: Promise<unknown>): Promise<MoonvaleError> {
  const error: unknown = await promise.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(MoonvaleError);
  return error as MoonvaleError;
}

test("a lost answer is asked for again with the same request id and carried out once", async () => {
  const fake = new FakeService();
  const client = fake.client();
  const view = await client.getView(GAME, SEATS[0]);
  fake.faults = [LOST, Code.DeadlineExceeded];
  const response = await client.submitAction(GAME, SEATS[0], view.decision!.legalActions, view.version);
  expect(response.version).toBe(1n);
  expect(fake.version).toBe(1);
  expect(fake.requestIds).toHaveLength(3);
  expect(new Set(fake.requestIds).size).toBe(1);
});

test("a call that a stopping server or a broken connection has cut short is made again", async () => {
  const fake = new FakeService();
  fake.faults = [Code.Canceled, Code.Internal, Code.Aborted, Code.Unknown];
  expect((await fake.client().getServerInfo()).version).toBe("fake");
});

test("every call has a request id of its own unless the caller chose one", async () => {
  const fake = new FakeService();
  fake.faults = [LOST];
  const client = fake.client();
  await client.createGame();
  await client.createGame();
  await client.createGame({ requestId: "mine" });
  const [first, again, second, chosen] = fake.requestIds;
  expect(again).toBe(first);
  expect(new Set([first, second, chosen]).size).toBe(3);
  expect(chosen).toBe("mine");
});

test("request ids are random UUIDs", () => {
  const ids = new Set(Array.from({ length: 100 }, newRequestId));
  expect(ids.size).toBe(100);
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});

test("a rotation is asked for again with the same request id", async () => {
  const fake = new FakeService();
  fake.faults = [LOST];
  expect(await fake.client().rotateCredential(GAME, SEATS[1], { seat: 1 })).toBe("new 1");
  const [first, again] = fake.requestIds;
  expect(again).toBe(first);
});

test("games are listed page by page", async () => {
  const names: string[] = [];
  for await (const game of new FakeService().client().listGames("operator")) {
    names.push(game.name);
  }
  expect(names).toEqual([0, 1, 2, 3, 4].map((number) => `games/${number}`));
});

test("a game that is gone when its deletion is repeated was deleted", async () => {
  const fake = new FakeService();
  fake.faults = [LOST];
  const client = fake.client();
  await client.deleteGame(GAME, "creator");
  expect((await errorOf(client.deleteGame(GAME, "creator"))).reason).toBe("GAME_NOT_FOUND");
});

test("errors that no repetition helps are thrown at once, with all that the service said", async () => {
  const fake = new FakeService();
  const client = fake.client();
  const error = await errorOf(client.submitAction(GAME, SEATS[0], [], 7n));
  expect(error.code).toBe(Code.Aborted);
  expect(error.reason).toBe("STALE_VERSION");
  expect(error.metadata).toEqual({ version: "0" });
  expect(error.attempts).toBe(1);
  expect(String(error)).toBe("MoonvaleError: STALE_VERSION: no");
  const wrong = await errorOf(client.resign("nonsense", SEATS[0]));
  expect(wrong.fieldViolations).toEqual([{ field: "name", description: "needs games/{game}" }]);
});

test("a delay that the service asks for is waited out", async () => {
  const fake = new FakeService();
  fake.limited = 2;
  expect((await fake.client().getServerInfo()).version).toBe("fake");
  fake.limited = 1;
  fake.retryDelay = { seconds: 60n, nanos: 500_000_000 };
  const error = await errorOf(fake.client().getServerInfo());
  expect([error.reason, error.retryDelayMs, error.isTransient]).toEqual(["RATE_LIMITED", 60_500, true]);
});

test("a call gives up when its time is up", async () => {
  const fake = new FakeService();
  fake.faults = Array.from({ length: 1000 }, () => LOST);
  const client = fake.client({ timeoutMs: 1000, firstPauseMs: 5, longestPauseMs: 50 });
  const error = await errorOf(client.getServerInfo());
  expect([error.code, error.reason, error.isTransient]).toEqual([LOST, "", true]);
  expect(error.attempts).toBeGreaterThan(1);
  expect(error.cause).toBeInstanceOf(ConnectError);
});

test("a signal gives a call up, even amid a pause, with its own reason", async () => {
  const fake = new FakeService();
  fake.faults = [LOST];
  const given = new AbortController();
  const call = fake.client({ firstPauseMs: 15_000 }).getServerInfo({ signal: given.signal });
  given.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
  await expect(fake.client().getServerInfo({ signal: given.signal })).rejects.toThrow("enough");
});

test("a closed client makes no calls, and those under way end", async () => {
  const fake = new FakeService();
  let disconnected = 0;
  const client = new Client(fake.transport(), QUICK, () => (disconnected += 1));
  const watch = client.watch(GAME, SEATS[0]);
  await watch.next();
  const waiting = errorOf(watch.next());
  client.close();
  const error = await waiting;
  expect([error.code, error.isTransient, disconnected]).toEqual([Code.Canceled, false, 1]);
  expect((await errorOf(client.getServerInfo())).message).toContain("closed");
});

test("pauses double with jitter up to the longest, and the last deadline is what is left", () => {
  let now = 0;
  const policy = { ...DEFAULT_RETRY, timeoutMs: 10, attemptTimeoutMs: 4, firstPauseMs: 1, longestPauseMs: 3 };
  const attempts = new Attempts(
    policy,
    () => now,
    () => 1,
  );
  const broken = new StreamBrokenError("broken");
  expect(attempts.deadline()).toBe(4);
  expect([1, 2, 3, 4].map(() => attempts.pause(broken))).toEqual([1, 2, 3, 3]);
  now = 6.4;
  expect(attempts.deadline()).toBe(3);
  expect(attempts.pause(broken)).toBe(3);
  now = 7;
  expect(() => attempts.pause(broken)).toThrow(MoonvaleError);
  const lowest = new Attempts(
    policy,
    () => now,
    () => 0,
  );
  expect(lowest.pause(broken)).toBe(0.5);
});

test("a call whose last attempts ran out of time tells what had failed before", () => {
  let now = 0;
  const attempts = new Attempts({ ...DEFAULT_RETRY, timeoutMs: 1000 }, () => now);
  const late = new ConnectError("the operation timed out", Code.DeadlineExceeded);
  attempts.pause(late);
  attempts.pause(new ConnectError("no route", Code.Internal));
  attempts.pause(late);
  now = 1000;
  expect(() => attempts.pause(late)).toThrow(expect.objectContaining({ message: "Internal: no route", attempts: 4 }));
});

test("what comes over a stream gives it new time, and what follows its view makes pauses short again", () => {
  let now = 0;
  const policy = { ...DEFAULT_RETRY, timeoutMs: 10, attemptTimeoutMs: 4, firstPauseMs: 1, longestPauseMs: 8 };
  const attempts = new Attempts(
    policy,
    () => now,
    () => 1,
  );
  const broken = new StreamBrokenError("broken");
  expect([1, 2, 3].map(() => attempts.pause(broken))).toEqual([1, 2, 4]);
  attempts.renew(false);
  now = 100; // a long silence: the time runs from the failure on
  expect(attempts.pause(broken)).toBe(8);
  now = 102;
  expect(() => attempts.pause(broken)).toThrow(MoonvaleError);
  attempts.renew(true);
  expect(attempts.pause(broken)).toBe(1);
});

test("the client has a method for each of the service's", () => {
  const names: Record<string, string> = { watchGame: "watch" };
  const methods = GameService.methods.map((method) => names[method.localName] ?? method.localName);
  expect(methods.length).toBeGreaterThanOrEqual(13);
  for (const method of methods) {
    expect(Client.prototype).toHaveProperty(method);
  }
});

test("the reasons that the client acts on are those of the contract", () => {
  const reasons = Object.entries(errors).flatMap(([name, value]) => (name === value ? [name] : []));
  expect(reasons.sort()).toEqual([
    "CREDENTIAL_REVOKED",
    "GAME_BEGUN",
    "GAME_NOT_BEGUN",
    "GAME_NOT_FOUND",
    "GAME_OVER",
    "HISTORY_REWOUND",
    "NOT_YOUR_TURN",
    "STALE_VERSION",
    "TIME_OUT",
  ]);
  expect(Object.keys(ErrorReason)).toEqual(expect.arrayContaining(reasons));
});
