/** What the methods of the client take and send. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";

import type { ActionSchema } from "./gen/moonvale/v1/action_pb.js";
import type { ClockSchema } from "./gen/moonvale/v1/clock_pb.js";
import type {
  ClaimSeatRequestSchema,
  CreateGameRequestSchema,
  DealSchema,
  SeatSetupSchema,
} from "./gen/moonvale/v1/game_service_pb.js";
import type { OptionsSchema } from "./gen/moonvale/v1/options_pb.js";

/** An action of a view, or one written by hand: `{ verb: { case: "draw", value: {} } }`. */
export type ActionInit = MessageInitShape<typeof ActionSchema>;

/** What every method takes: a signal that gives the call up, which then throws the signal's reason. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What a game is created with; all of it is optional. */
export interface CreateGameOptions extends CallOptions {
  /** Default: four rounds of Silver Coin for four. */
  readonly options?: MessageInitShape<typeof OptionsSchema>;
  /** Names, or whole setups: one for each seat, or none. */
  readonly seats?: readonly (string | MessageInitShape<typeof SeatSetupSchema>)[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly externalId?: string;
  /** A supplied deal; it needs the creator key. */
  readonly deal?: MessageInitShape<typeof DealSchema>;
  readonly sealReplayUntil?: Date;
  /** How long the seats may think. Left out: as long as they like. */
  readonly clock?: MessageInitShape<typeof ClockSchema>;
  /** Whether who claims an open seat needs a code, which the response tells. */
  readonly withJoinCode?: boolean;
  readonly creatorKey?: string;
  /** A secret of the caller's, with which the call can be repeated later. Default: one of the call's own. */
  readonly requestId?: string;
}

/** Which seat is claimed, and by whom: of a `game`, of that of a `joinCode`, or both. */
export interface ClaimSeatOptions extends RequestOptions {
  readonly game?: string;
  readonly joinCode?: string;
  /** Left out: the first one that is open. */
  readonly seat?: number;
  /** A name, or a setup with labels and what the seat commits to. */
  readonly player?: string | MessageInitShape<typeof SeatSetupSchema>;
}

export interface LeaveSeatOptions extends CallOptions {
  /** Which seat the creator frees. Left out: the credential's own. */
  readonly seat?: number;
}

export interface RematchOptions extends CallOptions {
  /** Of the losers' choice: a number whose cards come from the other deck in the new game. */
  readonly number?: number;
  /** What the seat commits to adding to all shuffles. */
  readonly entropyCommitment?: Uint8Array<ArrayBuffer>;
}

/** From where a watch goes on. */
export interface WatchOptions extends CallOptions {
  /** The last version that the caller has the entry of. Left out: entries begin with the one that follows the view. */
  readonly afterVersion?: bigint | undefined;
  /** The mark that came with that version. */
  readonly afterMark?: string;
}

export interface RequestOptions extends CallOptions {
  /** The call's own, unless it is to be repeated later. */
  readonly requestId?: string;
}

export interface RotateCredentialOptions extends RequestOptions {
  /** The seat whose credential is replaced. Left out: the spectators'. */
  readonly seat?: number;
}

export interface ListOptions extends CallOptions {
  /** How many to read at once. Left out: as many as the service likes. */
  readonly pageSize?: number;
}

/** A request id: a random UUID, which makes a call that can be repeated without being carried out twice. */
export function newRequestId(): string {
  // Not crypto.randomUUID: browsers have that on https and localhost alone.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The headers that carry a credential; none for the empty one. */
export function bearer(credential: string): Record<string, string> {
  return credential ? { authorization: `Bearer ${credential}` } : {};
}

/** The request of an open seat; a player given as text is one with that name. */
export function claimSeatRequest(claim: ClaimSeatOptions): MessageInitShape<typeof ClaimSeatRequestSchema> {
  return {
    name: claim.game || "games/-",
    joinCode: claim.joinCode ?? "",
    ...(claim.seat === undefined ? {} : { seat: claim.seat }),
    ...(claim.player === undefined ? {} : { player: setup(claim.player) }),
    requestId: claim.requestId || newRequestId(),
  };
}

function setup(seat: string | MessageInitShape<typeof SeatSetupSchema>): MessageInitShape<typeof SeatSetupSchema> {
  return typeof seat === "string" ? { name: seat } : seat;
}

/** The request of a new game; a seat given as text is one with that name. */
export function createGameRequest(game: CreateGameOptions): MessageInitShape<typeof CreateGameRequestSchema> {
  return {
    ...(game.options && { options: game.options }),
    seats: (game.seats ?? []).map(setup),
    ...(game.clock && { clock: game.clock }),
    withJoinCode: game.withJoinCode ?? false,
    labels: { ...game.labels },
    externalId: game.externalId ?? "",
    requestId: game.requestId || newRequestId(),
    ...(game.deal && { deal: game.deal }),
    ...(game.sealReplayUntil && { sealReplayUntil: timestampFromDate(game.sealReplayUntil) }),
  };
}
