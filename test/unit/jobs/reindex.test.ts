import { describe, expect, it } from 'vitest';

import type { SearchRow, SearchTable } from '../../../runtime/contract/search.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { readIndexStatus, markWriter, watchIndexStatus } from '../../../runtime/core/definitions/index-status.js';
import { openReindexRecord } from '../../../runtime/jobs/reindex/reindex-record.js';
import { reindexType, type ReindexJob } from '../../../runtime/jobs/reindex/reindex.js';
import { IS_CUT } from '../../../runtime/indexing/contained.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { describeIndex } from '../../../runtime/indexing/index-record.js';
import { EVERYTHING, type Condition } from '../../../runtime/search/query/query.js';
import type { Reindexed } from '../../../runtime/store/store.js';
import { put } from '../../contract/subject.js';
import { createToyStore } from '../../toy/store.js';

const row = (code: string, path = code): SearchRow => ({
  code,
  type: 'token',
  url: `urn:${code}`,
  paths: [{ text: path, steps: [{ get: path }], types: ['code'] }],
});
const tables = (path: string, tag = 'tag'): SearchTable[] => [
  { type: 'Resource', parameters: [row('_tag', tag)] },
  { type: 'Basic', base: 'Resource', parameters: [row('code', path)] },
  { type: 'Patient', base: 'Resource', parameters: [row('gender', path)] },
];
const [before, after, third] = ['one', 'two', 'three'].map((path) => describeIndex(tables(path), 'UTC')) as [
  ReturnType<typeof describeIndex>,
  ReturnType<typeof describeIndex>,
  ReturnType<typeof describeIndex>,
];

/** Entries that tell by what they were made. */
const madeBy =
  (name: string) =>
  ({ id = '', resourceType }: Resource): IndexEntry[] => [
    { kind: 'token', param: resourceType === 'Basic' ? 'code' : 'gender', code: `${name} ${String(id)}` },
  ];

async function filledStore(count: number) {
  const store = createToyStore();
  await readIndexStatus(store, before);
  for (let n = 0; n < count; n++) await store.write([put(`b${n}`, 0, 'x', [], 'Basic')]);
  await store.write([put('p', 0)]);
  return store;
}

async function jobOn(store: ReturnType<typeof createToyStore>, more: Partial<ReindexJob> = {}): Promise<ReindexJob> {
  const record = await openReindexRecord(store, after);
  return {
    ...DEFAULT_SERVICES,
    ...{ store, record, extract: madeBy('new'), signal: new AbortController().signal },
    persist: (action) => action(),
    onStep: () => {},
    ...more,
  };
}

async function foundBy(store: ReturnType<typeof createToyStore>, type: string, param: string, code: string) {
  const where = { param, any: [{ is: 'token' as const, code }] };
  return (await store.find({ type, where, sort: [], count: 1000, total: 'none' })).versions.length;
}

