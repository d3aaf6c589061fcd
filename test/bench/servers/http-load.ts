import { connect, type Socket } from 'node:net';

/**
 * A load client, in a process of its own (`process.send`): keeps some connections busy, one request at a time on each,
 * and counts answers. It looks for nothing but their ends, so that it is never what is measured.
 */
const CONNECTIONS = 16;

interface Order {
  readonly port: number;
  /** Requests, as they go over the wire, that are sent one after the other, again and again. */
  readonly requests: readonly string[];
  readonly count: number;
}

process.on('message', (order: Order) => {
  void run(order).then(
    (count) => process.send?.(count),
    (error: unknown) => process.send?.(String(error)),
  );
});

async function run({ port, requests, count }: Order): Promise<number> {
  let sent = 0;
  const next = (): string | undefined => (sent < count ? requests[sent++ % requests.length] : undefined);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => keepBusy(port, next)));
  return count;
}

function keepBusy(port: number, nextRequest: () => string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let length = 0;
    let received = 0;
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true }, next);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      if (received === 0) length = lengthOf(chunk.toString('latin1'));
      received += chunk.length;
      if (received >= length) next();
    });
    function next(): void {
      received = 0;
      const request = nextRequest();
      if (request !== undefined) socket.write(request);
      else {
        socket.end();
        resolve();
      }
    }
  });
}

function lengthOf(answer: string): number {
  const end = answer.indexOf('\r\n\r\n');
  const size = /^HTTP\/1\.1 20[01] [^]*\r\ncontent-length: (\d+)/i.exec(answer)?.[1];
  if (end < 0 || size === undefined) throw new Error(`not the answer expected: ${answer.slice(0, 200)}`);
  return end + 4 + Number(size);
}
