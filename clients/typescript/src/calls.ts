/** Calls that are under way: they end with their caller's signal or with the client. */

import { Code } from "@connectrpc/connect";

import { MoonvaleError } from "./errors.js";

/** One call, with the signal that ends it. */
export interface Call {
  readonly signal: AbortSignal;
  /** Ends it, if it is still under way, and lets go of the caller's signal. */
  end(reason?: unknown): void;
}

/** A call that ends when `signal` does. */
export function linked(signal: AbortSignal | undefined): Call {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) {
    abort();
  }
  signal?.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    end(reason) {
      signal?.removeEventListener("abort", abort);
      controller.abort(reason);
    },
  };
}

/** All calls of one client. */
export class Calls {
  readonly #open = new Set<Call>();
  #closed = false;

  /** Begins one. Throws MoonvaleError if the client is closed, and the signal's reason if that has been given. */
  begin(signal: AbortSignal | undefined): Call {
    if (this.#closed) {
      throw closed();
    }
    signal?.throwIfAborted();
    const { signal: own, end } = linked(signal);
    const call: Call = {
      signal: own,
      end: (reason) => {
        this.#open.delete(call);
        end(reason);
      },
    };
    this.#open.add(call);
    return call;
  }

  /** Ends all that are under way, and begins no more. */
  close(): void {
    this.#closed = true;
    for (const call of [...this.#open]) {
      call.end(closed());
    }
  }
}

/** Waits; rejects with the signal's reason if that comes first. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await unlessAborted(new Promise((resolve) => (timer = setTimeout(resolve, ms))), signal);
  } finally {
    clearTimeout(timer);
  }
}

/** What the promise resolves to; rejects with the signal's reason if that comes first. */
export async function unlessAborted<Value>(
  promise: Value | Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) {
    return promise;
  }
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function closed(): MoonvaleError {
  return new MoonvaleError({
    code: Code.Canceled,
    message: "the client is closed",
    isTransient: false,
  });
}
