/** The messages of this client are those of the vectors, which the tests in Python run, too. */

import { readFileSync } from "node:fs";

import {
  type DescFile,
  type DescMessage,
  type JsonValue,
  createRegistry,
  equals,
  fromBinary,
  fromJson,
  fromJsonString,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";

import { file_moonvale_v1_game_service } from "../src/gen/moonvale/v1/game_service_pb.js";

interface Vectors {
  readonly messages: { type: string; name: string; json: JsonValue; binary: string }[];
  readonly alternatives: { type: string; name: string; text: string; json: JsonValue }[];
  readonly refused: { type: string; name: string; text: string }[];
}

const vectors = JSON.parse(
  readFileSync(new URL("../../../tests/vectors/contract.json", import.meta.url), "utf8"),
) as Vectors;
const registry = createRegistry(...filesOf(file_moonvale_v1_game_service));
const types = new Set(vectors.messages.map((vector) => vector.type));

/** A file and those of the contract that it imports. */
function filesOf(file: DescFile): DescFile[] {
  return [file, ...file.dependencies.filter(({ proto }) => proto.package === "moonvale.v1").flatMap(filesOf)];
}

function schemaOf(type: string): DescMessage {
  const schema = registry.getMessage(type);
  if (schema === undefined) {
    throw new Error(`no ${type}`);
  }
  return schema;
}

test("there are vectors for every method's messages", () => {
  for (const method of file_moonvale_v1_game_service.services[0]!.methods) {
    expect(types).toContain(method.input.typeName);
    expect(types).toContain(method.output.typeName);
  }
});

describe.each([...types])("%s", (type) => {
  const schema = schemaOf(type);

  test.each(vectors.messages.filter((vector) => vector.type === type))("$name", ({ json, binary }) => {
    const bytes = Uint8Array.from(Buffer.from(binary, "base64"));
    const message = fromBinary(schema, bytes);
    expect(toJson(schema, message)).toEqual(json);
    expect(equals(schema, fromJson(schema, json), message)).toBe(true);
    expect(equals(schema, fromBinary(schema, toBinary(schema, message)), message)).toBe(true);
    expect(Buffer.from(toBinary(schema, message)).toString("base64")).toBe(binary);
  });
});

test.each(vectors.alternatives)("other texts are taken: $type, $name", ({ type, text, json }) => {
  const schema = schemaOf(type);
  expect(toJson(schema, fromJsonString(schema, text))).toEqual(json);
});

test.each(vectors.refused)("what is no message is refused: $type, $name", ({ type, text }) => {
  expect(() => fromJsonString(schemaOf(type), text)).toThrow();
});
