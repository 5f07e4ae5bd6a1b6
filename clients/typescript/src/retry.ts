/** Retries: how often, how long and with what pauses a call is made again. It neither waits nor calls: the client does. */

import { Code, type ConnectError } from "@connectrpc/connect";

import { MoonvaleError, fromConnectError } from "./errors.js";

/** Durations in milliseconds. */
export interface RetryPolicy {
  /** After which a call gives up, all attempts and pauses included; a watch, when it could not be resumed for so long. */
  readonly timeoutMs: number;
  /** The deadline of one attempt; of a watch, that of its first message. */
  readonly attemptTimeoutMs: number;
  /** The pause after the first attempt that failed; further ones double, with jitter. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** After how long a silence a stream is given up and resumed: longer than the service's heartbeats are apart (15 s). */
  readonly silenceMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  timeoutMs: 30_000,
  attemptTimeoutMs: 10_000,
  firstPauseMs: 100,
  longestPauseMs: 3_000,
  silenceMs: 45_000,
};

/** A stream ended before it told its end, or left something out. */
export class StreamBrokenError extends Error {
  override readonly name = "StreamBrokenError";
}

type Failure = ConnectError | StreamBrokenError | MoonvaleError;

/** The attempts at one call: the deadline of each, and the pause after one that failed. */
export class Attempts {
  readonly #policy: RetryPolicy;
  readonly #clock: () => number;
  readonly #jitter: () => number;
  #count = 0;
  #pause: number;
  #deadline: number;
  #renewed = false;
  /** The last failure that says more than that time was up. */
  #telling: Failure | undefined;

  constructor(
    policy: RetryPolicy,
    clock: () => number = () => performance.now(),
    jitter: () => number = () => Math.random(),
  ) {
    this.#policy = policy;
    this.#clock = clock;
    this.#jitter = jitter;
    this.#pause = policy.firstPauseMs;
    this.#deadline = clock() + policy.timeoutMs;
  }

  /** The whole milliseconds that the next attempt may take: at least one, since none would mean no deadline. */
  deadline(): number {
    return Math.max(1, Math.floor(Math.min(this.#policy.attemptTimeoutMs, this.#deadline - this.#clock())));
  }

  /**
   * The milliseconds to wait before the next attempt.
   * Throws the MoonvaleError of the failure if another attempt would not help, or the time is up.
   */
  pause(failure: Failure): number {
    this.#count += 1;
    if (this.#renewed) {
      this.#renewed = false;
      this.#deadline = this.#clock() + this.#policy.timeoutMs;
    }
    const error = this.#error(failure);
    const timedOut = error.code === Code.DeadlineExceeded && !error.reason;
    if (!timedOut) {
      this.#telling = failure;
    }
    const pause = this.#pause * (0.5 + this.#jitter() / 2) + (error.retryDelayMs ?? 0);
    this.#pause = Math.min(2 * this.#pause, this.#policy.longestPauseMs);
    if (!error.isTransient || this.#clock() + pause >= this.#deadline) {
      throw timedOut && this.#telling !== undefined ? this.#error(this.#telling) : error;
    }
    return pause;
  }

  /** Something came: the time runs anew from the next failure, and if the stream has settled, pauses are short again. */
  renew(settled: boolean): void {
    this.#renewed = true;
    this.#telling = undefined;
    if (settled) {
      this.#count = 0;
      this.#pause = this.#policy.firstPauseMs;
    }
  }

  #error(failure: Failure): MoonvaleError {
    if (failure instanceof MoonvaleError) {
      return failure;
    }
    if (failure instanceof StreamBrokenError) {
      return new MoonvaleError({
        code: Code.Unavailable,
        message: failure.message,
        attempts: this.#count,
        isTransient: true,
        cause: failure,
      });
    }
    return fromConnectError(failure, this.#count);
  }
}

/** Whether a repeated call failed because an attempt before it, whose answer was lost, had done the thing. */
export function carriedOutBefore(error: unknown, reason: string): boolean {
  return error instanceof MoonvaleError && error.reason === reason && error.attempts > 1;
}
