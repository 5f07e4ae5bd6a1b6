/** The client: one method for each of the service's, with retries, deadlines and errors. */

import { Code, ConnectError, type Transport, createClient as createStub } from "@connectrpc/connect";

import { type Call, Calls, linked, pause } from "./calls.js";
import { Cursor, STREAM_MS, type Update } from "./cursor.js";
import { CREDENTIAL_REVOKED, GAME_NOT_FOUND, MoonvaleError } from "./errors.js";
import type { LogEntry } from "./gen/moonvale/v1/event_pb.js";
import {
  type ClaimSeatResponse,
  type CreateGameResponse,
  GameService,
  type GameSummary,
  type GetCatalogResponse,
  type GetServerInfoResponse,
  type ReclaimSeatResponse,
  type RematchResponse,
  type ResignResponse,
  type SubmitActionResponse,
} from "./gen/moonvale/v1/game_service_pb.js";
import type { Replay } from "./gen/moonvale/v1/replay_pb.js";
import type { View } from "./gen/moonvale/v1/view_pb.js";
import {
  type ActionInit,
  type CallOptions,
  type ClaimSeatOptions,
  type CreateGameOptions,
  type LeaveSeatOptions,
  type ListOptions,
  type RematchOptions,
  type RequestOptions,
  type RotateCredentialOptions,
  type WatchOptions,
  bearer,
  claimSeatRequest,
  createGameRequest,
  newRequestId,
} from "./requests.js";
import { Attempts, DEFAULT_RETRY, type RetryPolicy, StreamBrokenError, carriedOutBefore } from "./retry.js";
import { type Seat, type Turn, WatchedSeats } from "./turns.js";

/** How one attempt is made, in the words of the stub. */
interface Attempt {
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A connection to the service. Every method throws MoonvaleError, or its signal's reason. */
export class Client {
  readonly #stub;
  readonly #retry: RetryPolicy;
  readonly #disconnect: () => void;
  readonly #calls = new Calls();

  /** `disconnect` closes what the transport holds open; `close` calls it. */
  constructor(transport: Transport, retry: Partial<RetryPolicy> = {}, disconnect: () => void = () => {}) {
    this.#stub = createStub(GameService, transport);
    this.#retry = { ...DEFAULT_RETRY, ...retry };
    this.#disconnect = disconnect;
  }

  /** Close the connection; calls and watches that are under way end with a MoonvaleError. */
  close(): void {
    this.#calls.close();
    this.#disconnect();
  }

  /** Create a game: the defaults are four rounds of Silver Coin for four. */
  async createGame(game: CreateGameOptions = {}): Promise<CreateGameResponse> {
    const request = createGameRequest(game);
    return this.#call((attempt) => this.#stub.createGame(request, attempt), game.creatorKey ?? "", game);
  }

  /** Sit down at an open seat. */
  async claimSeat(claim: ClaimSeatOptions): Promise<ClaimSeatResponse> {
    const request = claimSeatRequest(claim);
    return this.#call((attempt) => this.#stub.claimSeat(request, attempt), "", claim);
  }

  /** Free a seat before the game begins. */
  async leaveSeat(game: string, credential: string, options: LeaveSeatOptions = {}): Promise<void> {
    const request = { name: game, ...(options.seat === undefined ? {} : { seat: options.seat }) };
    try {
      await this.#call((attempt) => this.#stub.leaveSeat(request, attempt), credential, options);
    } catch (error) {
      if (!carriedOutBefore(error, CREDENTIAL_REVOKED)) {
        throw error;
      }
    }
  }

  /** Open what the credential's seat has committed to, once every seat is taken; returns its view. */
  async revealEntropy(
    game: string,
    credential: string,
    entropy: Uint8Array<ArrayBuffer>,
    options: CallOptions = {},
  ): Promise<View> {
    const request = { name: game, entropy };
    const response = await this.#call((attempt) => this.#stub.revealEntropy(request, attempt), credential, options);
    return present(response.view, "view");
  }

  /** Take the credential's seat back from the agent that plays it since its time was out. */
  async reclaimSeat(game: string, credential: string, options: CallOptions = {}): Promise<ReclaimSeatResponse> {
    return this.#call((attempt) => this.#stub.reclaimSeat({ name: game }, attempt), credential, options);
  }

