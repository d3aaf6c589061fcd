import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';

import { listen, type ConnectionLimits, type Listening } from '../../../runtime/http/listen.js';

/** More than the buffers of both ends of a connection take. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x');

const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

function open(port: number, text: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text, () => resolve(socket)));
  });
}

/** Bytes that come until the server closes. */
function countBytes(socket: Socket): Promise<number> {
  let bytes = 0;
  return new Promise((resolve, reject) => {
    socket.on('data', (chunk) => (bytes += chunk.length));
    socket.once('error', reject);
    socket.once('close', () => resolve(bytes));
  });
}

describe('a server that closes', () => {
  let written: (() => void) | undefined;
  const serve = (limits: Partial<ConnectionLimits> = {}): Promise<Listening> =>
    listen(
      (req, res) => {
        res.end(req.url === '/large' ? LARGE : 'small');
        if (req.url === '/large') written?.();
      },
      '127.0.0.1',
      0,
      limits,
    );

  it('cuts no answer that its client has not read yet, and ends idle connections', async () => {
    const server = await serve();
    const begun = new Promise<void>((resolve) => (written = resolve));
    const idle = await open(server.port, GET('/small'));
    const idleBytes = countBytes(idle);
    const slow = (await open(server.port, GET('/large'))).pause();
    await begun;
    const closed = server.close(20_000);
    await sleep(100);
    const { length } = LARGE;
    expect(await countBytes(slow.resume())).toBeGreaterThan(length);
    expect(await closed).toBe(true);
    expect(await idleBytes).toBeGreaterThan(0);
  });

  it('ends idle connections at once, and takes no new one', async () => {
    // No connection ends by itself before those that are left are cut.
    const server = await serve({ connectionIdleTime: 60_000 });
    const idle = countBytes(await open(server.port, GET('/small')));
    await sleep(100);
    expect(await server.close(20_000)).toBe(true);
    expect(await idle).toBeGreaterThan(0);
    const refused = new Promise((resolve) => get(server.url).once('error', resolve));
    expect(await refused).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('answers what comes over an idle connection for a while', async () => {
    const server = await serve({ keepAliveTime: 5_000 });
    const socket = await open(server.port, GET('/small'));
    const bytes = countBytes(socket);
    await vi.waitFor(() => expect(socket.bytesRead).toBeGreaterThan(0), 10_000);
    await sleep(100);
    const closed = server.close(20_000, 15_000);
    const one = socket.bytesRead;
    await sleep(100);
    socket.write(GET('/small'));
    await vi.waitFor(() => expect(socket.bytesRead).toBe(2 * one), 14_000);
    expect(await closed).toBe(true);
    expect(await bytes).toBe(2 * one);
  });

  it('cuts in the end who reads nothing', async () => {
    const server = await serve();
    const begun = new Promise<void>((resolve) => (written = resolve));
    const slow = (await open(server.port, GET('/large'))).pause();
    slow.on('error', () => {});
    await begun;
    expect(await server.close(300)).toBe(false);
    slow.destroy();
  });
});
