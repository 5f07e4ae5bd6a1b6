/** Clients for Node.js: gRPC on the service's own port; Connect and gRPC-Web on its HTTP port. */

import { Agent } from "node:http";
import type { SecureClientSessionOptions } from "node:http2";
import { Agent as SecureAgent } from "node:https";

import type { Transport } from "@connectrpc/connect";
import {
  Http2SessionManager,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";

import { Client } from "./client.js";
import type { RetryPolicy } from "./retry.js";

export * from "./exports.js";
export { type BotServer, DEFAULT_BOT_ADDRESS, type ServeBotOptions, serveBot } from "./serve.js";

/** Where `moonvale serve` listens unless told otherwise. */
export const DEFAULT_ADDRESS = "127.0.0.1:7350";

/** Certificates and the like, as Node's `tls.connect` takes them. */
export type TlsOptions = Pick<SecureClientSessionOptions, "ca" | "cert" | "key" | "servername" | "rejectUnauthorized">;

/** Where the service is and how it is spoken to. Without any of these: gRPC with DEFAULT_ADDRESS. */
export type ClientOptions = { readonly retry?: Partial<RetryPolicy> } & (
  | {
      /** HOST:PORT of the service's gRPC port. */
      readonly address?: string;
      /** TLS, with the system's authorities (`true`) or as it says. Left out: no TLS. */
      readonly tls?: boolean | TlsOptions;
    }
  | {
      /** The service's HTTP port, such as `https://games.example`. */
      readonly baseUrl: string;
      /** Default: `connect`. */
      readonly protocol?: "connect" | "grpc-web";
      /** For an https URL. */
      readonly tls?: TlsOptions;
    }
  | {
      /** A transport of the caller's own. */
      readonly transport: Transport;
    }
);

/** A dead peer is noticed within 40 s. The service's heartbeats come more often, so no server takes this for abuse. */
const KEEPALIVE = { pingIntervalMs: 30_000, pingTimeoutMs: 10_000 };

/** A client that uses Node's own HTTP: gRPC, unless a URL is given. */
export function createClient(options: ClientOptions = {}): Client {
  if ("transport" in options) {
    return new Client(options.transport, options.retry);
  }
  if ("baseUrl" in options) {
    const { baseUrl, protocol, tls = {} } = options;
    const secure = new URL(baseUrl).protocol === "https:";
    const agent = secure ? new SecureAgent({ ...tls, keepAlive: true }) : new Agent({ keepAlive: true });
    const create = protocol === "grpc-web" ? createGrpcWebTransport : createConnectTransport;
    const transport = create({ baseUrl, httpVersion: "1.1", useBinaryFormat: true, nodeOptions: { agent } });
    return new Client(transport, options.retry, () => agent.destroy());
  }
  const { address = DEFAULT_ADDRESS, tls = false } = options;
  const baseUrl = `${tls ? "https" : "http"}://${address}`;
  const sessionManager = new Http2SessionManager(baseUrl, KEEPALIVE, typeof tls === "object" ? tls : {});
  return new Client(createGrpcTransport({ baseUrl, sessionManager }), options.retry, () => sessionManager.abort());
}
