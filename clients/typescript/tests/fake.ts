/** A service of one game in memory, for faults that a real one shows only by luck: lost answers, broken streams. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  type HandlerContext,
  type ServiceImpl,
  type Transport,
  createRouterTransport,
} from "@connectrpc/connect";
import {
  Client,
  DecisionKind,
  GameService,
  type LogEntrySchema,
  Phase,
  type RetryPolicy,
  type SeatErrorSchema,
  type SubmitActionRequest,
  type SubmitActionResponseSchema,
  type ViewSchema,
  WatchEndReason,
  type WatchGameRequest,
  type WatchGameResponseSchema,
  type WatchTurnsRequest,
  type WatchTurnsResponseSchema,
} from "moonvale";

import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../src/gen/google/rpc/error_details_pb.js";

export const GAME = "games/fake";
export const SEATS = ["seat-0", "seat-1"] as const;
export const SPECTATOR = "spectator";
export const QUICK: Partial<RetryPolicy> = {
  timeoutMs: 20_000,
  attemptTimeoutMs: 5_000,
  firstPauseMs: 1,
  longestPauseMs: 2,
};

/** How long tests wait for what has to come, on however slow a machine. */
export const WAIT = { timeout: 30_000 };

type View = MessageInitShape<typeof ViewSchema>;
type Entry = MessageInitShape<typeof LogEntrySchema>;
type Message = MessageInitShape<typeof WatchGameResponseSchema>;
type TurnMessage = MessageInitShape<typeof WatchTurnsResponseSchema>;

/** Two seats act in turn, drawing, until the log has `length` entries. Tests set the faults before they call. */
export class FakeService {
  readonly requestIds: string[] = [];
  readonly watchedFrom: [bigint | undefined, string][] = [];
  readonly carriedOut = new Map<string, MessageInitShape<typeof SubmitActionResponseSchema>>();
  /** What calls fail with, one after the other, after they were carried out. */
  faults: Code[] = [];
  /** After how many messages streams break, one after the other; later ones last. */
  streamLengths: number[] = [];
  /** How many streams end at once after their view, each for one of these reasons; later ones last. */
  endings: WatchEndReason[] = [];
  /** How many streams say nothing at all. */
  silent = 0;
  /** How many entries each stream sends again that it was told not to. */
  repeatEntries = 0;
  /** The version whose entry the next stream leaves out. */
  leaveOut: number | undefined;
  rewound = false;
  deleted = false;
  /** How many calls are refused as too many, and for how long. */
  limited = 0;
  retryDelay = { seconds: 0n, nanos: 5_000_000 };
  maxWatchedSeats = 500;
  /** The seats of each stream of turns. */
  readonly watchedSeats: string[][] = [];
  /** What streams of turns tell of their first seat at once, one after the other. */
  seatErrors: MessageInitShape<typeof SeatErrorSchema>[] = [];
  /** How many streams are open. */
  open = 0;
  version = 0;
  /** Whether it waits for players or for entropy; `change` sets it. */
  phase = Phase.PLAYING;
  /** How often the game has changed while it waited. */
  changes = 0;
  /** What the seats have committed to. */
  commitments: Uint8Array<ArrayBuffer>[] = [];
  /** The service's own. */
  commitment = new Uint8Array(32);
  readonly revealed = new Map<number | undefined, Uint8Array>();
  /** The versions upon which the first answer comes too late, so that an agent takes over. */
  late: number[] = [];
  readonly away = new Set<number | undefined>();
  reclaimed = 0;
  left: (number | undefined)[] = [];
  #changed: (() => void)[] = [];

  constructor(readonly length = 12) {}

  get isOver(): boolean {
    return this.version === this.length;
  }

  /** The seat that is to act draws. */
  act(): void {
    this.version += 1;
    this.#wake();
  }

