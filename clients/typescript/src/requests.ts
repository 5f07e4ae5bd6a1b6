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

/** A name, or a setup, which can make a seat open or a bot's, and says what it commits to. */
export type SeatInit = string | MessageInitShape<typeof SeatSetupSchema>;

/** What a game is created with; all of it is optional. */
export interface CreateGameOptions extends CallOptions {
  /** Default: four rounds of Silver Coin for four. */
  readonly options?: MessageInitShape<typeof OptionsSchema>;
  /** One for each seat, in order; or none, which reserves all of them. */
  readonly seats?: readonly SeatInit[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly externalId?: string;
  /** A supplied deal; it needs the creator key. */
  readonly deal?: MessageInitShape<typeof DealSchema>;
  readonly sealReplayUntil?: Date;
  /** How long the seats may think. Default: as long as they like. */
  readonly clock?: MessageInitShape<typeof ClockSchema>;
  /** Whether who claims an open seat needs a code, which the response tells. */
  readonly withJoinCode?: boolean;
  readonly creatorKey?: string;
  /** A secret of the caller's, with which the call can be repeated later. Default: one of the call's own. */
  readonly requestId?: string;
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

/** Which seat is claimed, and for whom: the join code alone finds its game. */
export interface ClaimSeatOptions extends RequestOptions {
  readonly game?: string;
  readonly joinCode?: string;
  /** Default: the first one that is open. */
  readonly seat?: number;
  readonly player?: SeatInit;
}

export interface LeaveSeatOptions extends CallOptions {
  /** By the creator's credential: the seat that is freed. Left out: the credential's own. */
  readonly seat?: number;
}

export interface RematchOptions extends CallOptions {
  /** The losers' choice: one whose cards come from the other deck in the new game. */
  readonly number?: number;
  /** What the seat commits to adding to all shuffles. */
  readonly entropyCommitment?: Uint8Array<ArrayBuffer>;
}

export interface RotateCredentialOptions extends RequestOptions {
  /** The seat whose credential is replaced. Left out: the spectators'. */
  readonly seat?: number;
}

export interface ListOptions extends CallOptions {
  /** How many to read at once. Left out: as many as the service likes. */
  readonly pageSize?: number;
}

/** In place of a game's name where the join code says which one is meant. */
const GAME_OF_CODE = "games/-";

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

/** The request of a new game; a seat given as text is one with that name. */
export function createGameRequest(game: CreateGameOptions): MessageInitShape<typeof CreateGameRequestSchema> {
  return {
    ...(game.options && { options: game.options }),
    seats: (game.seats ?? []).map(setup),
    labels: { ...game.labels },
    externalId: game.externalId ?? "",
    requestId: game.requestId || newRequestId(),
    ...(game.deal && { deal: game.deal }),
    ...(game.sealReplayUntil && { sealReplayUntil: timestampFromDate(game.sealReplayUntil) }),
    ...(game.clock && { clock: game.clock }),
    withJoinCode: game.withJoinCode ?? false,
  };
}

/** The request of an open seat. */
export function claimSeatRequest(claim: ClaimSeatOptions): MessageInitShape<typeof ClaimSeatRequestSchema> {
  return {
    name: claim.game || GAME_OF_CODE,
    joinCode: claim.joinCode ?? "",
    ...(claim.seat === undefined ? {} : { seat: claim.seat }),
    player: setup(claim.player ?? ""),
    requestId: claim.requestId || newRequestId(),
  };
}

/** A seat given as text is one with that name. */
function setup(seat: SeatInit): MessageInitShape<typeof SeatSetupSchema> {
  return typeof seat === "string" ? { name: seat } : seat;
}