describe('kiln reindex (decisions.md, index currency)', () => {
  it('all types: entries are new, the record says so, the warnings end', async () => {
    const store = await filledStore(30);
    await markWriter(store, after);
    const currency = watchIndexStatus(store, after, await readIndexStatus(store, after), clock());
    expect(await currency.notCurrent()).toEqual(['Basic.code', 'Patient.gender']);
    const job = await jobOn(store);
    expect(await reindexType('Basic', job)).toBe(30);
    expect(await reindexType('Patient', job)).toBe(1);
    await job.record.settle(['Basic', 'Patient'], ['Basic', 'Patient']);
    expect([
      await foundBy(store, 'Basic', 'code', 'new b7'),
      await foundBy(store, 'Patient', 'gender', 'new p'),
    ]).toEqual([1, 1]);
    expect(await currency.notCurrent()).toEqual([]);
    expect(await readIndexStatus(store, after)).toEqual([]);
    expect((await store.maps.entries('reindex')).size).toBe(0);
  });

  it('one type settles its own rows; what it inherits is settled with the last type', async () => {
    const store = await filledStore(2);
    const changed = describeIndex(tables('two', 'other'), 'UTC');
    const record = await openReindexRecord(store, changed);
    const job = { ...(await jobOn(store)), record };
    await reindexType('Patient', job);
    await record.settle(['Patient'], ['Basic', 'Patient']);
    expect(await readIndexStatus(store, changed)).toEqual(['Resource._tag', 'Basic.code', '_contained']);
    await reindexType('Basic', job);
    await record.settle(['Basic'], ['Basic', 'Patient']);
    expect(await readIndexStatus(store, changed)).toEqual([]);
  });

  it('what was written before there were entries of what is contained is found by it afterwards', async () => {
    const store = await filledStore(1);
    const { _contained, ...rows } = before.record().rows;
    await store.maps.swap('index', 'record', JSON.stringify(before.record()), JSON.stringify({ whole: 'old', rows }));
    const contained = [{ resourceType: 'Patient', id: 'within' }];
    const body = {
      head: '{"resourceType":"Basic","id":"c","meta":{',
      tail: `},"contained":${JSON.stringify(contained)}}`,
    };
    await store.write([{ ...put('c', 0, 'x', [], 'Basic'), body }]);
    expect(await readIndexStatus(store, before)).toEqual(['_contained']);
    const found = (): Promise<number> => foundBy(store, '#Patient', 'gender', 'new within');
    expect(await found()).toBe(0);
    const record = await openReindexRecord(store, before);
    const job = { ...(await jobOn(store)), record };
    await reindexType('Basic', job);
    await record.settle(['Basic'], ['Basic', 'Patient']);
    expect([await found(), await readIndexStatus(store, before)]).toEqual([1, ['_contained']]);
    await reindexType('Patient', job);
    await record.settle(['Patient'], ['Basic', 'Patient']);
    expect(await readIndexStatus(store, before)).toEqual([]);
  });

  it('makes no more anew at once than what is within it allows', async () => {
    const store = createToyStore();
    const contained = Array.from({ length: 4000 }, (_, n) => ({ resourceType: 'Patient', id: `m${n}` }));
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      const head = `{"resourceType":"Basic","id":"${id}","meta":{`;
      const body = { head, tail: `},"contained":${JSON.stringify(contained)}}` };
      await store.write([{ ...put(id, 0, 'x', [], 'Basic'), body }]);
    }
    const pieces: number[] = [];
    const watched = { ...store, reindex: (all: readonly Reindexed[]) => (pieces.push(all.length), store.reindex(all)) };
    expect(await reindexType('Basic', { ...(await jobOn(store)), store: watched })).toBe(5);
    expect(pieces).toEqual([2, 2, 1]);
  });

  it('of what contains more than is found it tells once, and goes on', async () => {
    const store = await filledStore(1);
    const contained = Array.from({ length: 5001 }, (_, n) => ({ resourceType: 'Patient', id: `m${n}` }));
    const body = {
      head: '{"resourceType":"Basic","id":"c","meta":{',
      tail: `},"contained":${JSON.stringify(contained)}}`,
    };
    await store.write([{ ...put('c', 0, 'x', [], 'Basic'), body }, put('d', 0, 'x', [], 'Basic')]);
    const told: string[] = [];
    const onUnindexed: ReindexJob['onUnindexed'] = ({ type, id }, reason) => told.push(`${type}/${id}: ${reason}`);
    expect(await reindexType('Basic', await jobOn(store, { onUnindexed }))).toBe(3);
    expect(told).toEqual(['Basic/c: more than 5000, or too much, is contained in it']);
    const count = async (type: string, where: Condition) =>
      (await store.find({ type, where, sort: [], count: 0, total: 'accurate' })).total;
    expect([await count('#Patient', EVERYTHING), await count('Basic', IS_CUT)]).toEqual([5000, 1]);
  });

  it('what was stopped goes on where it was', async () => {
    const store = await filledStore(60);
    const stop = new AbortController();
    const seen: string[] = [];
    const extract = (resource: Resource): IndexEntry[] => {
      seen.push(String(resource['id']));
      if (seen.length === 5) stop.abort('SIGINT');
      return madeBy('new')(resource);
    };
    await expect(reindexType('Basic', await jobOn(store, { extract, signal: stop.signal }))).rejects.toBe('SIGINT');
    expect(seen).toHaveLength(20);
    expect(await reindexType('Basic', await jobOn(store, { extract }))).toBe(40);
    expect(new Set(seen).size).toBe(60);
    expect(seen).toHaveLength(60);
    // Done is done, until all is.
    expect(await reindexType('Basic', await jobOn(store, { extract }))).toBe(0);
  });

  it('two at once do no harm', async () => {
    const store = await filledStore(50);
    const [one, two] = await Promise.all([jobOn(store), jobOn(store)]);
    await Promise.all(
      [one, two].map(async (job) => {
        for (const type of ['Basic', 'Patient']) await reindexType(type, job);
        await job.record.settle(['Basic', 'Patient'], ['Basic', 'Patient']);
      }),
    );
    expect(await readIndexStatus(store, after)).toEqual([]);
    expect(await foundBy(store, 'Basic', 'code', 'new b49')).toBe(1);
  });

  it('what somebody writes meanwhile keeps the entries of that write', async () => {
    const store = await filledStore(3);
    const reindex: typeof store.reindex = async (items) => {
      await store.write([
        { ...put('b1', 1, 'y', [], 'Basic'), entries: madeBy('written')({ resourceType: 'Basic', id: 'b1' }) },
      ]);
      return store.reindex(items);
    };
    expect(await reindexType('Basic', await jobOn(store, { store: { find: store.find, reindex } }))).toBe(2);
    expect(await foundBy(store, 'Basic', 'code', 'written b1')).toBe(1);
  });

  it('a server with other definitions that begins to write meanwhile ends it', async () => {
    const store = await filledStore(3);
    await markWriter(store, after);
    const job = await jobOn(store);
    await reindexType('Basic', job);
    await markWriter(store, third);
    await expect(job.record.settle(['Basic'], ['Basic', 'Patient'])).rejects.toThrow(
      'a server with others has begun to write',
    );
    // And what was done before counts no more.
    expect(await (await openReindexRecord(store, after)).read('Basic')).toMatchObject({ isDone: false });
  });
});

