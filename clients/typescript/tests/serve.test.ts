/** A bot as a server: asked over gRPC and over Connect, what it throws, and addresses. */

import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { BotService, type Choose, Code, ViewSchema, serveBot } from "moonvale/node";
import { afterEach, expect, test, vi } from "vitest";

const view = create(ViewSchema, {
  viewerSeat: 1,
  decision: { seat: 1, legalActions: [{ verb: { case: "draw", value: {} } }, { verb: { case: "call", value: {} } }] },
});
const second: Choose = (seen) => seen.decision.legalActions[1]!;

const overConnect: typeof createGrpcTransport = (options) => createConnectTransport({ ...options, httpVersion: "2" });

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

function ask(address: string, over = createGrpcTransport) {
  return createClient(BotService, over({ baseUrl: `http://${address}` }));
}

test.each([
  ["gRPC", createGrpcTransport],
  ["Connect", overConnect],
])("a bot answers over %s", async (_, over) => {
  const server = await serveBot(second, { address: "127.0.0.1:0" });
  try {
    const { action } = await ask(server.address, over).chooseAction({ view });
    expect(action?.verb.case).toBe("call");
  } finally {
    await server.close();
  }
});

test("what a bot throws is printed, and told without detail", async () => {
  const printed = vi.spyOn(console, "error").mockImplementation(() => {});
  const server = await serveBot(
    () => {
      throw new Error("the secret plan");
    },
    { address: "127.0.0.1:0" },
  );
  try {
    const failed = ask(server.address).chooseAction({ view });
    await expect(failed).rejects.toMatchObject({ code: Code.Internal, rawMessage: "the bot failed to choose" });
    expect(printed).toHaveBeenCalledOnce();
    await expect(ask(server.address).chooseAction({})).rejects.toMatchObject({ code: Code.InvalidArgument });
  } finally {
    await server.close();
  }
});

test("it serves where the environment says, at a socket too, and throws if it can't", async () => {
  const path = join(tmpdir(), `moonvale-${process.pid}.sock`);
  vi.stubEnv("MOONVALE_BOT_ADDRESS", `unix:${path}`);
  const server = await serveBot(second);
  expect(server.address).toBe(`unix:${path}`);
  await server.close();

  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  await expect(serveBot(second, { address: `127.0.0.1:${port}` })).rejects.toThrow("EADDRINUSE");
  taken.close();
});

test("closing gives up what is being answered", async () => {
  let asked = () => {};
  const beginning = new Promise<void>((resolve) => (asked = resolve));
  const server = await serveBot(
    () => {
      asked();
      return new Promise(() => {});
    },
    { address: "127.0.0.1:0" },
  );
  const answer = ask(server.address).chooseAction({ view });
  answer.catch(() => {});
  await beginning;
  await server.close();
  await expect(answer).rejects.toMatchObject({ code: expect.any(Number) });
});
