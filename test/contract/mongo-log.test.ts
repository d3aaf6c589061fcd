import { MongoClient } from 'mongodb';
import { expect, it, vi } from 'vitest';

import type { Store } from '../../runtime/store/store.js';
import { EVENTUALLY } from '../eventually.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { onMongo } from './on-mongo.js';
import { put, useStore } from './subject.js';

describeOnMongod('the log on MongoDB', () => {
  const subject = useStore(onMongo);

  async function readUntil({ log }: Store, from: number, count: number): Promise<string[]> {
    return vi.waitFor(async () => {
      const all = await log.read(from, 1000);
      expect(all?.length).toBeGreaterThanOrEqual(count);
      return all!.map(({ id, version, interaction }) => `${interaction} ${id}/${version}`);
    }, EVENTUALLY);
  }

  it('makes up for a stream whose place the server has forgotten: each version once', async () => {
    const { store } = subject;
    const from = await store.log.end();
    await store.write([put('a', 0)]);
    await store.write([put('b', 0)]);
    await readUntil(store, from, 2);
    await subject.close(store);
    const client = new MongoClient(subject.url);
    const log = client.db().collection('log');
    const { _data } = (await log.findOne({}))!['token'] as { _data: string };
    // A place of another time: after the tag come four bytes of seconds.
    const token = { _data: `${_data.slice(0, 2)}00000001${_data.slice(10)}` };
    await log.updateOne({}, { $set: { token }, $unset: { until: '' } });
    await client.close();
    const other = await subject.reopen();
    await other.write([put('c', 0)]);
    await other.write([put('a', 1)]);
    const told = await readUntil(other, from, 4);
    expect([...told].sort()).toEqual(['create a/1', 'create b/1', 'create c/1', 'update a/2']);
    expect(told.indexOf('create a/1')).toBeLessThan(told.indexOf('update a/2'));
    await other.write([put('d', 0)]);
    expect((await readUntil(other, from, 5)).slice(4)).toEqual(['create d/1']);
  });

  it('makes up for a stream that was lost before it had told of anything', async () => {
    const { store } = subject;
    const from = await store.log.end();
    const client = new MongoClient(subject.url);
    const log = client.db().collection('log');
    await vi.waitFor(async () => expect(await log.findOne({ holder: { $exists: true } })).not.toBeNull(), EVENTUALLY);
    await subject.close(store);
    // It is needed again and again, and meanwhile nothing is numbered.
    const silent = await subject.reopen();
    await silent.write([put('a', 0)]);
    const token = { _data: '8200000001000000012B022C0100296E04' };
    const needed = new Date(Date.now() + 60_000);
    await log.updateOne({}, { $set: { token, needed }, $unset: { until: '' } });
    await client.close();
    expect(await readUntil(silent, from, 1)).toEqual(['create a/1']);
  });

  it('does nothing until it is needed', async () => {
    const { store } = subject;
    await store.write([put('a', 0)]);
    const client = new MongoClient(subject.url);
    expect(await client.db().collection('change').countDocuments()).toBe(0);
    expect(await client.db().collection('log').countDocuments()).toBe(0);
    await client.close();
  });

  it('forgets what is old, and says so to readers', async () => {
    const { store } = subject;
    const from = await store.log.end();
    await store.write([put('a', 0), put('b', 0)]);
    await readUntil(store, from, 2);
    await store.log.trim(from + 1, Date.now() + 60_000);
    expect(await store.log.read(from, 10)).toBeUndefined();
    expect(await store.log.read(from + 1, 10)).toHaveLength(1);
  });
});
