import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';

import { createSender } from '../../../runtime/assembly/send-notification.js';
import { readAllowList } from '../../../runtime/auth/jwks/allow-list.js';

/** Receivers that do not behave: whatever they do, each request is settled in its time. */
describe('a receiver', { timeout: 30_000 }, () => {
  const sender = createSender(readAllowList(['127.0.0.1'], 'subscriptions.allow', true), () => false);
  const servers: { readonly server: Server; readonly sockets: Set<Socket> }[] = [];

  /** @param answer called with each connection once something has come */
  async function listen(answer: (socket: Socket) => void): Promise<string> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('data', () => answer(socket));
    });
    servers.push({ server, sockets });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  }

  afterEach(async () => {
    sender.close();
    for (const { server, sockets } of servers.splice(0)) {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  const send = (url: string, more: { readonly timeout?: number; readonly signal?: AbortSignal } = {}) =>
    sender.send({
      ...{ url, headers: [], contentType: 'application/fhir+json', body: '{}' },
      ...{ timeout: 2000, signal: new AbortController().signal, ...more },
    });
  const many = (url: string) => Promise.allSettled(Array.from({ length: 40 }, () => send(url)));

  it('that switches protocols has failed', async () => {
    const url = await listen((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    for (const result of await many(url)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'error-response' } });
    }
  });

  it('that says it has not begun yet, again and again, has failed after the time', async () => {
    const url = await listen((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 100);
      socket.once('close', () => clearInterval(timer));
      onTestFinished(() => clearInterval(timer));
    });
    for (const result of await many(url)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'no-response' } });
    }
  });

  it('that sends its body bit by bit has taken the notification, and keeps no other waiting', async () => {
    let open = 0;
    const url = await listen((socket) => {
      open++;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 50);
      socket.once('close', () => {
        clearInterval(timer);
        open--;
      });
    });
    for (const result of await many(url)) expect(result).toMatchObject({ status: 'fulfilled', value: { status: 200 } });
    await expect.poll(() => open, { timeout: 10_000 }).toBe(0);
  });

  it('that never answers is left as soon as the delivery is stopped', async () => {
    const url = await listen(() => {});
    const stop = new AbortController();
    const sent = Promise.allSettled([send(url, { timeout: 3_600_000, signal: stop.signal })]);
    stop.abort();
    expect(await sent).toMatchObject([{ status: 'rejected' }]);
    await expect(send(url, { signal: AbortSignal.abort() })).rejects.toThrow('stopped');
  });

  it('that answers at once is sent the next one on the same connection', async () => {
    let connections = 0;
    const url = await listen((socket) => {
      connections++;
      const answer = 'HTTP/1.1 204 No Content\r\n\r\n';
      socket.write(answer);
      socket.on('data', (part) => {
        if (String(part).startsWith('POST')) socket.write(answer);
      });
    });
    for (let i = 0; i < 5; i++) expect((await send(url)).status).toBe(204);
    expect(connections).toBe(1);
  });
});