  /** Something changes in a game that waits. */
  change(phase: Phase): void {
    this.phase = phase;
    this.changes += 1;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#changed.splice(0)) {
      wake();
    }
  }

  /** A client of this service. */
  client(retry: Partial<RetryPolicy> = QUICK): Client {
    return new Client(this.transport(), retry);
  }

  transport(): Transport {
    return createRouterTransport((router) => this.serve(router));
  }

  /** Add its methods to a router. */
  serve(router: ConnectRouter): void {
    const methods: ServiceImpl<typeof GameService> = {
      createGame: ({ requestId }) => {
        this.requestIds.push(requestId);
        this.#fault();
        return { name: GAME, seatCredentials: [...SEATS], spectatorCredential: SPECTATOR };
      },
      claimSeat: ({ name, seat = 1, player, requestId }) => {
        this.requestIds.push(requestId);
        this.#fault();
        return { name: GAME, seat, credential: `${name} ${player?.name}` };
      },
      leaveSeat: ({ seat }) => {
        if (this.left.length > 0) {
          fail(Code.Unauthenticated, "CREDENTIAL_REVOKED");
        }
        this.left.push(seat);
        this.#fault();
        return {};
      },
      revealEntropy: ({ entropy }, context) => {
        const viewer = viewerOf(context);
        if (!this.revealed.has(viewer)) {
          this.revealed.set(viewer, entropy);
          this.change(this.revealed.size === this.commitments.length ? Phase.PLAYING : Phase.REVEALING);
        }
        this.#fault();
        return { view: this.view(viewer) };
      },
      reclaimSeat: (_, context) => {
        const viewer = viewerOf(context);
        this.reclaimed += this.away.delete(viewer) ? 1 : 0;
        this.#fault();
        return { view: this.view(viewer) };
      },
      rematch: ({ name, number, entropyCommitment }) => {
        this.#fault();
        return { name, seatCredential: `${number} ${entropyCommitment.length}` };
      },
      getView: (_, context) => {
        this.#fault();
        return { view: this.view(viewerOf(context)) };
      },
      submitAction: (request, context) => {
        this.requestIds.push(request.requestId);
        const response = this.carriedOut.get(request.requestId) ?? this.#carryOut(request, context);
        this.carriedOut.set(request.requestId, response);
        this.#fault();
        return response;
      },
      watchGame: (request, context) => this.#watch(request, context),
      watchTurns: (request, context) => this.#watchTurns(request, context),
      listEvents: ({ pageSize, pageToken }) => {
        const start = Number(pageToken || 0);
        const end = Math.min(start + (pageSize || this.length), this.version + 1);
        const entries = Array.from({ length: end - start }, (_, index) => this.entry(start + index));
        return { entries, nextPageToken: end <= this.version ? String(end) : "" };
      },
      getReplay: () => fail(Code.FailedPrecondition, "GAME_NOT_OVER"),
      resign: () => fail(Code.InvalidArgument, "INVALID_FIELD", {}, "name"),
      deleteGame: () => {
        if (this.deleted) {
          fail(Code.NotFound, "GAME_NOT_FOUND");
        }
        this.deleted = true;
        this.#fault();
        return {};
      },
      rotateCredential: ({ requestId, seat }) => {
        this.requestIds.push(requestId);
        this.#fault();
        return { credential: `new ${seat}` };
      },
      listGames: ({ pageToken }) => {
        const start = Number(pageToken || 0);
        const games = [0, 1, 2, 3, 4].slice(start, start + 2).map((number) => ({ name: `games/${number}` }));
        return { games, nextPageToken: start < 4 ? String(start + 2) : "" };
      },
      getCatalog: () => ({}),
      getServerInfo: () => {
        if (this.limited > 0) {
          this.limited -= 1;
          throw new ConnectError("slower", Code.ResourceExhausted, undefined, [
            { desc: ErrorInfoSchema, value: { domain: "moonvale.v1", reason: "RATE_LIMITED" } },
            { desc: RetryInfoSchema, value: { retryDelay: this.retryDelay } },
          ]);
        }
        this.#fault();
        return { version: "fake", limits: { maxWatchedSeats: this.maxWatchedSeats } };
      },
    };
    router.service(GameService, methods);
  }

  view(viewer: number | undefined): View {
    const seats = SEATS.map((_, seat) => ({
      seat,
      away: this.away.has(seat),
      entropyCommitment: this.commitments[seat] ?? new Uint8Array(),
    }));
    const view: View = { name: GAME, commitment: this.commitment, phase: this.isOver ? Phase.OVER : this.phase, seats };
    if (viewer !== undefined) {
      view.viewerSeat = viewer;
    }
    if (this.phase !== Phase.PLAYING) {
      return { ...view, mark: `change-${this.changes}` };
    }
    view.version = BigInt(this.version);
    view.mark = mark(this.version);
    if (this.isOver) {
      view.result = { places: [0, 1] };
    } else {
      const seat = this.version % 2;
      const legalActions = seat === viewer ? [{ verb: { case: "draw" as const, value: {} } }] : [];
      view.decision = { kind: DecisionKind.TURN, seat, legalActions };
    }
    return view;
  }

  entry(version: number): Entry {
    return {
      version: BigInt(version),
      mark: mark(version),
      ...(version < this.length ? { seatToAct: version % 2 } : {}),
    };
  }

  #carryOut(
    request: SubmitActionRequest,
    context: HandlerContext,
  ): MessageInitShape<typeof SubmitActionResponseSchema> {
    if (this.late.includes(this.version)) {
      this.late.splice(this.late.indexOf(this.version), 1);
      this.away.add(viewerOf(context));
      this.version += 2; // as in a game of two seats that act in turn: whoever was to act is to act again
      this.#wake();
      fail(Code.FailedPrecondition, "TIME_OUT");
    }
    if (request.version !== BigInt(this.version)) {
      fail(Code.Aborted, "STALE_VERSION", { version: String(this.version) });
    }
    if (request.actions[0]?.verb.case !== "draw") {
      fail(Code.FailedPrecondition, "ILLEGAL_ACTION");
    }
    this.act();
    return {
      version: BigInt(this.version),
      mark: mark(this.version),
      view: this.view(viewerOf(context)),
      entries: [this.entry(this.version)],
    };
  }

  async *#watch(request: WatchGameRequest, context: HandlerContext): AsyncGenerator<Message> {
    this.watchedFrom.push([request.afterVersion, request.afterMark]);
    if (this.rewound) {
      fail(Code.Aborted, "HISTORY_REWOUND", { version: "1" });
    }
    yield* this.#breaking(this.#stream(request.afterVersion, context), context);
  }

  async *#watchTurns(request: WatchTurnsRequest, context: HandlerContext): AsyncGenerator<TurnMessage> {
    this.watchedSeats.push(request.seats.map((seat) => seat.credential));
    yield* this.#breaking(this.#turns(request, context), context);
  }

  /** The messages, up to where the stream is to break. */
  async *#breaking<Message>(messages: AsyncIterable<Message>, context: HandlerContext): AsyncGenerator<Message> {
    const length = this.streamLengths.shift();
    let sent = 0;
    this.open += 1;
    void ended(context.signal).then(() => (this.open -= 1));
    for await (const message of messages) {
      if (sent === length) {
        throw new ConnectError("the connection broke", Code.Unavailable);
      }
      yield message;
      sent += 1;
    }
  }

  async *#stream(after: bigint | undefined, context: HandlerContext): AsyncGenerator<Message> {
    const gone = ended(context.signal);
    if (this.silent > 0) {
      this.silent -= 1;
      await gone;
      return;
    }
    const waits = this.phase !== Phase.PLAYING;
    let version = after === undefined ? this.version : Math.max(0, Number(after) - this.repeatEntries);
    let changes = this.changes;
    yield { content: { case: "view", value: this.view(viewerOf(context)) } };
    while (waits) {
      while (changes === this.changes) {
        await this.#change(gone);
        if (context.signal.aborted) {
          return;
        }
      }
      changes = this.changes;
      if (this.phase === Phase.PLAYING) {
        version = -1;
        break;
      }
      yield { content: { case: "heartbeat", value: {} } };
      yield { content: { case: "view", value: this.view(viewerOf(context)) } };
    }
    const reason = this.endings.shift();
    if (reason !== undefined) {
      yield { content: { case: "end", value: { reason } } };
      return;
    }
    for (;;) {
      while (version === this.version) {
        if (this.isOver) {
          yield { content: { case: "end", value: { reason: WatchEndReason.GAME_OVER } } };
          return;
        }
        await this.#change(gone);
        if (context.signal.aborted) {
          return;
        }
      }
      version += 1;
      if (version === this.leaveOut) {
        this.leaveOut = undefined;
        continue;
      }
      yield { content: { case: "entry", value: this.entry(version) } };
    }
  }

  async *#turns(request: WatchTurnsRequest, context: HandlerContext): AsyncGenerator<TurnMessage> {
    const gone = ended(context.signal);
    const viewers = request.seats.map((seat) => SEATS.findIndex((credential) => credential === seat.credential));
    const error = this.seatErrors.shift();
    if (error !== undefined) {
      yield { index: 0, content: { case: "error", value: error } };
    }
    const left = [...viewers.entries()].slice(error === undefined ? 0 : 1);
    while (this.phase !== Phase.PLAYING) {
      for (const [index, viewer] of left) {
        if (this.phase === Phase.REVEALING && this.commitments[viewer] && !this.revealed.has(viewer)) {
          yield { index, content: { case: "turn", value: this.view(viewer) } };
        }
      }
      await this.#change(gone);
      if (context.signal.aborted) {
        return;
      }
    }
    let told = -1;
    while (!this.isOver && left.length > 0) {
      if (told === this.version) {
        await this.#change(gone);
      }
      if (context.signal.aborted) {
        return;
      }
      told = this.version;
      for (const [index, viewer] of left) {
        if (!this.isOver && viewer === told % 2) {
          yield { index, content: { case: "turn", value: this.view(viewer) } };
        }
      }
    }
    for (const [index, viewer] of left) {
      yield { index, content: { case: "over", value: this.view(viewer) } };
    }
    yield { content: { case: "end", value: { reason: WatchEndReason.NO_SEAT_LEFT } } };
  }

  /** Resolves when somebody acts or the caller is gone. */
  async #change(gone: Promise<void>): Promise<void> {
    await Promise.race([new Promise<void>((resolve) => this.#changed.push(resolve)), gone]);
  }

  #fault(): void {
    const code = this.faults.shift();
    if (code !== undefined) {
      throw new ConnectError("the answer was lost", code);
    }
  }
}

export function mark(version: number): string {
  return `mark-${version}`;
}

function viewerOf(context: HandlerContext): number | undefined {
  const seat = SEATS.findIndex((credential) => context.requestHeader.get("authorization") === `Bearer ${credential}`);
  return seat < 0 ? undefined : seat;
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    }
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** End a call with an error as the service words it. */
function fail(code: Code, reason: string, metadata: Record<string, string> = {}, field?: string): never {
  throw new ConnectError("no", code, undefined, [
    { desc: ErrorInfoSchema, value: { domain: "moonvale.v1", reason, metadata } },
    ...(field === undefined
      ? []
      : [{ desc: BadRequestSchema, value: { fieldViolations: [{ field, description: "needs games/{game}" }] } }]),
  ]);
}
