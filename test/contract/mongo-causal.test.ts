import { MongoClient, type Document, type Timestamp } from 'mongodb';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import type { Store } from '../../runtime/store/store.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { onEmptiedMongo } from './on-mongo.js';
import { deletion, put, useStore } from './subject.js';

/** Every way to write of which somebody is told. What gives a function only prepares: that is the write. */
const WRITES: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  'a creation': (store) => store.write([put('a', 0)]),
  'several changes': (store) => store.write([put('a', 0), put('b', 0)]),
  'a restored version': (store) => store.restore([{ type: 'Patient', id: 'a', version: 1, lastUpdated: 1e12 }]),
  'a blob': (store) => store.blobs.put('k', bytes(), 100),
  'a blob deleted': async (store) => {
    await store.blobs.put('k', bytes(), 100);
    return async () => store.blobs.delete('k');
  },
  'a map entry': (store) => store.maps.swap('m', 'k', undefined, 'v'),
  'a map entry replaced': async (store) => {
    await store.maps.swap('m', 'k', undefined, 'v');
    return async () => store.maps.swap('m', 'k', 'v', 'w');
  },
  'a map entry deleted': async (store) => {
    await store.maps.swap('m', 'k', undefined, 'v');
    return async () => store.maps.delete('m', 'k');
  },
};

/** Every way to read. */
const READS: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  read: (store) => store.read('Patient', 'a'),
  readMany: (store) => store.readMany([{ type: 'Patient', id: 'a' }]),
  readVersion: (store) => store.readVersion('Patient', 'a', 7),
  history: (store) => store.history({ count: 10 }),
  scan: (store) => store.scan(undefined, 10),
  counts: (store) => store.counts(),
  'blobs.get': (store) => store.blobs.get('k'),
  'blobs.list': (store) => store.blobs.list(''),
  'maps.get': (store) => store.maps.get('m', 'k'),
  'maps.entries': (store) => store.maps.entries('m'),
  'maps.scan': (store) => store.maps.scan(undefined, 10),
  'a transaction': (store) => store.write([put('t', 0), put('u', 0)]),
};

describeOnMongod('what a MongoDB store was told is written, its reads wait for', () => {
  const subject = useStore(onEmptiedMongo);
  let client: MongoClient;
  let store: Store;
  let reads: Document[];
  beforeEach(async () => {
    client = new MongoClient(subject.url);
    reads = [];
    const onCommand = (_name: string, command: Document): void => {
      // The first of a transaction has its time, whatever it does; those after it are of the same moment.
      const isRead = 'find' in command || 'aggregate' in command;
      if ('startTransaction' in command || (isRead && !('txnNumber' in command))) reads.push(command);
    };
    store = subject.keep(await openMongoStore(subject.url, { onCommand }));
  });
  afterEach(() => client.close());

  /** The time of the last operation in the cluster. */
  async function now(): Promise<Timestamp> {
    return ((await client.db().command({ ping: 1 })) as { operationTime: Timestamp }).operationTime;
  }

  function timesOf(commands: readonly Document[]): (Timestamp | undefined)[] {
    return commands.map(({ readConcern }) => {
      const { afterClusterTime, atClusterTime } = readConcern as Record<string, Timestamp | undefined>;
      return afterClusterTime ?? atClusterTime;
    });
  }

  it.each(Object.entries(WRITES))('%s', async (_, write) => {
    let before = await now();
    const rest = await write(store);
    if (typeof rest === 'function') {
      before = await now();
      await (rest as () => Promise<unknown>)();
    }
    for (const [name, read] of Object.entries(READS)) {
      reads = [];
      await read(store);
      expect(reads.length, name).toBeGreaterThan(0);
      for (const time of timesOf(reads)) expect(time?.greaterThan(before), name).toBe(true);
      expect(timesOf(reads)[0]?.lessThanOrEqual(await now()), name).toBe(true);
    }
  });

  it('the pieces of a blob that are read later', async () => {
    await store.blobs.put('k', bytes(), 100);
    const { stream } = (await store.blobs.get('k'))!;
    const before = await now();
    await store.write([put('a', 0)]);
    reads = [];
    for await (const piece of stream) expect(piece).toHaveLength(10);
    expect(timesOf(reads).map((time) => time?.greaterThan(before))).toEqual([true]);
  });

  it('and not for what was refused, or only looked at', async () => {
    await store.write([put('a', 0)]);
    await store.read('Patient', 'a');
    const [time] = timesOf(reads);
    await subject.store.write([put('b', 0)]);
    await expect(store.write([put('a', 0)])).rejects.toThrow();
    await expect(store.write([put('a', 5), put('c', 0)])).rejects.toThrow();
    await expect(store.write([deletion('b', 3)])).rejects.toThrow();
    await store.history({ count: 10 });
    reads = [];
    await store.read('Patient', 'b');
    expect(timesOf(reads).map((each) => each?.equals(time!))).toEqual([true]);
  });

  it('a process that wrote nothing waits for nothing', async () => {
    await subject.store.write([put('a', 0)]);
    expect(await store.read('Patient', 'a')).toBeDefined();
    expect(timesOf(reads).slice(-1)).toEqual([undefined]);
  });
});

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(10);
}
