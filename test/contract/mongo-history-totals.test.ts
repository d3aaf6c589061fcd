import { MongoClient, type Db } from 'mongodb';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import type { HistoryQuery, Store } from '../../runtime/store/store.js';
import { EVENTUALLY } from '../eventually.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { onEmptiedMongo } from './on-mongo.js';
import { deletion, put, useStore } from './subject.js';

/** What was written so long ago is complete. */
const MINUTE = 60_000;

describeOnMongod('totals of histories on MongoDB, which are remembered', () => {
  const subject = useStore(onEmptiedMongo);
  let client: MongoClient;
  let db: Db;
  /** Reads, and has the commands noted by which it counts. */
  let reader: Store;
  /** Writes as of a minute ago. */
  let early: Store;
  /** Writes now. */
  let late: Store;
  const counted: string[] = [];
  /** How long ago it is for the reader, in milliseconds. */
  let behind = 0;

  beforeEach(async () => {
    behind = 0;
    late = subject.store;
    early = await subject.reopen({ now: () => Date.now() - MINUTE });
    reader = subject.keep(
      await openMongoStore(subject.url, {
        now: () => Date.now() - behind,
        onCommand(name, command) {
          const [stage] = (command['pipeline'] as { $match?: { updated?: object } }[] | undefined) ?? [];
          if (name === 'aggregate') counted.push(Object.keys(stage?.$match?.updated ?? { $all: true }).join());
        },
      }),
    );
    client = new MongoClient(subject.url, { readConcern: { level: 'majority' } });
    db = client.db();
  });
  afterEach(() => client.close());

  const SCOPES: readonly Omit<HistoryQuery, 'count'>[] = [
    {},
    { type: 'Patient' },
    { type: 'Basic' },
    { types: ['Patient', 'Basic', 'Unknown'] },
  ];

  /** The totals are those that a walk through all pages has. */
  async function check(): Promise<void> {
    for (const scope of SCOPES) {
      const { versions } = await reader.history({ ...scope, count: 5000 });
      const totals: number[] = [];
      for (const count of [0, 1, 2, 4, 0]) totals.push((await reader.history({ ...scope, count })).total);
      expect([scope, totals]).toEqual([scope, totals.map(() => versions.length)]);
    }
  }

  it('only what came since is counted', async () => {
    await early.write([put('a', 0), put('b', 0), put('x', 0, 'x', [], 'Basic')]);
    await early.write([put('a', 1)]);
    await check();
    expect(counted).toContain('$lt');
    counted.length = 0;
    await late.write([put('a', 2), put('c', 0), deletion('b', 1)]);
    await late.write([put('a', 3)]);
    await check();
    expect((await reader.history({ count: 0 })).total).toBe(8);
    expect([...new Set(counted)]).toEqual(['$gte']);
  });

  it('what came since is counted once until something is written', async () => {
    await early.write([put('a', 0)]);
    await late.write([put('a', 1), put('b', 0)]);
    await check();
    const countAgain = async (): Promise<number> => {
      counted.length = 0;
      await reader.history({ type: 'Patient', count: 0 });
      return counted.length;
    };
    // The time of the database may go on by itself, every ten seconds.
    await expect.poll(countAgain, EVENTUALLY).toBe(0);
    await late.write([put('c', 0)]);
    expect(await countAgain()).toBeGreaterThan(0);
    await check();
    await late.write([deletion('c', 1)]);
    await check();
  });

  it('what came since is remembered too when it is much', { timeout: 120_000 }, async () => {
    const between = await subject.reopen({ now: () => Date.now() - MINUTE / 2 });
    await early.write([put('a', 0)]);
    behind = MINUTE - 10_000;
    await check();
    await between.write(Array.from({ length: 600 }, (_, n) => put(`n${n}`, 0)));
    await between.write([put('a', 1)]);
    await check();
    // Now these are complete, too.
    behind = 0;
    await check();
    counted.length = 0;
    expect((await reader.history({ count: 1 })).total).toBe(602);
    expect(counted).toEqual([]);
    await late.write([put('a', 2), ...Array.from({ length: 300 }, (_, n) => put(`n${n}`, 1))]);
    await check();
  });

  it('what is expunged is counted no more', async () => {
    await early.write(['a', 'b', 'c'].map((id) => put(id, 0)));
    await early.write([put('a', 1), put('b', 1), deletion('c', 1)]);
    await early.write([put('a', 2)]);
    await check();
    await late.expunge({ type: 'Patient', id: 'a', version: 1, limit: 9 });
    await check();
    await late.expunge({ previous: true, limit: 9 });
    await check();
    await late.expunge({ deleted: true, limit: 9 });
    await check();
    await late.expunge({ current: true, limit: 9 });
    await check();
    expect((await reader.history({ count: 0 })).total).toBe(0);
  });

  it('what is restored is counted, of whatever time it is', async () => {
    await early.write([put('a', 0)]);
    await check();
    const json = '{"resourceType":"Patient","id":"old"}';
    const content = { resourceType: 'Patient', id: 'old' };
    await late.restore([
      { type: 'Patient', id: 'old', version: 1, lastUpdated: Date.now() - 2 * MINUTE, json, content },
    ]);
    await check();
    expect((await reader.history({ count: 0 })).total).toBe(2);
  });

  it('copies of what is current, and what is within resources, count for nothing', async () => {
    const contained = [{ type: 'Basic', id: 'm', entries: [] }];
    await early.write([{ ...put('a', 0), contained }, put('b', 0)]);
    const { _id, ...fields } = (await db.collection('resource').findOne({ _id: 'Patient/b' as never }))!;
    const copy = { _id: `${_id}/1` as never, ...fields, until: new Date(), pending: true };
    await db.collection('history').insertOne(copy);
    await check();
    expect((await reader.history({ count: 0 })).total).toBe(2);
    await late.write([put('b', 1)]);
    await check();
    await late.write([put('a', 1)]);
    await check();
    expect((await reader.history({ count: 0 })).total).toBe(4);
  });

  it('nothing is counted where the first page shows all that is new, or all there is', async () => {
    await early.write(['a', 'b', 'c'].map((id) => put(id, 0)));
    await early.write([put('a', 1)]);
    expect((await reader.history({ count: 0 })).total).toBe(4);
    await late.write([put('a', 2)]);
    counted.length = 0;
    expect(await reader.history({ count: 2 })).toMatchObject({ total: 5, next: expect.any(String) });
    expect((await reader.history({ type: 'Patient', id: 'a', count: 9 })).total).toBe(3);
    expect((await reader.history({ since: Date.now() - MINUTE / 2, count: 9 })).total).toBe(1);
    expect(counted).toEqual([]);
    await late.write([put('b', 1)]);
    expect((await reader.history({ count: 3 })).total).toBe(6);
    expect(counted).toEqual([]);
    expect((await reader.history({ count: 2 })).total).toBe(6);
    expect(counted).not.toEqual([]);
  });

  it('pages of one walk have one total', async () => {
    await early.write(['a', 'b', 'c'].map((id) => put(id, 0)));
    const first = await reader.history({ count: 2 });
    await late.write([put('d', 0)]);
    const second = await reader.history({ count: 2, after: first.next! });
    expect([first.total, second.total, second.versions.length]).toEqual([3, 3, 1]);
  });
});
