/** A TCP proxy that cuts connections: what a network does to a client amid its calls and streams. */

import { type AddressInfo, type Socket, connect, createServer } from "node:net";

export interface Proxy {
  /** HOST:PORT of its own. */
  readonly address: string;
  /** How many connections it has cut. */
  readonly cuts: number;
  close(): void;
}

/** Pass on to `target`, cutting each connection after so many pieces from there. */
export async function cuttingProxy(target: string, pieces: number): Promise<Proxy> {
  const { hostname, port } = new URL(`http://${target}`);
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    let passed = 0;
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.setNoDelay();
      socket.on("error", cut);
      socket.on("close", () => {
        open.delete(socket);
        cut();
      });
    }
    near.on("data", (piece) => far.write(piece));
    far.on("data", (piece) => {
      passed += 1;
      if (passed <= pieces) {
        near.write(piece);
      } else {
        cuts += 1;
        near.resetAndDestroy();
        far.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    close() {
      server.close();
      for (const socket of open) {
        socket.destroy();
      }
    },
  };
}
