// The load of a boardgame.io server: its own clients over socket.io in closed loops. Obeys the bench like the others.
const { createInterface } = require("node:readline");
const { Client, LobbyClient } = require("boardgame.io/client");
const { SocketIO } = require("boardgame.io/multiplayer");
const { cardGame } = require("./game.js");

const MATCHES = 32;
const LONGEST = 400; // moves of a match when a run begins: a master keeps them all
const HAND = 5;
const server = process.argv[2];
const lobby = new LobbyClient({ server });

class Match {
  constructor(clients) {
    this.clients = clients;
    this.waiting = null;
    this.seen = [];
  }

  async open() {
    const game = { ...cardGame(this.clients), name: `silver-${this.clients}` };
    const { matchID } = await lobby.createMatch(game.name, { numPlayers: this.clients });
    const ready = [];
    for (let seat = 0; seat < this.clients; seat += 1) {
      const playerID = String(seat);
      const { playerCredentials } = await lobby.joinMatch(game.name, matchID, { playerID, playerName: playerID });
      const multiplayer = SocketIO({ server, socketOpts: { transports: ["websocket"] } });
      const options = { game, numPlayers: this.clients, multiplayer, playerID, matchID, debug: false };
      const client = Client({ ...options, credentials: playerCredentials });
      this.seen[seat] = { client, number: -1 };
      ready.push(
        new Promise((done) => {
          client.subscribe((state) => {
            if (state === null) return;
            this.seen[seat].number = state._stateID;
            done();
            if (this.waiting !== null && this.seen.every(({ number }) => number > this.waiting.before)) {
              const { told } = this.waiting;
              this.waiting = null;
              told();
            }
          });
        }),
      );
      client.start();
    }
    await Promise.all(ready);
  }

  isShort() {
    return this.seen[0].number < LONGEST;
  }

  close() {
    this.seen.forEach(({ client }) => client.stop());
  }

  // Makes a move; resolves when every client of the match has been told the state after it.
  move() {
    const { client } = this.seen.find((seat) => seat.client.getState().isActive);
    const before = client.getState()._stateID;
    return new Promise((told) => {
      this.waiting = { before, told };
      client.moves.play(Math.floor(Math.random() * HAND));
    });
  }
}

const made = {};

async function matches(clients) {
  const old = made[clients] ?? [];
  const all = [...Array(MATCHES)].map((_, i) => (old[i]?.isShort() ? old[i] : new Match(clients)));
  await Promise.all(all.map((match) => match.seen.length || match.open()));
  old.filter((match) => !all.includes(match)).forEach((match) => match.close());
  made[clients] = all;
  return all;
}

async function run(clients, seconds) {
  const all = await matches(clients);
  const waits = [];
  const cpu = process.cpuUsage();
  const began = performance.now();
  const end = began + 1000 * seconds;
  await Promise.all(
    all.map(async (match) => {
      for (let now = performance.now(); now < end; ) {
        await match.move();
        const then = now;
        now = performance.now();
        waits.push(now - then);
      }
    }),
  );
  const used = process.cpuUsage(cpu);
  waits.sort((a, b) => a - b);
  return {
    count: waits.length,
    cpu: (used.user + used.system) / 1e6,
    wall: (performance.now() - began) / 1000,
    p50: waits[Math.floor(waits.length / 2)],
    p99: waits[Math.floor((waits.length * 99) / 100)],
  };
}

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const cases = { "1 client": 1, "4 clients": 4 };
say({ about: { name: "boardgame.io" }, cases: Object.keys(cases) });
const lines = createInterface({ input: process.stdin });
(async () => {
  for await (const line of lines) {
    const order = JSON.parse(line);
    say(await run(cases[order.case], order.seconds));
  }
  process.exit(0);
})();