  /** Sit down for another game of the same seats, once this one is over. All who ask come to the same one. */
  async rematch(game: string, credential: string, options: RematchOptions = {}): Promise<RematchResponse> {
    const request = {
      name: game,
      ...(options.number === undefined ? {} : { number: options.number }),
      ...(options.entropyCommitment && { entropyCommitment: options.entropyCommitment }),
    };
    return this.#call((attempt) => this.#stub.rematch(request, attempt), credential, options);
  }

  /** The game as the credential's holder sees it. */
  async getView(game: string, credential: string, options: CallOptions = {}): Promise<View> {
    const response = await this.#call((attempt) => this.#stub.getView({ name: game }, attempt), credential, options);
    return present(response.view, "view");
  }

  /** Answer the open decision of the view that has this version, with one of its legal actions. */
  async submitAction(
    game: string,
    credential: string,
    actions: ActionInit | readonly ActionInit[],
    version: View["version"],
    options: RequestOptions = {},
  ): Promise<SubmitActionResponse> {
    const request = {
      name: game,
      actions: isList(actions) ? [...actions] : [actions],
      ...(version === undefined ? {} : { version }),
      requestId: options.requestId || newRequestId(),
    };
    return this.#call((attempt) => this.#stub.submitAction(request, attempt), credential, options);
  }

  /**
   * Yield the view, then every entry of the log once and in order, until the game is over.
   *
   * While the game waits for players, the view comes anew at each change, and the entries begin with that of version 0.
   * Streams that break are resumed. If the game began meanwhile, one more view says how far it is, and the entries go on
   * from there; `listEvents` has those before it. Without `afterVersion` the entries of a game that has begun follow the
   * view. A view is always the whole game as it is by then.
   * Throws HISTORY_REWOUND if the game no longer has what has been passed on: read the view and watch from there.
   */
  async *watch(
    game: string,
    credential: string,
    { afterVersion, afterMark = "", signal }: WatchOptions = {},
  ): AsyncGenerator<Update, void, undefined> {
    const cursor = new Cursor(game, afterVersion, afterMark);
    yield* this.#follow(
      (attempt) => this.#stub.watchGame(cursor.request(), attempt),
      (response, attempts) => {
        attempts.renew(response.content.case !== "view");
        return cursor.take(response);
      },
      () => cursor.finished,
      credential,
      signal,
      this.#retry.attemptTimeoutMs, // the view comes at once
    );
  }

