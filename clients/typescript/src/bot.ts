/** A bot: plays many seats to the end of their games, on as few streams as the server allows. */

import { type Choose, Player } from "./agent.js";
import { type Call, linked } from "./calls.js";
import type { Client } from "./client.js";
import { CREDENTIAL_REVOKED, GAME_NOT_FOUND, MoonvaleError } from "./errors.js";
import type { Result } from "./gen/moonvale/v1/result_pb.js";
import type { View } from "./gen/moonvale/v1/view_pb.js";
import type { CallOptions } from "./requests.js";
import type { Seat, Turn } from "./turns.js";

export interface PlaySeatsOptions extends CallOptions {
  /** Of how many seats decisions are answered at a time. Default: 32. */
  readonly atOnce?: number;
  /** What seats have committed to, by their credentials. */
  readonly entropies?: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

/** The seat is lost to its player, as the stream of turns tells, too. */
const LOST: ReadonlySet<string> = new Set([CREDENTIAL_REVOKED, GAME_NOT_FOUND]);

/**
 * Play many seats until all games are over.
 *
 * Returns for each seat how its game ended, or what kept it from being played on, such as CREDENTIAL_REVOKED or
 * GAME_NOT_FOUND. `choose`, and what becomes of seats whose time was out, are as for `playSeat`. Throws what `choose` throws, MoonvaleError, such as ILLEGAL_ACTION for
 * another choice, or the signal's reason.
 */
export async function playSeats(
  client: Client,
  seats: readonly Seat[],
  choose: Choose,
  { atOnce = 32, entropies = new Map(), signal }: PlaySeatsOptions = {},
): Promise<(Result | MoonvaleError)[]> {
  if (seats.length === 0) {
    return [];
  }
  const { limits } = await client.getServerInfo({ signal });
  const most = limits?.maxWatchedSeats || seats.length;
  const bots: Bot[] = [];
  const call = linked(signal);
  const few = new Places(atOnce);
  for (let begin = 0; begin < seats.length; begin += most) {
    bots.push(new Bot(client, seats.slice(begin, begin + most), choose, few, entropies, call.signal));
  }
  try {
    return (
      await all(
        bots.map((bot) => bot.play()),
        (failure) => call.end(failure),
      )
    ).flat();
  } finally {
    call.end();
  }
}

/** Plays many seats on one stream. A turn that comes while its seat moves waits, and the newest alone counts. */
class Bot {
  readonly #client: Client;
  readonly #asked: readonly Seat[];
  readonly #few: Places;
  readonly #call: Call;
  readonly #seats: PlayedSeat[];

  constructor(
    client: Client,
    seats: readonly Seat[],
    choose: Choose,
    few: Places,
    entropies: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
    signal: AbortSignal,
  ) {
    this.#client = client;
    this.#asked = seats;
    this.#few = few;
    this.#call = linked(signal);
    const own = { signal: this.#call.signal };
    this.#seats = seats.map(
      ({ credential }) =>
        new PlayedSeat(new Player(client, credential, choose, { ...own, entropy: entropies.get(credential) })),
    );
  }

  /** Play all games to their ends, and return how each seat's ended. */
  async play(): Promise<(Result | MoonvaleError)[]> {
    const call = this.#call;
    const moves = new Set<Promise<void>>();
    let failed = false;
    let failure: unknown;
    const fail = (error: unknown) => {
      if (!failed) {
        failed = true;
        failure = error;
        call.end(error);
      }
    };
    try {
      for await (const turn of this.#client.watchTurns(this.#asked, { signal: call.signal })) {
        const seat = this.#seats[turn.index]!;
        if (seat.take(turn)) {
          const move = this.#move(seat, call.signal)
            .catch(fail)
            .finally(() => moves.delete(move));
          moves.add(move);
        }
      }
    } catch (error) {
      fail(error);
    }
    await Promise.all(moves);
    call.end();
    if (failed) {
      throw failure;
    }
    return this.#seats.map((seat) => seat.result!);
  }

  /** Answer the seat's turns until there is none. */
  async #move(seat: PlayedSeat, signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#few.enter();
      try {
        signal.throwIfAborted();
        const view = seat.takeTurn();
        if (view === undefined) {
          seat.moving = false;
          return;
        }
        await this.#answer(seat, view);
      } finally {
        this.#few.leave();
      }
    }
  }

  /** Answer one decision after the other, until another seat is to act. */
  async #answer(seat: PlayedSeat, turn: View): Promise<void> {
    try {
      for (let view: View | undefined = turn; view !== undefined; view = await seat.player.step(view)) {
        seat.answered.add(view.mark);
      }
    } catch (error) {
      if (!(error instanceof MoonvaleError && LOST.has(error.reason))) {
        throw error;
      }
    }
  }
}

/** A seat of a bot. */
class PlayedSeat {
  /** Whether its turns are being answered. */
  moving = false;
  /** Marks of the turns that were answered, since the present stream began. */
  readonly answered = new Set<string>();
  result: Result | MoonvaleError | undefined;
  #stream = 0;
  /** Told and not yet answered. */
  #turn: View | undefined;

  constructor(readonly player: Player) {}

  /** Note what a stream tells; returns whether the seat has to begin to move. */
  take(turn: Turn): boolean {
    if (turn.case === "turn") {
      if (turn.stream !== this.#stream) {
        // Should the store have lost what was answered, it is to be answered again.
        this.#stream = turn.stream;
        this.answered.clear();
      }
      this.#turn = turn.value;
      const begins = !this.moving;
      this.moving = true;
      return begins;
    }
    this.#turn = undefined;
    this.result = turn.case === "over" ? turn.value.result : turn.value;
    return false;
  }

  /** The turn that is to be answered next, if there is one. */
  takeTurn(): View | undefined {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined || this.answered.has(turn.mark)) {
      return undefined;
    }
    this.answered.clear(); // a stream tells nothing that is older than what it has told
    return turn;
  }
}

/** So many places: who finds none waits until somebody leaves, first come first served. */
class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#free += 1;
    } else {
      next();
    }
  }
}

/** The values of all promises; at the first failure the others are told to end, and it is thrown when they have. */
async function all<Value>(promises: Promise<Value>[], end: (failure: unknown) => void): Promise<Value[]> {
  try {
    return await Promise.all(promises);
  } catch (failure) {
    end(failure);
    await Promise.allSettled(promises);
    throw failure;
  }
}
