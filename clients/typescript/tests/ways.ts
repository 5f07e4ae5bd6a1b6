/** Ways to a real service, whose addresses the environment names. */

import type { Transport } from "@connectrpc/connect";
import * as overNode from "@connectrpc/connect-node";
import * as overFetch from "@connectrpc/connect-web";
import { type Client, createClient } from "moonvale";
import * as node from "moonvale/node";

import { QUICK } from "./fake.js";

/** HOST:PORT of the gRPC port, and the URL of the HTTP port. */
const { MOONVALE_ADDRESS, MOONVALE_URL } = process.env;

export interface Way {
  readonly name: string;
  readonly target: string;
  /** A client of the package. */
  readonly open: (target: string) => Client;
  /** What such a client stands on. */
  readonly transport: (target: string) => Transport;
}

export const ways: Way[] = [];
if (MOONVALE_ADDRESS) {
  ways.push({
    name: "gRPC",
    target: MOONVALE_ADDRESS,
    open: (address) => node.createClient({ address, retry: QUICK }),
    transport: (address) => overNode.createGrpcTransport({ baseUrl: `http://${address}` }),
  });
}
if (MOONVALE_URL) {
  const target = new URL(MOONVALE_URL).host;
  for (const protocol of ["connect", "grpc-web"] as const) {
    const create = protocol === "connect" ? "createConnectTransport" : "createGrpcWebTransport";
    ways.push({
      name: `${protocol} over Node's own HTTP`,
      target,
      open: (host) => node.createClient({ baseUrl: `http://${host}`, protocol, retry: QUICK }),
      transport: (host) => overNode[create]({ baseUrl: `http://${host}`, httpVersion: "1.1" }),
    });
    ways.push({
      name: `${protocol} over fetch`,
      target,
      open: (host) => createClient({ baseUrl: `http://${host}`, protocol, retry: QUICK }),
      // The JSON of Connect, where the package's own clients speak binary.
      transport: (host) => overFetch[create]({ baseUrl: `http://${host}`, useBinaryFormat: protocol !== "connect" }),
    });
  }
}