  /**
   * Yield who of many seats is to act, and whose game is over, until there is nothing more to tell of any.
   *
   * GetServerInfo says how many there may be. Streams that break are opened anew, and tell again who is to act: of several
   * turns of a seat only the newest counts. A seat that can't be watched any more is told as an error of its own.
   */
  async *watchTurns(seats: readonly Seat[], { signal }: CallOptions = {}): AsyncGenerator<Turn, void, undefined> {
    const watched = new WatchedSeats(seats);
    yield* this.#follow(
      (attempt) => this.#stub.watchTurns(watched.request(), attempt),
      (response, attempts) => {
        const turn = watched.take(response);
        attempts.renew(watched.settled);
        return turn;
      },
      () => watched.finished,
      "",
      signal,
      this.#retry.silenceMs,
    );
  }

  /** Yield the entries of the log so far, read page by page. */
  async *listEvents(
    game: string,
    credential: string,
    options: ListOptions = {},
  ): AsyncGenerator<LogEntry, void, undefined> {
    const request = { parent: game, pageSize: options.pageSize ?? 0, pageToken: "" };
    do {
      const page = await this.#call((attempt) => this.#stub.listEvents(request, attempt), credential, options);
      yield* page.entries;
      request.pageToken = page.nextPageToken;
    } while (request.pageToken);
  }

  /** A whole game that is over, opened. */
  async getReplay(game: string, credential: string, options: CallOptions = {}): Promise<Replay> {
    const response = await this.#call((attempt) => this.#stub.getReplay({ name: game }, attempt), credential, options);
    return present(response.replay, "replay");
  }

  /** Give up for the credential's seat. */
  async resign(game: string, credential: string, options: CallOptions = {}): Promise<ResignResponse> {
    return this.#call((attempt) => this.#stub.resign({ name: game }, attempt), credential, options);
  }

  /** Delete a game, by the creator's credential. */
  async deleteGame(game: string, credential: string, options: CallOptions = {}): Promise<void> {
    try {
      await this.#call((attempt) => this.#stub.deleteGame({ name: game }, attempt), credential, options);
    } catch (error) {
      if (!carriedOutBefore(error, GAME_NOT_FOUND)) {
        throw error;
      }
    }
  }

  /**
   * Replace the credential of a seat, or of the spectators; returns the new one. The one before is good no more.
   * By the creator's credential, or that of the seat whose own is replaced.
   */
  async rotateCredential(game: string, credential: string, options: RotateCredentialOptions = {}): Promise<string> {
    const request = {
      name: game,
      ...(options.seat === undefined ? {} : { seat: options.seat }),
      requestId: options.requestId || newRequestId(),
    };
    const response = await this.#call((attempt) => this.#stub.rotateCredential(request, attempt), credential, options);
    return response.credential;
  }

  /** Yield all games of the service, read page by page, by the operator key. */
  async *listGames(operatorKey: string, options: ListOptions = {}): AsyncGenerator<GameSummary, void, undefined> {
    const request = { pageSize: options.pageSize ?? 0, pageToken: "" };
    do {
      const page = await this.#call((attempt) => this.#stub.listGames(request, attempt), operatorKey, options);
      yield* page.games;
      request.pageToken = page.nextPageToken;
    } while (request.pageToken);
  }

  /** All card types and tokens. */
  async getCatalog(options: CallOptions = {}): Promise<GetCatalogResponse> {
    return this.#call((attempt) => this.#stub.getCatalog({}, attempt), "", options);
  }

  /** The versions and limits of the server. */
  async getServerInfo(options: CallOptions = {}): Promise<GetServerInfoResponse> {
    return this.#call((attempt) => this.#stub.getServerInfo({}, attempt), "", options);
  }

  async #call<Response>(
    make: (attempt: Attempt) => Promise<Response>,
    credential: string,
    options: CallOptions,
  ): Promise<Response> {
    const attempts = new Attempts(this.#retry);
    const call = this.#calls.begin(options.signal);
    try {
      for (;;) {
        try {
          return await make({ headers: bearer(credential), signal: call.signal, timeoutMs: attempts.deadline() });
        } catch (failure) {
          await recover(failure, attempts, call);
        }
      }
    } finally {
      call.end();
    }
  }

  /** What `take` makes of the messages of one stream after the other, until it has `finished`. */
  async *#follow<Response, News>(
    open: (attempt: Attempt) => AsyncIterable<Response>,
    take: (response: Response, attempts: Attempts) => News | undefined,
    finished: () => boolean,
    credential: string,
    signal: AbortSignal | undefined,
    firstMs: number,
  ): AsyncGenerator<News, void, undefined> {
    const attempts = new Attempts(this.#retry);
    const call = this.#calls.begin(signal);
    try {
      while (!finished()) {
        try {
          for await (const response of this.#stream(open, credential, call, firstMs)) {
            const news = take(response, attempts);
            if (news !== undefined) {
              yield news;
            }
          }
          if (!finished()) {
            throw new StreamBrokenError("the stream ended before all was told");
          }
        } catch (failure) {
          await recover(failure, attempts, call);
        }
      }
    } finally {
      call.end();
    }
  }

  /** The messages of one stream, which is given up when its first message or a later one is too long in coming. */
  async *#stream<Response>(
    open: (attempt: Attempt) => AsyncIterable<Response>,
    credential: string,
    call: Call,
    firstMs: number,
  ): AsyncGenerator<Response, void, undefined> {
    const stream = linked(call.signal);
    const within = (ms: number) => setTimeout(() => stream.end(`nothing came for ${ms} ms`), ms);
    let timer = within(firstMs);
    try {
      for await (const response of open({ headers: bearer(credential), signal: stream.signal, timeoutMs: STREAM_MS })) {
        clearTimeout(timer);
        yield response;
        timer = within(this.#retry.silenceMs);
      }
    } finally {
      clearTimeout(timer);
      stream.end();
    }
  }
}

/** Waits until the next attempt; throws if there should be none. */
async function recover(failure: unknown, attempts: Attempts, call: Call): Promise<void> {
  call.signal.throwIfAborted();
  if (failure instanceof ConnectError || failure instanceof StreamBrokenError || failure instanceof MoonvaleError) {
    await pause(attempts.pause(failure), call.signal);
  } else {
    throw failure;
  }
}

/** What every answer of the service has. */
function present<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) {
    throw new MoonvaleError({ code: Code.Internal, message: `the answer has no ${what}`, isTransient: false });
  }
  return value;
}

function isList(actions: ActionInit | readonly ActionInit[]): actions is readonly ActionInit[] {
  return Array.isArray(actions);
}
