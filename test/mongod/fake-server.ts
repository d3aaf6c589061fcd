import { BSON } from 'mongodb';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

const HEADER = 16;
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;

/** A server that is none. */
export interface FakeServer {
  readonly host: string;
  close(): Promise<void>;
}

/**
 * Speaks as much of MongoDB's wire protocol as a driver needs to ask what it talks to, and answers `hello` as the test has it;
 * other commands it answers with `ok`. https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/
 */
export async function startFakeServer(hello: () => object): Promise<FakeServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let waiting = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      waiting = Buffer.concat([waiting, bytes]);
      while (waiting.length >= 4 && waiting.length >= waiting.readInt32LE(0)) {
        const message = waiting.subarray(0, waiting.readInt32LE(0));
        waiting = waiting.subarray(message.length);
        const answer = answerTo(message, hello());
        if (answer !== undefined) socket.write(answer);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function answerTo(message: Buffer, hello: object): Buffer | undefined {
  const kind = message.readInt32LE(12);
  const isQuery = kind === OP_QUERY;
  // A query names its collection; both have one document then.
  const start = isQuery ? message.indexOf(0, HEADER + 4) + 9 : HEADER + 5;
  const command = BSON.deserialize(message.subarray(start, start + message.readInt32LE(start)));
  // Monitors keep asking for changes, of which there are none.
  if (command['topologyVersion'] !== undefined) return undefined;
  const isHello = 'hello' in command || 'isMaster' in command || 'ismaster' in command;
  const document = BSON.serialize(isHello ? { ok: 1, ...hello } : { ok: 1 });
  const head = Buffer.alloc(HEADER + (isQuery ? 20 : 5));
  head.writeInt32LE(head.length + document.length, 0);
  head.writeInt32LE(message.readInt32LE(4), 8);
  head.writeInt32LE(isQuery ? OP_REPLY : OP_MSG, 12);
  if (isQuery) head.writeInt32LE(1, HEADER + 16);
  return Buffer.concat([head, document]);
}
