/** The agent loop: plays one seat to the end of its game by asking a function for each decision. */

import { unlessAborted } from "./calls.js";
import type { Client } from "./client.js";
import { isNewer } from "./cursor.js";
import { hasToReveal } from "./entropy.js";
import {
  GAME_BEGUN,
  GAME_NOT_BEGUN,
  GAME_OVER,
  HISTORY_REWOUND,
  MoonvaleError,
  NOT_YOUR_TURN,
  STALE_VERSION,
  TIME_OUT,
} from "./errors.js";
import type { Result } from "./gen/moonvale/v1/result_pb.js";
import { type Decision, Phase, type View } from "./gen/moonvale/v1/view_pb.js";
import type { ActionInit, CallOptions } from "./requests.js";

/** A view whose viewer is to act: its decision has legal actions. */
export type ViewToAct = View & { decision: Decision };

/** Returns one of `view.decision.legalActions`, at once or as a promise. */
export type Choose = (view: ViewToAct) => ActionInit | Promise<ActionInit>;

export interface PlaySeatOptions extends CallOptions {
  /** What the seat has committed to, which is revealed when it is time to. */
  readonly entropy?: Uint8Array<ArrayBuffer> | undefined;
}

/** The game has moved on since the view: by another client of the same seat, by a resignation, or as time was out. */
const MOVED_ON: ReadonlySet<string> = new Set([STALE_VERSION, NOT_YOUR_TURN, GAME_OVER, GAME_BEGUN, GAME_NOT_BEGUN]);

/**
 * Play the credential's seat until the game is over, and return how it ended.
 *
 * `choose` gets the seat's view at each decision of its own and returns one of `view.decision.legalActions`.
 * A seat that an agent plays, since its time was out, is taken back: once, and once more whenever the seat has answered a
 * decision in time since. So a player that can't keep up at all leaves the agent to it.
 * Throws what `choose` throws, MoonvaleError, such as ILLEGAL_ACTION for another choice, or the signal's reason.
 */
export async function playSeat(
  client: Client,
  game: string,
  credential: string,
  choose: Choose,
  options: PlaySeatOptions = {},
): Promise<Result> {
  const player = new Player(client, credential, choose, options);
  for (;;) {
    try {
      return await play(client, game, credential, player, options);
    } catch (error) {
      if (!(error instanceof MoonvaleError && error.reason === HISTORY_REWOUND)) {
        throw error;
      }
    }
  }
}

async function play(
  client: Client,
  game: string,
  credential: string,
  player: Player,
  options: CallOptions,
): Promise<Result> {
  let view: View | undefined;
  for await (const update of client.watch(game, credential, options)) {
    if (update.case === "view") {
      view = update.value;
    } else if (view === undefined || (isNewer(update.value, view) && update.value.seatToAct === view.viewerSeat)) {
      view = await client.getView(game, credential, options);
    } else {
      continue;
    }
    for (let next = await player.step(view); next !== undefined; next = await player.step(view)) {
      view = next;
    }
  }
  while (view?.result === undefined) {
    view = await client.getView(game, credential, options);
  }
  return view.result;
}

/** Whether the view's viewer is to act. */
export function hasChoice(view: View): view is ViewToAct {
  return (view.decision?.legalActions.length ?? 0) > 0;
}

/** Whoever plays one seat: what is done when it is to act. */
export class Player {
  readonly #client: Client;
  readonly #credential: string;
  readonly #choose: Choose;
  readonly #entropy: Uint8Array<ArrayBuffer> | undefined;
  readonly #options: CallOptions;
  /** The service's, as the first view shows it. */
  #commitment: Uint8Array | undefined;
  #mayReturn = true;

  constructor(client: Client, credential: string, choose: Choose, { entropy, signal }: PlaySeatOptions) {
    this.#client = client;
    this.#credential = credential;
    this.#choose = choose;
    this.#entropy = entropy;
    this.#options = { signal };
  }

  /**
   * Do the next thing that the view asks of the seat, and return the view that follows.
   * Undefined: there is nothing to be done until the service tells more.
   */
  async step(view: View): Promise<View | undefined> {
    try {
      return await this.#step(view);
    } catch (error) {
      if (!(error instanceof MoonvaleError)) {
        throw error;
      }
      if (error.reason === TIME_OUT) {
        return undefined; // what comes of it is told as soon as it is done
      }
      if (!MOVED_ON.has(error.reason)) {
        throw error;
      }
      return this.#look(view);
    }
  }

  async #step(view: View): Promise<View | undefined> {
    const entropy = this.#entropy;
    this.#commitment ??= view.commitment;
    if (entropy !== undefined && (await hasToReveal(view, entropy, this.#commitment))) {
      const revealed = await this.#client.revealEntropy(view.name, this.#credential, entropy, this.#options);
      return revealed.phase === Phase.REVEALING ? undefined : revealed;
    }
    if (view.phase === Phase.PLAYING && view.seats[view.viewerSeat ?? -1]?.away === true) {
      if (!this.#mayReturn) {
        return undefined;
      }
      this.#mayReturn = false;
      const response = await this.#client.reclaimSeat(view.name, this.#credential, this.#options);
      return response.view ?? this.#look(view);
    }
    if (!hasChoice(view)) {
      return undefined;
    }
    const action = await unlessAborted(this.#choose(view), this.#options.signal);
    const response = await this.#client.submitAction(view.name, this.#credential, action, view.version, this.#options);
    this.#mayReturn = true;
    return response.view ?? this.#look(view);
  }

  #look(view: View): Promise<View> {
    return this.#client.getView(view.name, this.#credential, this.#options);
  }
}
