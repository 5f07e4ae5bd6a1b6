/** TLS: with a certificate that the caller trusts, and not with another. Key and certificate in tls/ are for this alone. */

import { readFileSync } from "node:fs";
import { type Http2SecureServer, createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";

import { connectNodeAdapter } from "@connectrpc/connect-node";
import { type Client, type RetryPolicy, createClient } from "moonvale/node";
import { afterAll, beforeAll, expect, test } from "vitest";

import { FakeService, GAME, QUICK, SPECTATOR } from "./fake.js";

const [key, cert] = ["key", "cert"].map((name) => readFileSync(new URL(`tls/${name}.pem`, import.meta.url)));
const fake = new FakeService(3);
let server: Http2SecureServer;
let address: string;

beforeAll(async () => {
  const routes = connectNodeAdapter({ routes: (router) => fake.serve(router) });
  server = createSecureServer({ key, cert, allowHTTP1: true }, routes);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => void server.close());

/** Each way to open a client, with a certificate to trust or, for a shorter time, without. */
const ways: [string, (tls?: { ca: Buffer }) => Client][] = [
  ["gRPC", (tls) => createClient({ address, tls: tls ?? true, retry: retry(tls) })],
  ...(["connect", "grpc-web"] as const).map((protocol): [string, (tls?: { ca: Buffer }) => Client] => [
    protocol,
    (tls) => createClient({ baseUrl: `https://${address}`, protocol, ...(tls && { tls }), retry: retry(tls) }),
  ]),
];

function retry(tls?: { ca: Buffer }): Partial<RetryPolicy> {
  return tls ? QUICK : { ...QUICK, timeoutMs: 2000 };
}

test.each(ways)("%s reaches a service whose certificate it was given", async (_, open) => {
  const client = open({ ca: cert! });
  expect((await client.getServerInfo()).version).toBe("fake");
  const watch = client.watch(GAME, SPECTATOR);
  expect((await watch.next()).value).toMatchObject({ case: "view" });
  await watch.return();
  client.close();
});

test.each(ways)("%s does not speak to a service whose certificate nobody vouches for", async (_, open) => {
  const client = open();
  await expect(client.getServerInfo()).rejects.toThrow("self-signed certificate");
  client.close();
});
