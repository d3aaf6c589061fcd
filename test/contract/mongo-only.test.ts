import { BSON, MongoClient, type Db } from 'mongodb';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { IndexEntry } from '../../runtime/indexing/entry.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import type { Put, Store } from '../../runtime/store/store.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { startChild } from './durability/children.js';
import { onMongo } from './on-mongo.js';
import { deletion, put, useStore } from './subject.js';

describeOnMongod('a MongoDB store beyond the contract', () => {
  const subject = useStore(onMongo);
  let store: Store;
  let client: MongoClient;
  let db: Db;
  beforeEach(() => {
    store = subject.store;
    client = new MongoClient(subject.url, { promoteValues: true });
    db = client.db();
  });
  afterEach(() => client.close());

  /** Documents whose keys people choose. */
  const named = (name: string) => db.collection<{ _id: string; [field: string]: unknown }>(name);

  it('has nothing left of what was within a resource that is deleted', async () => {
    const entries: IndexEntry[] = [{ kind: 'token', param: 'code', code: 'x' }];
    const contained = Array.from({ length: 10 }, (_, n) => ({ type: n < 5 ? 'Drug' : 'Tool', id: `m${n}`, entries }));
    const count = (name: string): Promise<number> => named(name).countDocuments();
    await store.write([{ ...put('a', 0), contained }, put('b', 0)]);
    expect(await count('resource')).toBe(12);
    await store.write([{ ...put('a', 1), contained: contained.slice(3, 7) }]);
    expect(await count('resource')).toBe(6);
    await store.write([deletion('a', 2)]);
    expect([await count('resource'), await count('history')]).toEqual([2, 2]);
    expect(await named('history').countDocuments({ within: { $exists: true } })).toBe(0);
  });

  it('can be looked at with any tool: native documents, versions in one of two collections, entries by kind', async () => {
    const chalmers = (expected: number, more: object = {}): Put => {
      const content = { resourceType: 'Patient', id: 'p', name: [{ family: 'Chalmers' }], ...more };
      const tail = `},"name":[{"family":"Chalmers"}]${Object.keys(more).length === 0 ? '' : ',"multipleBirthInteger":2'}}`;
      const entries: IndexEntry[] = [
        { kind: 'string', param: 'family', text: 'Chalmers', folded: 'chalmers' },
        { kind: 'token', param: 'gender', code: 'male' },
        { kind: 'date', param: 'birthdate', low: 0 },
        { kind: 'reference', param: 'link', type: 'Patient', id: 'q' },
        { kind: 'composite', param: 'c', parts: [[{ kind: 'token', param: 'x', code: 'a' }], []] },
      ];
      const body = { head: '{"resourceType":"Patient","id":"p","meta":{', tail };
      return { type: 'Patient', id: 'p', expected, body, content, entries };
    };
    await store.write([chalmers(0)]);
    await store.write([chalmers(1, { multipleBirthInteger: 2 }), put('other', 0)]);
    await store.write([deletion('other', 1)]);
    const found = await named('resource').find({ type: 'Patient', 'resource.name.family': 'Chalmers' }).toArray();
    expect(found).toMatchObject([
      {
        _id: 'Patient/p',
        version: 2,
        resource: { meta: { versionId: '2', lastUpdated: expect.any(String) }, multipleBirthInteger: 2 },
        string: [{ p: 'family', folded: 'chalmers', text: 'Chalmers' }],
        token: [
          { p: 'gender', code: 'male' },
          { p: 'c$1', g: 1, code: 'a' },
        ],
        date: [
          { p: 'birthdate', low: new Date(0), high: new Date(8.64e15) },
          // How far its values reach, as that is more than a year.
          { p: '~3birthdate', low: new Date(0), high: new Date(8.64e15) },
        ],
        reference: [{ p: 'link', to: 'Patient/q' }],
      },
    ]);
    expect((found[0]!['updated'] as Date).toISOString()).toBe(
      JSON.parse(JSON.stringify(found[0])).resource.meta.lastUpdated,
    );
    expect(await named('resource').findOne({ _id: 'Patient/other' })).toMatchObject({ deleted: true, version: 2 });
    expect((await named('history').find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id)).toEqual([
      'Patient/other/1',
      'Patient/p/1',
    ]);
  });

  it('resources are sorted by scalar slots, each with an index for both directions', async () => {
    await store.close();
    const slots: Readonly<Record<string, number>> = { family: 0, birthdate: 1, weight: 2 };
    store = await openMongoStore(subject.url, { slotOf: (_type, param) => slots[param] });
    const entries = (n: number): IndexEntry[] => [
      { kind: 'string', param: 'family', text: `B${n}`, folded: `b${n}` },
      { kind: 'string', param: 'family', text: `A${n}`, folded: `a${n}` },
      { kind: 'date', param: 'birthdate', low: n, high: n + 1000 },
      { kind: 'quantity', param: 'weight', value: n, high: n * 2 },
      { kind: 'token', param: 'gender', code: 'male' },
    ];
    const ids = Array.from({ length: 200 }, (_, n) => n);
    await store.write(ids.map((n) => put(`p${n}`, 0, 'x', n === 7 ? [] : entries(1000 + n))));
    expect(await named('resource').findOne({ _id: 'Patient/p3' })).toMatchObject({
      o0: 'a1003',
      d0: 'b1003',
      o1: new Date(1003),
      d1: new Date(2003),
      o2: 1003,
      d2: 2006,
    });
    for (const [field, direction] of [
      ['o0', 1],
      ['d0', -1],
      ['o1', 1],
      ['d2', -1],
    ] as const) {
      const page = named('resource')
        .find({ type: 'Patient', [field]: { $exists: true } }, { projection: { id: 1 } })
        .sort({ [field]: direction, _id: 1 })
        .limit(5);
      const found = (await page.clone().toArray()).map(({ id }) => id);
      expect(found).toEqual((direction === 1 ? [0, 1, 2, 3, 4] : [199, 198, 197, 196, 195]).map((n) => `p${n}`));
      const { executionStats } = await page.explain('executionStats');
      expect(executionStats.totalKeysExamined).toBeLessThan(10);
    }
    // What has no entries any more has no slots either; past versions never have any.
    await store.write([put('p3', 1), deletion('p4', 1)]);
    for (const _id of ['Patient/p3', 'Patient/p4'])
      expect(await named('resource').findOne({ _id })).not.toHaveProperty('o0');
    expect(await named('history').findOne({ _id: 'Patient/p3/1' })).not.toHaveProperty('o0');
    await store.close();
  });

  it(
    'counts what one value finds exactly, by the index, whatever was counted before',
    { timeout: 60_000 },
    async () => {
      // Two entries of one value are one resource.
      const entries = ['s', 't'].map((system): IndexEntry => ({ kind: 'token', param: 'code', system, code: 'x' }));
      const count = async (): Promise<number | undefined> => {
        const where = { param: 'code', any: [{ is: 'token', code: 'x' }] } as const;
        return (await store.find({ type: 'Patient', where, sort: [], count: 0, total: 'accurate' })).total;
      };
      const ids = Array.from({ length: 3000 }, (_, n) => `p${n}`);
      const create = (from: number, to: number) =>
        store.write(ids.slice(from, to).map((id) => put(id, 0, 'x', entries)));
      const remove = (from: number, to: number) => store.write(ids.slice(from, to).map((id) => deletion(id, 1)));
      expect(await count()).toBe(0);
      await create(0, 2500);
      expect([await count(), await count()]).toEqual([2500, 2500]);
      await create(2500, 3000);
      expect(await count()).toBe(3000);
      // Fewer than were skipped.
      await remove(0, 1500);
      expect(await count()).toBe(1500);
      await remove(1500, 3000);
      expect(await count()).toBe(0);
    },
  );

  it('a small resource with index entries that fit into no document was a defect', async () => {
    const entries = Array.from({ length: 110_000 }, (_, n): IndexEntry => {
      const text = `given name ${n}, and ${n * 7} more of them that are as long as names get in some places of this world`;
      return { kind: 'string', param: 'given', text, folded: text };
    });
    for (const changes of [[put('a', 0, 'x', entries)], [put('b', 0), put('a', 0, 'x', entries)]]) {
      await expect(store.write(changes)).rejects.toMatchObject({ code: 'resource-too-large', status: 413 });
    }
    expect(await store.read('Patient', 'b')).toBeUndefined();
  });

  it('what was stored could not be replaced where it nearly filled its document', { timeout: 60_000 }, async () => {
    let stored = 0;
    for (const spare of [1500, 700, 500, 400, 300, 150]) {
      const id = `p${spare}`;
      try {
        await store.write([put(id, 0, 'x'.repeat(16 * 1024 * 1024 - spare))]);
      } catch (error) {
        expect(error).toMatchObject({ code: 'resource-too-large' });
        continue;
      }
      stored++;
      await store.write([deletion(id, 1)]);
      expect((await store.readVersion('Patient', id, 1))?.json?.length).toBeGreaterThan(16_000_000);
    }
    expect(stored).toBeGreaterThan(0);
    expect(stored).toBeLessThan(6);
  });

  it('a resource that fits into no document is refused as too large, alone or among others', async () => {
    const large = put('large', 0, 'x'.repeat(16 * 1024 * 1024 - 100));
    const many = put('many', 0);
    const words: IndexEntry[] = Array.from({ length: 18_000 }, (_, n) => ({
      kind: 'uri',
      param: 'u',
      value: `${n}-`.padEnd(1000, 'word'),
    }));
    for (const changes of [[large], [put('a', 0), large], [{ ...many, entries: words }]]) {
      await expect(store.write(changes)).rejects.toMatchObject({ code: 'resource-too-large', status: 413 });
    }
    expect(await store.counts()).toEqual(new Map());
    // That an old version and a new one are large does not make a write too large.
    const fits = (expected: number): Put => put('fits', expected, 'x'.repeat(9_000_000));
    // Other tests keep the server's small cache busy, too.
    const patient = subject.keep(await openMongoStore(subject.url, { operationTime: 60_000 }));
    await patient.write([fits(0)]);
    await patient.write([fits(1), put('b', 0, 'y'.repeat(1_000_000))]);
    expect((await store.read('Patient', 'fits'))?.version).toBe(2);
  }, 120_000);

  it('a write that the server could not finish went on there when the client was told that it failed', async () => {
    // Whoever inserts the same outside of a transaction is kept trying by the server until this one is over.
    const session = client.startSession();
    session.startTransaction();
    await named('resource').insertOne({ _id: 'Patient/a' }, { session });
    const hurried = subject.keep(await openMongoStore(subject.url, { operationTime: 1000 }));
    await expect(hurried.write([put('a', 0)])).rejects.toMatchObject({
      code: 'store-busy',
      message: expect.stringContaining('wrote nothing of it') as unknown,
    });
    await session.abortTransaction();
    await session.endSession();
    await sleep(1000);
    expect(await store.read('Patient', 'a')).toBeUndefined();
  });

  it('every command of a write says how long it may take', async () => {
    const without: string[] = [];
    const told = new Set<string>();
    const bounded = subject.keep(
      await openMongoStore(subject.url, {
        onCommand(name, command) {
          const about = String(command[name]);
          if (!/^(?:find|insert|update|delete)$/.test(name) || !/^(?:resource|history|lock)$/.test(about)) return;
          told.add(`${name} ${about}`);
          if (command['maxTimeMS'] === undefined) without.push(`${name} ${about}`);
        },
      }),
    );
    const many = (expected: number): Put => ({
      ...put('many', expected),
      entries: Array.from({ length: 400 }, (_, n) => ({ kind: 'uri', param: 'u', value: `${expected} ${n}` })),
    });
    await bounded.write([put('a', 0)]);
    await bounded.write([many(0)]);
    await bounded.write([put('a', 1), many(1), put('b', 0)], [{ type: 'Patient', where: { ids: ['x'] }, found: [] }]);
    await bounded.write([deletion('a', 2)]);
    await bounded.reindex([{ type: 'Patient', id: 'b', version: 1, entries: [] }]);
    await subject.close(bounded);
    expect(without).toEqual([]);
    expect([...told].sort()).toEqual([
      'delete resource',
      'find resource',
      'insert history',
      'insert resource',
      'update history',
      'update lock',
      'update resource',
    ]);
  });

  it('what BSON cannot hold is refused before anything is written', async () => {
    const content = { resourceType: 'Patient', id: 'a', 'x\0y': 1 };
    const body = { head: '{"resourceType":"Patient","id":"a","meta":{', tail: '},"x\\u0000y":1}' };
    const change: Put = { type: 'Patient', id: 'a', expected: 0, body, content, entries: [] };
    await expect(store.write([change])).rejects.toMatchObject({ code: 'json-forbidden-key' });
    await expect(store.write([put('b', 0), change])).rejects.toMatchObject({ code: 'json-forbidden-key' });
    expect(await store.counts()).toEqual(new Map());
  });

  it('takes the deepest resource that it does not refuse', async () => {
    const nested = (depth: number): Put => {
      const text = '{"a":['.repeat(depth / 2) + ']}'.repeat(depth / 2);
      const content = { resourceType: 'Patient', id: 'a', v: JSON.parse(text) as object } as unknown as Put['content'];
      const body = { head: '{"resourceType":"Patient","id":"a","meta":{', tail: `},"v":${text}}` };
      return { type: 'Patient', id: 'a', expected: 0, body, content, entries: [] };
    };
    await expect(store.write([nested(160)])).rejects.toMatchObject({ code: 'json-depth' });
    const [written] = await store.write([nested(158)]);
    expect(await store.read('Patient', 'a')).toEqual(written);
  });

  it('parallel updates of one resource from two processes take few transactions', { timeout: 60_000 }, async () => {
    const each = 100;
    const children = await Promise.all(['x', 'y'].map((name) => startChild(subject.url, 'update', name, each)));
    for (const child of children) child.begin();
    for (const { ended } of children) expect(await ended).toBe(0);
    expect((await store.history({ type: 'Patient', id: 'shared', count: 0 })).total).toBe(2 * each);
    const transactions = children.map(({ said: [result] }) => (result as { transactions: number }).transactions);
    expect(transactions.reduce((sum, n) => sum + n)).toBeLessThanOrEqual(2 * children.length * 2 * each);
  });

  it('what dead uploads and deleted blobs leave is removed after the grace, and nothing else', async () => {
    const bytes = async function* (length: number): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(length);
    };
    await store.blobs.put('kept', bytes(600_000), 1e9);
    await store.blobs.put('replaced', bytes(300_000), 1e9);
    await store.blobs.put('replaced', bytes(10), 1e9);
    await store.blobs.put('deleted', bytes(300_000), 1e9);
    await store.blobs.delete('deleted');
    const child = await startChild(subject.url, 'fault', 'piece');
    child.begin();
    expect(await child.ended).toBe('SIGKILL');
    expect(await db.collection('blob.files').countDocuments()).toBe(5);
    await openMongoStoreFor({ blobGrace: 60_000, cleanInterval: 10 });
    await sleep(200);
    expect(await db.collection('blob.files').countDocuments()).toBe(5);
    await openMongoStoreFor({ blobGrace: 1, cleanInterval: 10 });
    await expect.poll(() => db.collection('blob.files').countDocuments()).toBe(2);
    expect(await db.collection('blob.chunks').countDocuments()).toBe(4);
    expect((await store.blobs.list('')).map(({ key, size }) => [key, size])).toEqual([
      ['kept', 600_000],
      ['replaced', 10],
    ]);
  });

  it('an upload that stood still beyond the grace fails, and what was there before stays', async () => {
    await store.blobs.put('k', pieces(1), 1e9);
    const hasty = await openMongoStoreFor({ blobGrace: 20, cleanInterval: 10 });
    await expect(hasty.blobs.put('k', pieces(3, removed), 1e9)).rejects.toMatchObject({ code: 'store-unavailable' });
    expect((await store.blobs.get('k'))?.size).toBe(262_144);

    /** Until nothing is left of the upload. */
    async function removed(): Promise<void> {
      await sleep(100);
      await expect.poll(() => db.collection('blob.files').countDocuments()).toBe(1);
    }
    async function* pieces(count: number, pause?: () => Promise<void>): AsyncGenerator<Uint8Array> {
      for (let n = 0; n < count; n++) {
        yield new Uint8Array(262_144);
        await pause?.();
      }
    }
  });

  it('blobs are what GridFS has', async () => {
    const { GridFSBucket } = await import('mongodb');
    await store.blobs.put('k', (async function* () { yield new Uint8Array(600_000).fill(7); })(), 1e9); // prettier-ignore
    const parts: Uint8Array[] = [];
    for await (const part of new GridFSBucket(db, { bucketName: 'blob' }).openDownloadStreamByName('k'))
      parts.push(part);
    expect(Buffer.concat(parts).equals(Buffer.alloc(600_000, 7))).toBe(true);
  });

  it('a walk goes on when its snapshot is gone', async () => {
    for (let n = 0; n < 5; n++) await store.write([put('a', n), put(`b${n}`, 0)]);
    const first = await store.history({ count: 3 });
    await store.write([put('a', 5), put('late', 0)]);
    // The same place, of a moment that the server has long forgotten.
    const [place, numbers = ''] = (first.next ?? '').split('~');
    const after = `${place}~${numbers.replace(/\.[^.]*\.[^.]*$/, '.1.1')}`;
    const rest = await store.history({ count: 20, after });
    expect(rest.versions).toHaveLength(7);
    expect(rest).toMatchObject({ total: 10, complete: first.complete });
    const shown = [...first.versions, ...rest.versions].map(({ id, version }) => `${id} ${version}`);
    expect(new Set(shown).size).toBe(10);
    expect(shown).not.toContain('late 1');
  });

  it('deletions that are counted off, and nothing else, come from the index of deletions', async () => {
    await store.write([put('a', 0), put('b', 0), put('c', 0, 'x', [], 'Basic')]);
    await store.write([deletion('a', 1), deletion('c', 1, 'Basic')]);
    expect(await store.counts()).toEqual(new Map([['Patient', 1]]));
    await store.write([put('a', 2)]);
    expect(await store.counts()).toEqual(new Map([['Patient', 2]]));
  });

  it('no query of its own looks at much more than it returns', async () => {
    await store.write(Array.from({ length: 300 }, (_, n) => put(`r${n}`, 0)));
    for (let n = 0; n < 10; n++) await store.write(Array.from({ length: 30 }, (_, i) => put(`r${i}`, n + 1)));
    await db.setProfilingLevel('all');
    await store.read('Patient', 'r5');
    await store.readVersion('Patient', 'r5', 3);
    await store.history({ type: 'Patient', id: 'r5', count: 5 });
    const { next = '' } = await store.history({ count: 20 });
    await store.history({ count: 20, after: next });
    await store.history({ type: 'Patient', count: 20 });
    await store.scan(undefined, 20);
    await db.setProfilingLevel('off');
    const seen = await db
      .collection('system.profile')
      .find({ ns: /\.(?:resource|history)$/, op: 'query' })
      .toArray();
    expect(seen.length).toBeGreaterThan(10);
    for (const { docsExamined, nreturned, keysExamined, command } of seen) {
      const text = BSON.EJSON.stringify(command as object);
      // Thirty were written within one millisecond, among which a page finds its place one by one.
      expect(docsExamined, text).toBeLessThanOrEqual((nreturned as number) + 30);
      expect(keysExamined, text).toBeLessThanOrEqual((nreturned as number) + 35);
    }
  });

  async function openMongoStoreFor(options: Parameters<typeof openMongoStore>[1]): Promise<Store> {
    return subject.keep(await openMongoStore(subject.url, options));
  }
});
