/** The generated code gets the answers of the vectors over every transport, as the tests in Python do. */

import { readFileSync } from "node:fs";

import {
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type JsonValue,
  type Message,
  fromJson,
  toJson,
} from "@bufbuild/protobuf";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { CreateGameResponseSchema, GameService } from "moonvale";
import { expect, test } from "vitest";

import { fromConnectError } from "../src/errors.js";
import { bearer } from "../src/requests.js";
import { ways } from "./ways.js";

interface Exchange {
  readonly method: string;
  readonly credential: string;
  readonly request: JsonValue;
  readonly answers: JsonValue[];
  readonly error?: { code: number; reason: string; metadata: Record<string, string>; fields: string[] };
}

const exchanges = JSON.parse(
  readFileSync(new URL("../../../tests/vectors/exchanges.json", import.meta.url), "utf8"),
) as Exchange[];

/** What is different each time, and so is told as ANY. */
const different = [
  "creatorCredential",
  "credential",
  "createTime",
  "mark",
  "nextPageToken",
  "record",
  "seatCredentials",
  "spectatorCredential",
  "updateTime",
];

/** Other texts for some: in requests the real ones, in answers GAME. */
function replaced(value: JsonValue, texts: ReadonlyMap<string, string>): JsonValue {
  if (typeof value === "string") {
    return texts.get(value) ?? value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => replaced(item, texts));
  }
  if (value === null || typeof value !== "object") {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, texts)]));
}

function masked(value: JsonValue, key = ""): JsonValue {
  if (Array.isArray(value)) {
    return value.map((item) => masked(item, key));
  }
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, masked(item, name)]));
  }
  return different.includes(key) && value ? "ANY" : value;
}

async function* answersOf(
  transport: Transport,
  method: DescMethodUnary | DescMethodServerStreaming,
  request: Message,
  headers: Record<string, string>,
): AsyncGenerator<Message> {
  if (method.methodKind === "unary") {
    yield (await transport.unary(method, undefined, 60_000, headers, request)).message;
  } else {
    const only = async function* () {
      yield request;
    };
    yield* (await transport.stream(method, undefined, 60_000, headers, only())).message;
  }
}

if (ways.length === 0) {
  test.skip("needs a service: MOONVALE_ADDRESS, MOONVALE_URL and MOONVALE_CREATOR_KEY");
}

test.each(ways.map((way) => [way.name, way] as const))(
  "the calls of the vectors have their answers over %s",
  async (_, { target, transport }) => {
    const over = transport(target);
    const names = new Map([
      ["NOBODY", ""],
      ["STRANGER", "mv1.nonsense"],
      ["CREATOR KEY", process.env.MOONVALE_CREATOR_KEY!],
    ]);
    for (const { method: name, credential, request, ...expected } of exchanges) {
      const method = GameService.methods.find((each) => each.name === name) as
        DescMethodUnary | DescMethodServerStreaming;
      const answers: JsonValue[] = [];
      let error: Exchange["error"];
      const message = fromJson(method.input, replaced(request, names));
      try {
        for await (const answer of answersOf(over, method, message, bearer(names.get(credential)!))) {
          if (answer.$typeName === CreateGameResponseSchema.typeName) {
            const created = answer as ReturnType<typeof fromJson<typeof CreateGameResponseSchema>>;
            names.set("GAME", created.name);
            names.set("CREATOR", created.creatorCredential);
            names.set("SPECTATOR", created.spectatorCredential);
            created.seatCredentials.forEach((each, seat) => names.set(`SEAT ${seat}`, each));
          }
          answers.push(masked(replaced(toJson(method.output, answer), new Map([[names.get("GAME")!, "GAME"]]))));
        }
      } catch (failure) {
        const { code, reason, metadata, fieldViolations } = fromConnectError(ConnectError.from(failure), 1);
        error = { code, reason, metadata, fields: fieldViolations.map((violation) => violation.field) };
      }
      expect({ name, answers, error }).toEqual({ name, error: undefined, ...expected });
    }
  },
);
