/** Every transport against a real service. */

import {
  type Client,
  Code,
  type LogEntry,
  MoonvaleError,
  TimeOut,
  type Update,
  type ViewToAct,
  entropyCommitment,
  newEntropy,
  playSeat,
  playSeats,
} from "moonvale";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Proxy, cuttingProxy } from "./proxy.js";
import { ways } from "./ways.js";

/** The service's creator key, and the name of one way if the others are tested elsewhere. */
const { MOONVALE_CREATOR_KEY, MOONVALE_OVER } = process.env;

function choose(view: ViewToAct) {
  const actions = view.decision.legalActions;
  return actions[Math.floor(Math.random() * actions.length)]!;
}

async function entriesOf(updates: AsyncIterable<Update>): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for await (const update of updates) {
    if (update.case === "entry") {
      entries.push(update.value);
    }
  }
  return entries;
}

function versionsOf(entries: readonly LogEntry[]): bigint[] {
  return entries.map((entry) => entry.version!);
}

function upTo(last: bigint | undefined, first = 1): bigint[] {
  return Array.from({ length: Number(last) + 1 - first }, (_, index) => BigInt(first + index));
}

if (ways.length === 0) {
  test.skip("needs a service: MOONVALE_ADDRESS, MOONVALE_URL and MOONVALE_CREATOR_KEY");
}

