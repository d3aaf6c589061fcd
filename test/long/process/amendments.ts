import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';

import { createClient, type Send } from '../http-client.js';
import { Servers } from '../servers.js';
import { soak } from '../soak.js';

/** How often a label is added and removed. */
const ROUNDS = soak(25);
const TAG = { system: 'http://labels.example', code: 'restricted' };
const META = { resourceType: 'Parameters', parameter: [{ name: 'meta', valueMeta: { security: [TAG] } }] };
/** What a write is answered while others are at the same resource. */
const DONE = new Set([200, 201, 409, 503]);

/** Labels changed in place by one process while it and another write the same resource. @param newStore URL of an empty store */
export function amendments(newStore: () => string): void {
  it(`two processes, ${ROUNDS} rounds: no label is lost, and none comes back`, async () => {
    const servers = [new Servers(newStore())];
    servers.push(new Servers(servers[0]!.store));
    for (const each of servers) await each.start();
    const send = createClient(16, 30_000);
    try {
      await race(send, servers.map(({ base }) => base)); // prettier-ignore
    } finally {
      send.close();
      await Promise.all(servers.map((each) => each.end()));
    }
  });
}

async function race(send: Send, bases: readonly string[]): Promise<void> {
  const id = randomUUID();
  const path = `/Patient/${id}`;
  let n = 0;
  const body = (): object => ({ resourceType: 'Patient', id, multipleBirthInteger: n++ });
  const writes: readonly ((base: string) => ReturnType<Send>)[] = [
    (base) => send(base, 'PUT', path, body()),
    (base) => send(base, 'PUT', `/Patient?_id=${id}`, body()),
    (base) => {
      const entry = [{ resource: body(), request: { method: 'PUT', url: path.slice(1) } }];
      return send(base, 'POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
    },
  ];
  const labelled = async (base: string): Promise<boolean> => {
    const { text } = await send(base, 'GET', path);
    return text.includes(TAG.code);
  };
  expect((await send(bases[0]!, 'PUT', path, body())).status).toBe(201);
  let isOver = false;
  const statuses = new Map<number, number>();
  const writers = bases.flatMap((base) =>
    writes.map(async (write) => {
      while (!isOver) {
        const { status, text } = await write(base);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (!DONE.has(status)) throw new Error(`${status} ${text}`);
      }
    }),
  );
  const wrong: string[] = [];
  const rounds = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [operation, expected] of [['$meta-add', true], ['$meta-delete', false]] as const) {
        const base = bases[round % bases.length]!;
        const { status, text } = await send(base, 'POST', `${path}/${operation}`, META);
        if (status !== 200) wrong.push(`${operation} ${status} ${text}`);
        // The writes that were under way, and more.
        for (let look = 0; look < 12; look++) {
          if ((await labelled(bases[look % bases.length]!)) !== expected) wrong.push(`round ${round}, after ${operation}`);
        }
      } // prettier-ignore
    }
  };
  try {
    await Promise.race([rounds(), Promise.all(writers)]);
  } finally {
    isOver = true;
    await Promise.allSettled(writers);
  }
  console.info(`${n} writes: ${JSON.stringify([...statuses])}`);
  expect(wrong).toEqual([]);
  expect(statuses.get(200) ?? 0).toBeGreaterThan(ROUNDS);
}
