import { afterEach, expect, it, vi } from 'vitest';

import type { IndexEntry } from '../../runtime/indexing/entry.js';
import type { JsonValue } from '../../runtime/fhir/resource.js';
import { readJson } from '../../runtime/format/read-json.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import type { Put } from '../../runtime/store/store.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { onMongo } from './on-mongo.js';
import { deletion, put, useStore } from './subject.js';

/** Longer than a write may take from its stamp to its commit, in milliseconds. */
const TOO_LONG = 3500;

/** What BSON and the driver would like to change: texts of numbers, names of their own. */
const AWKWARD =
  '},"b":{"1":"one","2":"two"},"value":[1.50,1e3,5.0,5,-0.0,12345678901234567890],"_bsontype":"x","a":[]}';

function awkward(id: string, expected: number): Put {
  const head = `{"resourceType":"Basic","id":"${id}","meta":{`;
  const { meta: _meta, ...content } = readJson(`${head}${AWKWARD}`) as { [name: string]: JsonValue };
  const entries: IndexEntry[] = [
    { kind: 'token', param: 'code', system: 'urn:s', code: id },
    { kind: 'date', param: 'date', low: 0, high: 5 },
    { kind: 'quantity', param: 'q', value: 5, low: 4.5, unit: 'g' },
  ];
  const resource = { ...content, resourceType: 'Basic' };
  return { type: 'Basic', id, expected, body: { head, tail: AWKWARD }, content: resource, entries };
}

describeOnMongod('what MongoDB commits late is stamped anew', () => {
  const subject = useStore(onMongo);
  afterEach(() => vi.restoreAllMocks());

  it.each([3, 250])('%i resources: with all that they had', { timeout: 60_000 }, async (count) => {
    const before = await subject.store.write([put('old', 0, 'one'), put('gone', 0)]);
    const real = performance.now.bind(performance);
    let commits = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => real() + (commits > 0 ? TOO_LONG : 0));
    const slow = await subject.reopen({ onCommand: (name) => (commits += name === 'commitTransaction' ? 1 : 0) });
    const ids = Array.from({ length: count }, (_, n) => `n${n}`);
    const written = await slow.write([
      put('old', 1, 'two'),
      deletion('gone', 1),
      put('old', 2, 'three'),
      ...ids.map((id) => awkward(id, 0)),
    ]);
    vi.restoreAllMocks();
    // That of the write, and those of the stamps.
    expect(commits).toBe(1 + Math.ceil((count + 3) / 100));
    const { store } = subject;
    const stamps = written.filter(({ id }) => id !== 'old').map(({ lastUpdated }) => lastUpdated);
    expect(stamps).toEqual([...stamps].sort((a, b) => a - b));
    expect(await store.readMany(ids.map((id) => ({ type: 'Basic', id })))).toEqual(written.slice(3));
    for (const { json = '', lastUpdated } of written.slice(3)) {
      expect(json.endsWith(AWKWARD)).toBe(true);
      expect(Date.parse(JSON.parse(json).meta.lastUpdated)).toBe(lastUpdated);
    }
    // The version between the two was never current for anybody, and ends when the last one begins.
    const { versions } = await store.history({ type: 'Patient', id: 'old', count: 9 });
    expect(versions).toEqual([written[2], written[0], before[0]]);
    const { versions: then } = await store.history({
      type: 'Patient',
      id: 'old',
      count: 9,
      at: { from: written[2]!.lastUpdated - 1, to: written[2]!.lastUpdated - 1 },
    });
    expect(then).toEqual([written[0]]);
    expect((await store.read('Patient', 'gone'))?.json).toBeUndefined();
    const where = { param: 'code', any: [{ is: 'token', system: 'urn:s', code: 'n2' }] } as const;
    const found = await store.find({ type: 'Basic', where, sort: [], count: 9, total: 'accurate' });
    expect([found.total, found.versions]).toEqual([1, [written[5]]]);
    // And what was stamped can be replaced like anything else.
    expect((await store.write([awkward('n0', 1), put('old', 3)])).map(({ version }) => version)).toEqual([2, 4]);
  });

  it('what is within a resource, too', { timeout: 60_000 }, async () => {
    const real = performance.now.bind(performance);
    let commits = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => real() + (commits > 0 ? TOO_LONG : 0));
    const slow = await subject.reopen({ onCommand: (name) => (commits += name === 'commitTransaction' ? 1 : 0) });
    const contained = [{ type: 'Basic', id: 'm', entries: [] }];
    const [written] = await slow.write([{ ...put('a', 0), contained }]);
    vi.restoreAllMocks();
    expect(commits).toBe(2);
    const at = { gte: written!.lastUpdated, lte: written!.lastUpdated };
    const where = { updated: [{ low: at, high: at }] };
    const found = await subject.store.find({ type: '#Basic', where, sort: [], count: 9, total: 'none' });
    expect(found.versions).toEqual([{ ...written, type: '#Basic', id: 'Patient/a#m' }]);
  });

  it('a thousand of what is within resources at a time', { timeout: 120_000 }, async () => {
    const real = performance.now.bind(performance);
    let commits = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => real() + (commits > 0 ? TOO_LONG : 0));
    const onCommand = (name: string): void => void (commits += name === 'commitTransaction' ? 1 : 0);
    // On a busy machine a write of so much takes longer than a client usually waits.
    const slow = subject.keep(await openMongoStore(subject.url, { operationTime: 60_000, onCommand }));
    const contained = Array.from({ length: 400 }, (_, n) => ({ type: 'Basic', id: `m${n}`, entries: [] }));
    const written = await slow.write(['a', 'b', 'c'].map((id) => ({ ...put(id, 0), contained })));
    vi.restoreAllMocks();
    // That of the write, the stamps of two resources, and those of the third.
    expect(commits).toBe(3);
    const ids = written.map(({ id }) => `Patient/${id}#m399`);
    const where = { param: '.id', any: [{ is: 'token', code: 'm399' }] } as const;
    const found = await subject.store.find({ type: '#Basic', where, sort: [], count: 9, total: 'none' });
    expect(found.versions).toEqual(written.map((stored, i) => ({ ...stored, type: '#Basic', id: ids[i] })));
    const from = { gte: written[0]!.lastUpdated };
    const asked = { type: '#Basic', where: { updated: [{ low: from, high: from }] }, sort: [], count: 0 } as const;
    expect((await subject.store.find({ ...asked, total: 'accurate' })).total).toBe(1200);
  });
});