describe('definitions that come and go', () => {
  it('those of before were taken for current, whatever had been written by others: they are mixed', async () => {
    const store = await filledStore(1);
    await markWriter(store, before);
    expect(await readIndexStatus(store, before)).toEqual([]);
    await markWriter(store, after);
    await markWriter(store, after);
    expect(await readIndexStatus(store, after)).toEqual(['Basic.code', 'Patient.gender']);
    await markWriter(store, before);
    expect(await readIndexStatus(store, before)).toEqual(['Basic.code', 'Patient.gender']);
  });

  it('a row that is gone and comes back is not current', async () => {
    const store = await filledStore(1);
    const fewer = describeIndex(tables('one').slice(0, 2), 'UTC');
    expect(await readIndexStatus(store, fewer)).toEqual([]);
    await markWriter(store, fewer);
    expect(await readIndexStatus(store, before)).toEqual(['Patient.gender']);
  });

  it('looks again after two seconds, not before', async () => {
    const store = await filledStore(1);
    let now = 0;
    const currency = watchIndexStatus(store, after, ['Basic.code'], () => now);
    const { record } = await jobOn(store);
    await record.finish('Basic');
    await record.finish('Patient');
    await record.settle([], ['Basic', 'Patient']);
    now = 1999;
    expect(await currency.notCurrent()).toEqual(['Basic.code']);
    now = 2000;
    expect(await currency.notCurrent()).toEqual([]);
  });
});

/** A clock that goes on by two seconds each time. */
function clock(): () => number {
  let now = 0;
  return () => (now += 2000);
}
