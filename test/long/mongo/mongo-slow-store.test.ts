import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openMongoStore } from '../../../runtime/store/mongo/mongo-store.js';
import type { Store } from '../../../runtime/store/store.js';
import { atMost } from '../../at-most.js';
import { findMongod } from '../../mongod/find-mongod.js';
import { mongodUrl } from '../../mongod/for-tests.js';
import { startReplicaSet, type ReplicaSet } from '../../mongod/replica-set.js';
import { put } from '../../contract/subject.js';

// A server of its own, which can be held up. An external one cannot, so that then this is for those who run others.
const isOwn = mongodUrl() !== undefined && process.env['KILN_TEST_MONGODB_URL'] === undefined;

describe.skipIf(!isOwn)('a MongoDB server that answers late', { timeout: 60_000 }, () => {
  let servers: ReplicaSet;
  let store: Store;
  beforeAll(async () => {
    servers = await startReplicaSet((await findMongod()).path);
    store = await openMongoStore(servers.url, { operationTime: 6000, selectionTime: 3000, queryBudget: 2000 });
  });
  afterAll(async () => {
    await store?.close();
    await servers?.stop();
  });

  /** Holds the server up for so long, and then lets it go on. */
  async function holdUp(milliseconds: number): Promise<void> {
    const [member] = servers.members;
    member!.pause();
    await sleep(milliseconds);
    member!.resume();
  }

  it('has what it committed late stamped anew, and pollers miss nothing', async () => {
    await store.write([put('u', 0)]);
    const held = holdUp(4000);
    const begun = Date.now();
    const [[created], [updated, second]] = await Promise.all([
      store.write([put('c', 0)]),
      store.write([put('u', 1, 'two'), put('v', 0)]),
      held,
    ]);
    for (const stored of [created, updated, second]) {
      expect(stored!.lastUpdated).toBeGreaterThan(begun + 3000);
      expect(await store.read('Patient', stored!.id)).toEqual(stored);
      expect(JSON.parse(stored!.json ?? '')).toMatchObject({
        meta: { lastUpdated: new Date(stored!.lastUpdated).toISOString() },
      });
    }
    // The version before ended when the new one came.
    const { versions } = await store.history({
      type: 'Patient',
      id: 'u',
      at: { from: updated!.lastUpdated - 1, to: updated!.lastUpdated - 1 },
      count: 9,
    });
    expect(versions.map(({ version }) => version)).toEqual([1]);
  });

  it('is told of in bounded time, and afterwards all goes on', async () => {
    // It was held up before.
    await expect.poll(() => store.check(), { timeout: 15_000 }).toEqual({ ok: true });
    await store.write([put('w', 0)]);
    const held = holdUp(9000);
    const begun = performance.now();
    const took = async (work: Promise<unknown>): Promise<{ code: string; status: number; time: number }> => {
      const error = (await work.catch((reason: unknown) => reason)) as { code: string; status: number };
      return { code: error.code, status: error.status, time: performance.now() - begun };
    };
    const results = await Promise.all([
      took(store.read('Patient', 'w')),
      took(store.readVersion('Patient', 'w', 1)),
      took(store.readMany([{ type: 'Patient', id: 'w' }])),
      took(store.write([put('x', 0)])),
      took(store.write([put('w', 1), put('y', 0)])),
      took(store.write([put('w', 1)])),
      took(store.maps.get('m', 'k')),
      took(store.maps.swap('m', 'k', undefined, 'v')),
      took(store.blobs.get('k')),
    ]);
    for (const { code, status, time } of results) {
      expect(['store-busy', 'store-unavailable']).toContain(code);
      expect(status).toBe(503);
      expect(time).toBeLessThan(atMost(8000));
    }
    await held;
    const [query, check] = [holdUp(4000), store.check()];
    expect(await took(store.history({ count: 1 }))).toMatchObject({ status: 503 });
    expect(await check).toMatchObject({ ok: false });
    await query;
    await expect.poll(() => store.check(), { timeout: 15_000 }).toEqual({ ok: true });
    // Nobody knows which of them were done; but each was done whole or not at all, and the next goes through.
    const version = (await store.read('Patient', 'w'))!.version;
    expect([1, 2]).toContain(version);
    const y = await store.read('Patient', 'y');
    expect(y === undefined || version === 2).toBe(true);
    const [next] = await store.write([put('w', version, 'after')]);
    expect(await store.read('Patient', 'w')).toEqual(next);
  });
});
