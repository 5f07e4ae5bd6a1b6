/** A bot that plays both seats of a game at random, over gRPC. */

import { type ViewToAct, createClient, playSeat } from "moonvale/node";

// All that a bot has to do: the view lists every legal action, ready to be sent.
function choose(view: ViewToAct) {
  const actions = view.decision.legalActions;
  return actions[Math.floor(Math.random() * actions.length)]!;
}

const client = createClient({ address: process.argv[2] ?? "127.0.0.1:7350" });
const game = await client.createGame({ options: { players: 2 } });
const seats = game.seatCredentials.map((credential) => playSeat(client, game.name, credential, choose));
for (const result of await Promise.all(seats)) {
  console.log(`places ${result.places.join(" ")}, totals ${result.totals.join(" ")}`);
}
client.close();
