/** Errors: every failed call throws a `MoonvaleError`, which says what the service said. */

import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectError } from "@connectrpc/connect";

import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";

const DOMAIN = "moonvale.v1";

// Reasons that the client itself acts on; all are listed in the contract's ErrorReason.
export const CREDENTIAL_REVOKED = "CREDENTIAL_REVOKED";
export const GAME_BEGUN = "GAME_BEGUN";
export const GAME_NOT_BEGUN = "GAME_NOT_BEGUN";
export const GAME_NOT_FOUND = "GAME_NOT_FOUND";
export const GAME_OVER = "GAME_OVER";
export const HISTORY_REWOUND = "HISTORY_REWOUND";
export const NOT_YOUR_TURN = "NOT_YOUR_TURN";
export const STALE_VERSION = "STALE_VERSION";
export const TIME_OUT = "TIME_OUT";

/** Codes of a call that may succeed when it is made again. */
const TRANSIENT: ReadonlySet<Code> = new Set([Code.Unavailable, Code.DeadlineExceeded]);
/** Codes that, without a reason of the service's, come from a connection or a server that ended amid the call. */
const CUT_SHORT: ReadonlySet<Code> = new Set([Code.Aborted, Code.Canceled, Code.Internal, Code.Unknown]);

/** A wrong field of a request: its path, such as `options.players`, and what would be right. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** What a `MoonvaleError` is made of; what is left out is empty. */
export interface MoonvaleErrorInit {
  readonly code: Code;
  readonly message: string;
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly fieldViolations?: readonly FieldViolation[];
  readonly attempts?: number;
  readonly retryDelayMs?: number | undefined;
  readonly isTransient: boolean;
  readonly cause?: unknown;
}

/** A call failed. */
export class MoonvaleError extends Error {
  override readonly name = "MoonvaleError";
  /** The gRPC status. */
  readonly code: Code;
  /** The name in the contract's ErrorReason, such as `STALE_VERSION`; empty if the service was not reached. */
  readonly reason: string;
  /** What belongs to the reason. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The wrong fields of an INVALID_FIELD. */
  readonly fieldViolations: readonly FieldViolation[];
  /** How often the call was made. */
  readonly attempts: number;
  /** The milliseconds after which the same call is worth repeating, if the service has said so. */
  readonly retryDelayMs: number | undefined;
  /** Whether the same call may succeed when it is made again. */
  readonly isTransient: boolean;

  constructor(init: MoonvaleErrorInit) {
    super(`${init.reason || Code[init.code]}: ${init.message}`, init.cause === undefined ? {} : { cause: init.cause });
    this.code = init.code;
    this.reason = init.reason ?? "";
    this.metadata = init.metadata ?? {};
    this.fieldViolations = init.fieldViolations ?? [];
    this.attempts = init.attempts ?? 1;
    this.retryDelayMs = init.retryDelayMs;
    this.isTransient = init.isTransient;
  }
}

/** Whether a call that failed so may succeed when it is made again. */
export function isTransient(code: Code, reason: string, hasRetryDelay: boolean): boolean {
  return TRANSIENT.has(code) || hasRetryDelay || (!reason && CUT_SHORT.has(code));
}

/** The error of a failed call, over any transport. */
export function fromConnectError(failure: ConnectError, attempts: number): MoonvaleError {
  const info = failure.findDetails(ErrorInfoSchema).find((detail) => detail.domain === DOMAIN);
  const retryDelay = failure.findDetails(RetryInfoSchema)[0]?.retryDelay;
  return new MoonvaleError({
    code: failure.code,
    message: failure.rawMessage,
    reason: info?.reason ?? "",
    metadata: info?.metadata ?? {},
    fieldViolations: failure
      .findDetails(BadRequestSchema)
      .flatMap((detail) => detail.fieldViolations)
      .map(({ field, description }) => ({ field, description })),
    attempts,
    retryDelayMs: retryDelay === undefined ? undefined : durationMs(retryDelay),
    isTransient: isTransient(failure.code, info?.reason ?? "", retryDelay !== undefined),
    cause: failure,
  });
}
