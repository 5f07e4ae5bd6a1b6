/** What both entry points export: the client, and the messages of the contract. */

export { Code } from "@connectrpc/connect";

export { type Choose, type PlaySeatOptions, type ViewToAct, playSeat } from "./agent.js";
export { type PlaySeatsOptions, playSeats } from "./bot.js";
export { Client } from "./client.js";
export type { Update } from "./cursor.js";
export { entropyCommitment, newEntropy } from "./entropy.js";
export { type FieldViolation, MoonvaleError } from "./errors.js";
export * from "./gen/moonvale/v1/action_pb.js";
export * from "./gen/moonvale/v1/bot_service_pb.js";
export * from "./gen/moonvale/v1/card_pb.js";
export * from "./gen/moonvale/v1/catalog_pb.js";
export * from "./gen/moonvale/v1/clock_pb.js";
export * from "./gen/moonvale/v1/errors_pb.js";
export * from "./gen/moonvale/v1/event_pb.js";
export * from "./gen/moonvale/v1/game_service_pb.js";
export * from "./gen/moonvale/v1/options_pb.js";
export * from "./gen/moonvale/v1/replay_pb.js";
export * from "./gen/moonvale/v1/result_pb.js";
export * from "./gen/moonvale/v1/view_pb.js";
export type {
  ActionInit,
  CallOptions,
  ClaimSeatOptions,
  CreateGameOptions,
  LeaveSeatOptions,
  ListOptions,
  RematchOptions,
  RequestOptions,
  RotateCredentialOptions,
  SeatInit,
  WatchOptions,
} from "./requests.js";
export { DEFAULT_RETRY, type RetryPolicy } from "./retry.js";
export type { Seat, Turn } from "./turns.js";
