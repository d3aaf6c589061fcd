import { createServer } from 'node:net';

// Below the ports from which systems take those of outgoing connections (Linux from 32768 on): a member that is down for a
// while finds its port free when it comes back.
const FIRST = 20_000;
const COUNT = 12_000;

/** A port on loopback at which nobody listens now. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${FIRST + COUNT}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
