import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Measured } from '../measuring/row.js';

/** A receiver of notifications that measures how late they are. */
export interface BenchReceiver {
  readonly url: string;
  /** Resolves when so many Subscriptions had their handshake, since the last call. */
  settled(count: number): Promise<void>;
  /** A notification about a resource is to come. @param since `performance.now()` before its write */
  expect(name: string, since: number): void;
  /** Resolves when all that are expected have come. */
  arrived(): Promise<void>;
  /** What came since the last call, and how long each took. */
  measured(cpuMs: number): Measured;
  close(): Promise<void>;
}

interface Notification {
  readonly entry: readonly [
    { readonly resource: { readonly type: string; readonly notificationEvent?: readonly NotificationEvent[] } },
  ];
}

interface NotificationEvent {
  readonly focus: { readonly reference: string };
}

/** Opens one on loopback that takes everything at once. */
export async function openReceiver(): Promise<BenchReceiver> {
  const pending = new Map<string, number>();
  let times: number[] = [];
  let wallMs = 0;
  let handshakes = 0;
  const waits = new Set<{ readonly isOver: () => boolean; readonly resolve: () => void }>();
  const until = (isOver: () => boolean): Promise<void> =>
    isOver() ? Promise.resolve() : new Promise((resolve) => waits.add({ isOver, resolve }));

  function take(text: string): void {
    const now = performance.now();
    const [{ resource }] = (JSON.parse(text) as Notification).entry;
    if (resource.type === 'handshake') handshakes++;
    for (const { focus } of resource.notificationEvent ?? []) {
      const name = focus.reference.split('/').slice(-2).join('/');
      const since = pending.get(name);
      if (since === undefined) continue;
      times.push(now - since);
      wallMs += now - since;
      pending.delete(name);
    }
    for (const each of waits) {
      if (!each.isOver()) continue;
      waits.delete(each);
      each.resolve();
    }
  }

  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => {
      res.writeHead(200).end();
      take(Buffer.concat(parts).toString('utf8'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async settled(count) {
      await until(() => handshakes >= count);
      handshakes = 0;
    },
    expect: (name, since) => void pending.set(name, since),
    arrived: () => until(() => pending.size === 0),
    measured(cpuMs) {
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share: number): number => sorted[Math.floor(sorted.length * share)]!;
      const measured = { count: sorted.length, wallMs, cpuMs };
      [times, wallMs] = [[], 0];
      return { ...measured, times: { p50: at(0.5), p99: at(0.99), longest: sorted.at(-1)! } };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
