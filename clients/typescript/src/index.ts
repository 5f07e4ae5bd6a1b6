/** Clients for browsers, and for whatever else has fetch: Connect or gRPC-Web over HTTP. */

import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";

import { Client } from "./client.js";
import type { RetryPolicy } from "./retry.js";

export * from "./exports.js";

/** Where the service is and how it is spoken to. */
export type ClientOptions = { readonly retry?: Partial<RetryPolicy> } & (
  | {
      /** The service's HTTP port, such as `https://games.example`. */
      readonly baseUrl: string;
      /** Default: `connect`. */
      readonly protocol?: "connect" | "grpc-web";
    }
  | {
      /** A transport of the caller's own. */
      readonly transport: Transport;
    }
);

/** A client that uses fetch; `moonvale/node` has one that speaks gRPC itself. */
export function createClient(options: ClientOptions): Client {
  return new Client("transport" in options ? options.transport : overFetch(options), options.retry);
}

function overFetch({ baseUrl, protocol }: { baseUrl: string; protocol?: "connect" | "grpc-web" }): Transport {
  // Binary, so that kinds which a newer service adds are stepped over as the contract says.
  const options = { baseUrl, useBinaryFormat: true };
  return protocol === "grpc-web" ? createGrpcWebTransport(options) : createConnectTransport(options);
}
