/** A bot as a server (BotService): whoever runs a game asks it for the actions of a seat. Node.js alone. */

import { once } from "node:events";
import { type Http2Server, type ServerHttp2Session, createServer } from "node:http2";
import type { AddressInfo } from "node:net";

import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";

import { type Choose, hasChoice } from "./agent.js";
import { BotService } from "./gen/moonvale/v1/bot_service_pb.js";

/** Where a bot serves unless it is told otherwise. */
export const DEFAULT_BOT_ADDRESS = "127.0.0.1:7360";

export interface ServeBotOptions {
  /** HOST:PORT, or `unix:PATH`. Default: MOONVALE_BOT_ADDRESS, by which who starts a bot tells it, or DEFAULT_BOT_ADDRESS. */
  readonly address?: string;
}

/**
 * Serve a bot, over gRPC and Connect.
 *
 * `choose` gets the seat's view at each decision and returns one of `view.decision.legalActions`, as for `playSeat`. What
 * it throws is printed, and told to whoever asked as an error without detail. Throws if the address is not free.
 */
export async function serveBot(choose: Choose, { address }: ServeBotOptions = {}): Promise<BotServer> {
  const adapter = connectNodeAdapter({
    routes: (router) =>
      router.service(BotService, {
        async chooseAction({ view }) {
          if (view === undefined || !hasChoice(view)) {
            throw new ConnectError("view: needs a decision with legal actions", Code.InvalidArgument);
          }
          try {
            return { action: await choose(view) };
          } catch (error) {
            console.error(error);
            throw new ConnectError("the bot failed to choose", Code.Internal);
          }
        },
      }),
  });
  const server = createServer(adapter);
  const where = address ?? (process.env["MOONVALE_BOT_ADDRESS"] || DEFAULT_BOT_ADDRESS);
  const [, host, port] = /^(.*):(\d+)$/.exec(where) ?? [];
  if (where.startsWith("unix:")) {
    server.listen(where.slice("unix:".length));
  } else {
    server.listen(Number(port ?? 0), (host ?? where).replace(/^\[|\]$/g, ""));
  }
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  await once(server, "listening"); // which throws what keeps it from listening
  return new BotServer(server, sessions);
}

/** A bot that is served. */
export class BotServer {
  readonly #server: Http2Server;
  readonly #sessions: ReadonlySet<ServerHttp2Session>;

  constructor(server: Http2Server, sessions: ReadonlySet<ServerHttp2Session>) {
    this.#server = server;
    this.#sessions = sessions;
  }

  /** Where it serves: HOST:PORT, or `unix:PATH`. */
  get address(): string {
    const bound = this.#server.address() as AddressInfo | string;
    if (typeof bound === "string") {
      return `unix:${bound}`;
    }
    return `${bound.family === "IPv6" ? `[${bound.address}]` : bound.address}:${bound.port}`;
  }

  /** Stop serving, giving up what is being answered. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const session of this.#sessions) {
      session.destroy();
    }
    await closed;
  }
}
