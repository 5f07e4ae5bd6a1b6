// A server of boardgame.io as its documentation starts one: its own master, games in memory. Prints its port.
const net = require("node:net");
const { Server, Origins } = require("boardgame.io/server");
const { cardGame } = require("./game.js");

// It would listen on all addresses, and has no option for one.
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function listenOnLoopback(port, ...rest) {
  return listen.call(this, port, "127.0.0.1", ...rest);
};

const games = [1, 4].map((clients) => ({ ...cardGame(clients), name: `silver-${clients}` }));
const server = Server({ games, origins: [Origins.LOCALHOST] });
console.log = () => {}; // its own words would be taken for ours
server.run({ port: 0 }).then(({ appServer }) => {
  process.stdout.write(`${JSON.stringify({ about: { port: String(appServer.address().port) }, cases: [] })}\n`);
});
process.stdin.on("end", () => process.exit(0)).resume();
