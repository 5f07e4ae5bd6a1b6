/** The same message over every transport. */

import { toBinary, toJson } from "@bufbuild/protobuf";
import { ViewSchema } from "moonvale";
import { expect, test } from "vitest";

import { ways } from "./ways.js";

test.skipIf(ways.length === 0)(
  `a position is the same message over ${ways.map((way) => way.name).join(", ")}`,
  async () => {
    const clients = ways.map((way) => way.open(way.target));
    const game = await clients[0]!.createGame({ options: { players: 3 } });
    const seat = game.view!.decision!.seat!;
    const views = await Promise.all(clients.map((client) => client.getView(game.name, game.seatCredentials[seat]!)));
    for (const view of views) {
      expect(toBinary(ViewSchema, view)).toEqual(toBinary(ViewSchema, views[0]!));
    }
    const json = toJson(ViewSchema, views[0]!);
    expect(json).toMatchObject({
      version: "0",
      viewerSeat: seat,
      turn: 0,
      decision: { kind: "DECISION_KIND_PEEK", seat },
    });
    expect(json.seats?.[0]).toMatchObject({ seat: 0, total: 0 });
    clients.forEach((client) => client.close());
  },
);
