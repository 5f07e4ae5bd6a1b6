/** A bot that is asked for its choices (BotService), as the arena does: it keeps low cards, and calls when it has few points. */

import { type Action, type SeatView, type ViewToAct, serveBot } from "moonvale/node";

/** What a card counts that the seat doesn't know. */
const UNKNOWN = 6;
/** It calls when it expects its village to count this much at most. */
const FEW = 7;

function valueAt(seat: SeatView, spot: number): number {
  return seat.village[spot]?.face?.value ?? UNKNOWN;
}

/** How much the village counts less if the card at a spot is exchanged for one of this value. */
function gain(action: Action, seat: SeatView, value: number): number {
  return action.verb.case === "name" ? valueAt(seat, action.verb.value.spot ?? 0) - value : 0;
}

function choose(view: ViewToAct): Action {
  const actions = view.decision.legalActions;
  const mine = view.seats[view.viewerSeat!]!;
  const find = (verb: Action["verb"]["case"]) => actions.find((action) => action.verb.case === verb);

  const call = find("call");
  if (call !== undefined && mine.village.reduce((sum, _, spot) => sum + valueAt(mine, spot), 0) <= FEW) {
    return call;
  }
  const draw = find("draw");
  if (draw !== undefined) {
    const worst = Math.max(...mine.village.map((_, spot) => valueAt(mine, spot)));
    const top = view.pile[0]?.face?.value ?? UNKNOWN;
    return (top <= 3 && worst - top >= 3 ? actions.find(({ verb }) => verb.case === "take") : undefined) ?? draw;
  }
  const hand = view.hand?.face?.value;
  if (hand !== undefined && find("close") === undefined) {
    // One card is exchanged; a set of equal ones would be better still.
    const [best] = [...actions].sort((a, b) => gain(b, mine, hand) - gain(a, mine, hand));
    if (best !== undefined && gain(best, mine, hand) > 0) {
      return best;
    }
  }
  return actions[0]!; // whatever ends, stops or declines stands first
}

const server = await serveBot(choose);
console.log(`A bot serves at ${server.address}`);
