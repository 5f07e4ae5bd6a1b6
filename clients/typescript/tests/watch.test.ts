/** Watches: every entry once and in order, whatever breaks. */

import { DEFAULT_RETRY, type Update, WatchEndReason } from "moonvale";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { FakeService, GAME, SPECTATOR, WAIT, mark } from "./fake.js";

/** Play the game to its end. */
function played(fake: FakeService): FakeService {
  while (!fake.isOver) {
    fake.act();
  }
  return fake;
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) {
    found.push(item);
  }
  return found;
}

/** The versions of the entries that followed the view. */
function versions([view, ...entries]: Update[]): number[] {
  expect(view?.case).toBe("view");
  expect(entries.map((entry) => entry.case)).not.toContain("view");
  return entries.map((entry) => Number(entry.value.version));
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

test.each([[[]], [[0, 0]], [[1, 1, 2]], [[2, 5, 1, 0, 7]], [[11, 3]]])(
  "a watch passes on every entry once wherever its streams break: %j",
  async (lengths) => {
    const fake = played(new FakeService());
    fake.streamLengths = [...lengths];
    const watch = fake.client().watch(GAME, SPECTATOR, { afterVersion: 0n, afterMark: mark(0) });
    expect(versions(await all(watch))).toEqual(upTo(fake.length));
    expect(fake.watchedFrom).toHaveLength(lengths.length + 1);
  },
);

test("so it does while the game is played", async () => {
  const fake = new FakeService();
  fake.streamLengths = [3, 1, 4, 1, 5];
  const seen: Update[] = [];
  for await (const update of fake.client().watch(GAME, SPECTATOR)) {
    seen.push(update);
    if (!fake.isOver) {
      fake.act();
    }
  }
  expect(versions(seen)).toEqual(upTo(fake.length));
  expect(fake.watchedFrom).toHaveLength(6);
});

test("a broken watch goes on from the last version and mark", async () => {
  const fake = played(new FakeService());
  fake.streamLengths = [4, 1];
  await all(fake.client().watch(GAME, SPECTATOR, { afterVersion: 0n, afterMark: mark(0) }));
  expect(fake.watchedFrom).toEqual([
    [0n, mark(0)],
    [3n, mark(3)],
    [3n, mark(3)],
  ]);
});

test("a watch that began with the view goes on from the view's version", async () => {
  const fake = new FakeService();
  fake.act();
  fake.act();
  fake.streamLengths = [1];
  const watch = fake.client().watch(GAME, SPECTATOR);
  await watch.next();
  played(fake);
  expect((await watch.next()).value).toMatchObject({ case: "entry", value: { version: 3n } });
  await watch.return();
  expect(fake.watchedFrom).toEqual([
    [undefined, ""],
    [2n, mark(2)],
  ]);
});

test("entries that a server sends again are not passed on", async () => {
  const fake = played(new FakeService());
  fake.repeatEntries = 3;
  fake.streamLengths = [6];
  expect(versions(await all(fake.client().watch(GAME, SPECTATOR, { afterVersion: 0n })))).toEqual(upTo(fake.length));
});

test("a stream that left an entry out is given up and resumed before the gap", async () => {
  const fake = played(new FakeService());
  fake.leaveOut = 4;
  expect(versions(await all(fake.client().watch(GAME, SPECTATOR, { afterVersion: 0n })))).toEqual(upTo(fake.length));
  expect(fake.watchedFrom).toEqual([
    [0n, ""],
    [3n, mark(3)],
  ]);
});

test("a draining server and an old stream are no end", async () => {
  const fake = played(new FakeService());
  fake.endings = [WatchEndReason.DRAINING, WatchEndReason.MAX_AGE, WatchEndReason.UNSPECIFIED];
  expect(versions(await all(fake.client().watch(GAME, SPECTATOR, { afterVersion: 0n })))).toEqual(upTo(fake.length));
  expect(fake.watchedFrom).toHaveLength(4);
});

describe("with a clock of the test's own", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("a stream on which nothing comes is given up and resumed", async () => {
    const fake = played(new FakeService());
    fake.silent = 2;
    const watched = all(fake.client({}).watch(GAME, SPECTATOR, { afterVersion: 0n }));
    for (const streams of [1, 2]) {
      await vi.advanceTimersByTimeAsync(DEFAULT_RETRY.attemptTimeoutMs - 1000);
      expect(fake.watchedFrom).toHaveLength(streams);
      await vi.advanceTimersByTimeAsync(2000);
    }
    expect(versions(await watched)).toEqual(upTo(fake.length));
    expect(fake.watchedFrom).toHaveLength(3);
  });

  test("so is one that falls silent", async () => {
    const fake = new FakeService(2);
    const watch = fake.client({}).watch(GAME, SPECTATOR);
    await watch.next();
    fake.act();
    expect((await watch.next()).value).toMatchObject({ case: "entry", value: { version: 1n } });
    const waiting = watch.next();
    await vi.advanceTimersByTimeAsync(DEFAULT_RETRY.silenceMs - 1000);
    expect(fake.watchedFrom).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2000);
    expect(fake.watchedFrom).toEqual([
      [undefined, ""],
      [1n, mark(1)],
    ]);
    fake.act();
    expect((await waiting).value).toMatchObject({ case: "entry", value: { version: 2n } });
  });

  test("a watcher may take longer for an entry than a stream may be silent", async () => {
    const fake = played(new FakeService(3));
    const seen: Update[] = [];
    for await (const update of fake.client().watch(GAME, SPECTATOR, { afterVersion: 0n })) {
      seen.push(update);
      await vi.advanceTimersByTimeAsync(2 * DEFAULT_RETRY.silenceMs);
    }
    expect(versions(seen)).toEqual(upTo(3));
    expect(fake.watchedFrom).toHaveLength(1);
  });
});

