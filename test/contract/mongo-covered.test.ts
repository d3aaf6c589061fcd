import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { Store } from '../../runtime/store/store.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { onMongo } from './on-mongo.js';
import { query } from './search/behaviour-search-helpers.js';
import { COVERED_CONDITIONS, coveredEntries, expectCovered } from './search/covered-composites.js';
import { put, useStore } from './subject.js';

describeOnMongod('composites whose parts other parameters have, on MongoDB', () => {
  const ids = Array.from({ length: 300 }, (_, n) => `r${String(n).padStart(4, '0')}`);
  const subject = useStore(onMongo);
  let store: Store;
  let client: MongoClient;
  beforeEach(() => {
    store = subject.store;
    client = new MongoClient(subject.url);
  });
  afterEach(() => client.close());

  /** How many documents have rows of parts in indexed arrays, and how many in `covered`. */
  async function places(): Promise<readonly number[]> {
    const resource = client.db().collection('resource');
    const isPart = { $in: ['code-amount$1', 'code-amount$2', 'code-amount$2{g}'] };
    const listed = { $or: [{ 'token.p': isPart }, { 'number.p': isPart }] };
    const unlisted = { 'covered.token.p': isPart, 'covered.number.p': isPart };
    return [await resource.countDocuments(listed), await resource.countDocuments(unlisted)];
  }

  it('are found by these parameters, and stand in no index', async () => {
    await store.write(ids.map((id, n) => put(id, 0, 'x', coveredEntries(n, true), 'Measured')));
    expect(await places()).toEqual([0, 270]);
    await expectCovered(store, ids);
    const { indexes } = await store.explain(query('Measured', { where: COVERED_CONDITIONS[0]!, count: 20 }));
    expect(indexes).toEqual(expect.arrayContaining([expect.stringMatching(/token|number/)]));
  });

  it('are found in documents of an older layout, and leave the indexes as they are written again', async () => {
    await store.write(ids.map((id, n) => put(id, 0, 'x', coveredEntries(n, false), 'Measured')));
    expect(await places()).toEqual([270, 0]);
    await expectCovered(store, ids);
    await store.write(ids.slice(0, 100).map((id, n) => put(id, 1, 'y', coveredEntries(n, true), 'Measured')));
    const some = ids.slice(100, 200).map((id, n) => ({ type: 'Measured', id, version: 1, entries: coveredEntries(n + 100, true), contained: [] })); // prettier-ignore
    expect(await store.reindex(some)).toBe(100);
    expect(await places()).toEqual([90, 180]);
    await expectCovered(store, ids);
  });
});
