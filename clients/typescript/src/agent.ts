/** The agent loop: plays one seat to the end of its game by asking a function for each decision. */

import { unlessAborted } from "./calls.js";
import type { Client } from "./client.js";
import { GAME_OVER, HISTORY_REWOUND, MoonvaleError, NOT_YOUR_TURN, STALE_VERSION, TIME_OUT } from "./errors.js";
import type { Result } from "./gen/moonvale/v1/result_pb.js";
import type { Decision, View } from "./gen/moonvale/v1/view_pb.js";
import type { ActionInit, CallOptions } from "./requests.js";

/** A view whose viewer is to act: its decision has legal actions. */
export type ViewToAct = View & { decision: Decision };

/** Returns one of `view.decision.legalActions`, at once or as a promise. */
export type Choose = (view: ViewToAct) => ActionInit | Promise<ActionInit>;

/** The game has moved on since the view: by another client of the same seat, by a resignation, or as time was out. */
const MOVED_ON: ReadonlySet<string> = new Set([STALE_VERSION, NOT_YOUR_TURN, GAME_OVER]);

/**
 * Play the credential's seat until the game is over, and return how it ended.
 *
 * `choose` gets the seat's view at each decision of its own and returns one of `view.decision.legalActions`.
 * Throws what `choose` throws, MoonvaleError, such as ILLEGAL_ACTION for another choice, or the signal's reason.
 */
export async function playSeat(
  client: Client,
  game: string,
  credential: string,
  choose: Choose,
  options: CallOptions = {},
): Promise<Result> {
  for (;;) {
    try {
      return await play(client, game, credential, choose, options);
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
  choose: Choose,
  options: CallOptions,
): Promise<Result> {
  let view: View | undefined;
  for await (const update of client.watch(game, credential, options)) {
    if (update.case === "view") {
      view = update.value;
    } else if (view === undefined || isToAct(view, update.value)) {
      view = await client.getView(game, credential, options);
    }
    while (hasChoice(view)) {
      view = await answer(client, view, credential, choose, options);
    }
  }
  while (view?.result === undefined) {
    view = await client.getView(game, credential, options);
  }
  return view.result;
}

/** Whether an entry that is newer than the view puts its viewer to act. */
function isToAct(view: View, entry: { version?: bigint | undefined; seatToAct?: number | undefined }): boolean {
  return (entry.version ?? 0n) > (view.version ?? -1n) && entry.seatToAct === view.viewerSeat;
}

/** Whether the view's viewer is to act. */
export function hasChoice(view: View): view is ViewToAct {
  return (view.decision?.legalActions.length ?? 0) > 0;
}

/** Answers the view's decision and returns the view that follows. */
export async function answer(
  client: Client,
  view: ViewToAct,
  credential: string,
  choose: Choose,
  options: CallOptions,
): Promise<View> {
  const action = await unlessAborted(choose(view), options.signal);
  try {
    const response = await client.submitAction(view.name, credential, action, view.version, options);
    return response.view ?? (await client.getView(view.name, credential, options));
  } catch (error) {
    if (error instanceof MoonvaleError && error.reason === TIME_OUT) {
      return { ...view, decision: undefined } as View; // what comes of it is told as soon as it is done
    }
    if (!(error instanceof MoonvaleError && MOVED_ON.has(error.reason))) {
      throw error;
    }
    return client.getView(view.name, credential, options);
  }
}