test("a rewound history and a deleted game are thrown", async () => {
  const fake = new FakeService();
  fake.endings = [WatchEndReason.GAME_DELETED];
  await expect(all(fake.client().watch(GAME, SPECTATOR))).rejects.toMatchObject({ reason: "GAME_NOT_FOUND" });
  fake.rewound = true;
  const watch = fake.client().watch(GAME, SPECTATOR, { afterVersion: 3n, afterMark: "of a lost world" });
  await expect(watch.next()).rejects.toMatchObject({ reason: "HISTORY_REWOUND", metadata: { version: "1" } });
});

test("a watch gives up when it can't be resumed for too long", async () => {
  const fake = new FakeService();
  fake.streamLengths = Array.from({ length: 1000 }, () => 0);
  const watch = fake.client({ timeoutMs: 500, firstPauseMs: 5, longestPauseMs: 50 }).watch(GAME, SPECTATOR);
  await expect(watch.next()).rejects.toMatchObject({ isTransient: true });
});

test("a signal ends a watch with its own reason, and its stream with it", async () => {
  const fake = new FakeService();
  const given = new AbortController();
  const watch = fake.client().watch(GAME, SPECTATOR, { signal: given.signal });
  await watch.next();
  const waiting = watch.next();
  given.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await vi.waitFor(() => expect(fake.open).toBe(0), WAIT);
});

test("leaving the loop ends the stream", async () => {
  const fake = new FakeService();
  for await (const update of fake.client().watch(GAME, SPECTATOR)) {
    expect(update.case).toBe("view");
    expect(fake.open).toBe(1);
    break;
  }
  await vi.waitFor(() => expect(fake.open).toBe(0), WAIT);
});

test("what the watcher's own code throws is not taken for a broken stream", async () => {
  const fake = played(new FakeService());
  const watching = (async () => {
    for await (const update of fake.client().watch(GAME, SPECTATOR, { afterVersion: 0n })) {
      if (update.case === "entry") {
        throw new RangeError("mine");
      }
    }
  })();
  await expect(watching).rejects.toThrow(RangeError);
  expect(fake.watchedFrom).toHaveLength(1);
});

test("events are listed page by page", async () => {
  const fake = new FakeService();
  for (let count = 0; count < 6; count += 1) {
    fake.act();
  }
  const entries = await all(fake.client().listEvents(GAME, SPECTATOR, { pageSize: 3 }));
  expect(entries.map((entry) => Number(entry.version))).toEqual([0, ...upTo(6)]);
});
