/** Turns of many seats: what has come of each so far, over any number of streams. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";

import { MoonvaleError, isTransient } from "./errors.js";
import { ErrorReason } from "./gen/moonvale/v1/errors_pb.js";
import type { SeatError, WatchTurnsRequestSchema, WatchTurnsResponse } from "./gen/moonvale/v1/game_service_pb.js";
import type { View } from "./gen/moonvale/v1/view_pb.js";

/** A seat: a game and the credential to it. */
export interface Seat {
  readonly game: string;
  readonly credential: string;
}

/** What a watch of turns yields: a seat is to act, its game is over, or it can't be watched any more. */
export type Turn = Seat & {
  /** The seat's place among those watched. */
  readonly index: number;
  /** How many streams there were before the one that told it: each new one tells again who is to act. */
  readonly stream: number;
} & (
    | {
        readonly case: "turn";
        /** The game as the seat sees it, with the legal actions. */
        readonly value: View;
      }
    | {
        readonly case: "over";
        /** The game as the seat sees it, with the result. */
        readonly value: View;
      }
    | { readonly case: "error"; readonly value: MoonvaleError }
  );

/** The seats of one watch of which there is more to tell. */
export class WatchedSeats {
  /** Whether the present stream has told anything that none before it had. */
  settled = false;
  readonly #seats: Map<number, Seat>;
  readonly #marks = new Map<number, string>();
  #listed: readonly number[] = [];
  #streams = 0;

  constructor(seats: readonly Seat[]) {
    this.#seats = new Map(seats.entries());
  }

  /** Whether all has been told. */
  get finished(): boolean {
    return this.#seats.size === 0;
  }

  /** The request of the next stream. */
  request(): MessageInitShape<typeof WatchTurnsRequestSchema> {
    this.settled = false;
    this.#streams += 1;
    this.#listed = [...this.#seats.keys()];
    return { seats: [...this.#seats.values()].map(({ game, credential }) => ({ name: game, credential })) };
  }

  /**
   * What a message of the stream brings, if anything.
   * Throws MoonvaleError if a seat can't be watched just now: the stream is to be opened anew.
   */
  take({ index: place = -1, content }: WatchTurnsResponse): Turn | undefined {
    const index = this.#listed[place];
    const seat = index === undefined ? undefined : this.#seats.get(index);
    if (index === undefined || seat === undefined || content.value === undefined) {
      this.settled ||= content.case === "heartbeat";
      return undefined;
    }
    const about = { ...seat, index, stream: this.#streams - 1 };
    switch (content.case) {
      case "turn":
        this.settled ||= this.#marks.get(index) !== content.value.mark;
        this.#marks.set(index, content.value.mark);
        return { ...about, case: "turn", value: content.value };
      case "over":
        this.#told(index);
        return { ...about, case: "over", value: content.value };
      case "error": {
        const error = errorOf(content.value);
        if (error.isTransient) {
          throw error;
        }
        this.#told(index);
        return { ...about, case: "error", value: error };
      }
      default:
        return undefined;
    }
  }

  #told(index: number): void {
    this.#seats.delete(index);
    this.settled = true;
  }
}

function errorOf({ code, reason, message, metadata, retryDelay }: SeatError): MoonvaleError {
  const known = code in Code ? (code as Code) : Code.Unknown;
  const name = ErrorReason[reason] ?? "";
  return new MoonvaleError({
    code: known,
    reason: name,
    message,
    metadata,
    retryDelayMs: retryDelay === undefined ? undefined : durationMs(retryDelay),
    isTransient: isTransient(known, name, retryDelay !== undefined),
  });
}
