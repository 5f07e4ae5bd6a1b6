/** The cursor of a watch: what has come so far, so that nothing is passed on twice or left out when a stream breaks. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";

import { GAME_NOT_FOUND, MoonvaleError } from "./errors.js";
import type { LogEntry } from "./gen/moonvale/v1/event_pb.js";
import {
  type WatchEnd,
  WatchEndReason,
  type WatchGameRequestSchema,
  type WatchGameResponse,
} from "./gen/moonvale/v1/game_service_pb.js";
import type { View } from "./gen/moonvale/v1/view_pb.js";
import { StreamBrokenError } from "./retry.js";

/** What a watch yields: the view, anew at each change while the game waits for players, then every entry of the log. */
export type Update =
  { readonly case: "view"; readonly value: View } | { readonly case: "entry"; readonly value: LogEntry };

/** How long one stream lasts before it is renewed: watchers move to servers that came later. It costs one view. */
export const STREAM_MS = 600_000;

/** Before the entry of version 0. */
const WAITING = -1n;

/** Whether an entry came after the view was made. */
export function isNewer(entry: LogEntry, view: View): boolean {
  return view.version === undefined || (entry.version ?? 0n) > view.version;
}

/** One watch over any number of streams. */
export class Cursor {
  finished = false;
  readonly #game: string;
  /** Undefined until the game has begun. */
  #version: bigint | undefined;
  #mark: string;
  #viewed = false;

  constructor(game: string, afterVersion: bigint | undefined, afterMark: string) {
    this.#game = game;
    this.#version = afterVersion;
    this.#mark = afterMark;
  }

  /** The request of the next stream: it goes on after what has come. */
  request(): MessageInitShape<typeof WatchGameRequestSchema> {
    return {
      name: this.#game,
      ...(this.#version === undefined ? {} : { afterVersion: this.#version, afterMark: this.#mark }),
    };
  }

  /**
   * What a message of the stream brings that is new, if anything.
   * Throws StreamBrokenError if an entry was left out, and MoonvaleError if the game was deleted.
   */
  take({ content }: WatchGameResponse): Update | undefined {
    switch (content.case) {
      case "view":
        return this.#takeView(content.value);
      case "entry":
        return this.#takeEntry(content.value);
      case "heartbeat":
        if (content.value.version !== undefined) {
          this.#check(content.value.version);
        }
        return undefined;
      case "end":
        this.#takeEnd(content.value);
        return undefined;
      case undefined:
        return undefined;
    }
  }

  #takeView(view: View): Update | undefined {
    if (this.#version === undefined) {
      if (this.#viewed && view.mark === this.#mark) {
        return undefined;
      }
      this.#version = view.version;
      this.#mark = view.mark;
    } else if (this.#viewed) {
      return undefined;
    }
    this.#viewed = true;
    return { case: "view", value: view };
  }

  #takeEntry(entry: LogEntry): Update | undefined {
    const version = entry.version ?? 0n;
    if (this.#version !== undefined && version <= this.#version) {
      return undefined;
    }
    this.#check(version - 1n);
    this.#version = version;
    this.#mark = entry.mark;
    return { case: "entry", value: entry };
  }

  #takeEnd(end: WatchEnd): void {
    if (end.reason === WatchEndReason.GAME_DELETED) {
      throw new MoonvaleError({
        code: Code.NotFound,
        reason: GAME_NOT_FOUND,
        message: `${this.#game} was deleted`,
        isTransient: false,
      });
    }
    this.finished = end.reason === WatchEndReason.GAME_OVER;
  }

  /** Throws StreamBrokenError if the stream is past this version and its entry has not come. */
  #check(version: bigint): void {
    if (version > (this.#version ?? WAITING)) {
      throw new StreamBrokenError(`the stream left out what came before version ${version + 1n} of ${this.#game}`);
    }
  }
}
