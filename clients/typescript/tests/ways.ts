/** Ways to a real service, whose addresses the environment names. */

import { type Client, createClient } from "moonvale";
import * as node from "moonvale/node";

import { QUICK } from "./fake.js";

/** HOST:PORT of the gRPC port, and the URL of the HTTP port. */
const { MOONVALE_ADDRESS, MOONVALE_URL } = process.env;

export interface Way {
  readonly name: string;
  readonly target: string;
  readonly open: (target: string) => Client;
}

export const ways: Way[] = [];
if (MOONVALE_ADDRESS) {
  const open = (address: string) => node.createClient({ address, retry: QUICK });
  ways.push({ name: "gRPC", target: MOONVALE_ADDRESS, open });
}
if (MOONVALE_URL) {
  for (const protocol of ["connect", "grpc-web"] as const) {
    for (const [words, create] of [["Node's own HTTP", node.createClient] as const, ["fetch", createClient] as const]) {
      const open = (host: string) => create({ baseUrl: `http://${host}`, protocol, retry: QUICK });
      ways.push({ name: `${protocol} over ${words}`, target: new URL(MOONVALE_URL).host, open });
    }
  }
}