describe.each(ways.filter((way) => way.name === (MOONVALE_OVER ?? way.name)).map((way) => [way.name, way] as const))(
  "%s",
  (_, { target, open }) => {
    let client: Client;

    beforeAll(() => {
      client = open(target);
    });

    afterAll(() => client.close());

    test("sits down with a code, adds entropy, plays beside a bot, and plays again", async () => {
      const entropies = [newEntropy(), newEntropy()];
      const [commitment, other] = await Promise.all(entropies.map(entropyCommitment));
      const game = await client.createGame({
        options: { players: 3, rounds: 1, turnLimit: 4 },
        seats: [{ name: "Ann", entropyCommitment: commitment! }, { open: true }, { bot: "random" }],
        clock: { perDecision: { seconds: 60n }, onTimeOut: TimeOut.AGENT_DECIDES },
        withJoinCode: true,
      });
      const watching = entriesOf(client.watch(game.name, game.spectatorCredential));
      const ben = await client.claimSeat({
        joinCode: game.joinCode.toLowerCase(),
        player: { name: "Ben", entropyCommitment: other! },
      });
      expect([ben.name, ben.seat]).toEqual([game.name, 1]);
      const credentials = [game.seatCredentials[0]!, ben.credential];
      const results = await Promise.all(
        credentials.map((credential, seat) =>
          playSeat(client, game.name, credential, choose, { entropy: entropies[seat] }),
        ),
      );
      expect(results[0]!.places).toEqual(results[1]!.places);
      const view = await client.getView(game.name, ben.credential);
      expect(view.seats.map((seat) => seat.entropy)).toEqual([...entropies, new Uint8Array()]);
      expect(versionsOf(await watching)).toEqual(upTo(view.version, 0));
      const loser = [0, 1].find((seat) => seat !== results[0]!.places[0])!;
      const again = await client.rematch(game.name, credentials[loser]!, { number: 9 });
      expect([again.view!.options!.deck, again.view!.rematchOf]).toEqual(["coin,9=eye", game.name]);
      await client.leaveSeat(again.name, again.seatCredential);
      await expect(client.getView(again.name, again.seatCredential)).rejects.toMatchObject({
        reason: "CREDENTIAL_REVOKED",
      });
    });

    test("plays a game by hand", async () => {
      const game = await client.createGame({
        options: { players: 2, rounds: 1 },
        seats: ["Ann", { name: "Ben", labels: { rating: "1510" } }],
        labels: { event: "friendly" },
        externalId: "table 7",
      });
      const seats = game.seatCredentials;
      let view = await client.getView(game.name, seats[0]!);
      expect([view.externalId, view.labels, view.seats[1]!.labels]).toEqual([
        "table 7",
        { event: "friendly" },
        { rating: "1510" },
      ]);
      const watch = client.watch(game.name, game.spectatorCredential);
      expect((await watch.next()).value).toMatchObject({ case: "view", value: { version: 0n } });
      while (view.decision) {
        const credential = seats[view.decision.seat!]!;
        view = await client.getView(game.name, credential);
        while (view.decision?.legalActions.length) {
          const response = await client.submitAction(game.name, credential, choose(view as ViewToAct), view.version);
          view = response.view!;
        }
      }
      expect(view.result!.places).toHaveLength(2);
      expect(versionsOf(await entriesOf(watch))).toEqual(upTo(view.version));
      const listed: LogEntry[] = [];
      for await (const entry of client.listEvents(game.name, seats[0]!, { pageSize: 50 })) {
        listed.push(entry);
      }
      expect(versionsOf(listed)).toEqual(upTo(view.version, 0));
      expect((await client.getReplay(game.name, seats[1]!)).record).toMatch(/^moonvale record 1\n/);
      await client.deleteGame(game.name, game.creatorCredential);
      await expect(client.getView(game.name, seats[0]!)).rejects.toMatchObject({
        code: Code.NotFound,
        reason: "GAME_NOT_FOUND",
      });
    });

    test("has agents play with a supplied deal", async () => {
      const deal = { secret: new Uint8Array(32), villages: [1, 0] };
      const options = { players: 2, rounds: 1 };
      const game = await client.createGame({
        options,
        deal,
        creatorKey: MOONVALE_CREATOR_KEY!,
        sealReplayUntil: new Date(Date.now() + 3_600_000),
      });
      expect(game.view!.options).toMatchObject({ dealSupplied: true, villages: [1, 0] });
      const watched = entriesOf(client.watch(game.name, game.spectatorCredential, { afterVersion: 0n }));
      const seats = game.seatCredentials.map((credential) => playSeat(client, game.name, credential, choose));
      const [result, same] = await Promise.all(seats);
      expect(same).toEqual(result);
      expect((await watched).at(-1)!.events.at(-1)!.kind).toMatchObject({
        case: "gameOver",
        value: { places: result!.places },
      });
      await expect(client.getReplay(game.name, game.spectatorCredential)).rejects.toMatchObject({
        reason: "REPLAY_SEALED",
      });
      await expect(client.createGame({ options, deal })).rejects.toMatchObject({ reason: "CREATOR_KEY_REQUIRED" });
    });

    test("has one bot play many seats on one stream", async () => {
      const create = () => client.createGame({ options: { players: 2, rounds: 1 } });
      const games = await Promise.all([create(), create()]);
      const lost = await create();
      const seats = [...games, lost].flatMap(({ name: game, seatCredentials }) =>
        seatCredentials.map((credential) => ({ game, credential })),
      );
      await client.rotateCredential(lost.name, lost.creatorCredential, { seat: 0 });
      await client.resign(lost.name, lost.seatCredentials[1]!);
      const results = await playSeats(client, seats, choose);
      const places = results.map((result) => (result instanceof MoonvaleError ? result.reason : result.places));
      expect(places.slice(-2)).toEqual(["CREDENTIAL_REVOKED", [0, 1]]);
      for (const [index, game] of games.entries()) {
        const { result } = await client.getView(game.name, game.spectatorCredential);
        expect(places.slice(2 * index, 2 * index + 2)).toEqual([result!.places, result!.places]);
      }
    });

    test("says what was wrong", async () => {
      await expect(client.createGame({ options: { players: 7 } })).rejects.toMatchObject({
        code: Code.InvalidArgument,
        reason: "INVALID_FIELD",
        fieldViolations: [{ field: "options.players" }],
        attempts: 1,
      });
      const game = await client.createGame({ options: { players: 2 } });
      await expect(client.getView(game.name, "")).rejects.toMatchObject({
        code: Code.Unauthenticated,
        reason: "CREDENTIAL_MISSING",
      });
      await expect(client.resign(game.name, game.spectatorCredential)).rejects.toMatchObject({
        reason: "ROLE_NOT_ALLOWED",
        metadata: { role: expect.stringContaining("spectator") },
      });
      await expect(client.watch(game.name, "nonsense").next()).rejects.toMatchObject({ reason: "CREDENTIAL_INVALID" });
      const seat = game.view!.decision!.seat!;
      const stale = client.submitAction(
        game.name,
        game.seatCredentials[seat]!,
        [{ verb: { case: "call", value: {} } }],
        9n,
      );
      await expect(stale).rejects.toMatchObject({
        code: Code.Aborted,
        reason: "STALE_VERSION",
        metadata: { version: "0" },
      });
      const rewound = client.watch(game.name, game.spectatorCredential, { afterVersion: 0n, afterMark: "another" });
      await expect(rewound.next()).rejects.toMatchObject({ reason: "HISTORY_REWOUND" });
    });

    test("knows the rest of the methods", async () => {
      const [info, catalog] = await Promise.all([client.getServerInfo(), client.getCatalog()]);
      expect(info.limits!.maxActions).toBeGreaterThanOrEqual(5);
      expect(new Set(catalog.cards.map((card) => card.deck))).toEqual(new Set(["coin", "eye"]));
      const game = await client.createGame({ options: { players: 2 } });
      const credential = await client.rotateCredential(game.name, game.creatorCredential, { seat: 0 });
      await expect(client.getView(game.name, game.seatCredentials[0]!)).rejects.toMatchObject({
        reason: "CREDENTIAL_REVOKED",
      });
      const resigned = await client.resign(game.name, credential);
      expect(resigned.view!.result!.places).toEqual([1, 0]);
      expect((await client.resign(game.name, credential)).version).toBe(resigned.version);
    });

    test("waits for as long as a limit says", async () => {
      const { maxCallsPerSecond } = (await client.getServerInfo()).limits!;
      const game = await client.createGame({ options: { players: 2 } });
      const began = performance.now();
      // Ten seconds' worth of calls can be made at once; the rest has to be waited for.
      const beyond = maxCallsPerSecond!;
      const each = (10 * maxCallsPerSecond! + beyond) / 20;
      const lines = Array.from({ length: 20 }, async () => {
        for (let count = 0; count < each; count += 1) {
          await client.getView(game.name, game.seatCredentials[0]!);
        }
      });
      await Promise.all(lines);
      expect(performance.now() - began).toBeGreaterThan(950);
    });

    test("ends a watch by a signal", async () => {
      const game = await client.createGame({ options: { players: 2 } });
      const given = new AbortController();
      const watch = client.watch(game.name, game.spectatorCredential, { signal: given.signal });
      await watch.next();
      const waiting = watch.next();
      given.abort(new Error("enough"));
      await expect(waiting).rejects.toThrow("enough");
    });

    describe("through a network that cuts connections", () => {
      let proxy: Proxy;
      let shaken: Client;

      beforeAll(async () => {
        proxy = await cuttingProxy(target, 25);
        shaken = open(proxy.address);
      });

      afterAll(() => {
        shaken.close();
        proxy.close();
      });

      test("plays games, every action once, and watches all of each", async () => {
        // A game can be short: one after the other, until some connections have been cut.
        while (proxy.cuts < 3) {
          const game = await shaken.createGame({ options: { players: 2, rounds: 1 } });
          const watched = entriesOf(shaken.watch(game.name, game.spectatorCredential, { afterVersion: 0n }));
          const submitted: bigint[] = [];
          const counted = (view: ViewToAct) => {
            submitted.push(view.version!);
            return choose(view);
          };
          await Promise.all(game.seatCredentials.map((credential) => playSeat(shaken, game.name, credential, counted)));
          const versions = versionsOf(await watched);
          expect(versions).toEqual(upTo(versions.at(-1)));
          expect(submitted.sort((a, b) => Number(a - b))).toEqual(upTo(versions.at(-1)! - 1n, 0));
        }
      });

      test("has one bot play games to their ends", async () => {
        const before = proxy.cuts;
        while (proxy.cuts < before + 3) {
          const game = await shaken.createGame({ options: { players: 4, rounds: 1 } });
          const seats = game.seatCredentials.map((credential) => ({ game: game.name, credential }));
          const results = await playSeats(shaken, seats, choose);
          expect(results.map((result) => result instanceof MoonvaleError)).toEqual([false, false, false, false]);
        }
      });
    });
  },
);
