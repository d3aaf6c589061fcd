import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { readIndexStatus } from '../../../runtime/core/definitions/index-status.js';
import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { openReindexRecord } from '../../../runtime/jobs/reindex/reindex-record.js';
import { reindexType, type ReindexJob } from '../../../runtime/jobs/reindex/reindex.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { createExtractor, createValueExtractor } from '../../../runtime/indexing/extract.js';
import { describeIndex } from '../../../runtime/indexing/index-record.js';
import type { WordsTest } from '../../../runtime/search/query/query.js';
import type { Store } from '../../../runtime/store/store.js';
import { idsOf, query } from '../../contract/search/behaviour-search-helpers.js';
import { openStore } from '../../contract/open-store.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-words-'));
afterAll(() => rmSync(folder, { recursive: true }));

const maker = describeIndex(tables.search, 'UTC');
const WORDS = ['Composition.section-text', 'DomainResource._text', 'Resource._content', 'Resource._text'];
const find = async (store: Store, words: WordsTest) =>
  idsOf(await store.find(query('Patient', { where: { param: '_content', words } })));

/** By what entries were made before there were words: the rows of words were no others then, but meant nothing. */
const before = {
  whole: 'before',
  own: maker.own,
  record: () => {
    const rows = Object.entries(maker.record().rows).map(([name, hash]) => [name, WORDS.includes(name) ? 'old' : hash]);
    return { whole: 'before', rows: Object.fromEntries(rows) as Record<string, string> };
  },
};

it('a store whose entries were made before full text says that its words are missing, and has them after a reindex', async () => {
  const file = join(folder, 'old.db');
  const content: Resource = { resourceType: 'Patient', id: 'p', name: [{ family: 'Chalmers' }] };
  let store = await openStore(`sqlite:${file}`);
  await readIndexStatus(store, before);
  const body = { head: '{"resourceType":"Patient","id":"p","meta":{', tail: '},"name":[{"family":"Chalmers"}]}' };
  const entries = createValueExtractor(tables)(content);
  await store.write([{ type: 'Patient', id: 'p', expected: 0, body, content, entries }]);
  await store.close();
  store = await openStore(`sqlite:${file}`);
  expect((await readIndexStatus(store, maker)).sort()).toEqual(WORDS);
  expect(await find(store, { phrase: ['chalmers'] })).toEqual([]);
  const record = await openReindexRecord(store, maker);
  const job: ReindexJob = {
    ...DEFAULT_SERVICES,
    ...{ store, record, extract: createExtractor(tables), signal: new AbortController().signal },
    persist: (action) => action(),
    onStep: () => {},
  };
  expect(await reindexType('Patient', job)).toBe(1);
  await record.settle(['Patient'], ['Patient']);
  expect(await readIndexStatus(store, maker)).toEqual([]);
  expect(await find(store, { phrase: ['chalmers'] })).toEqual(['p']);
  await store.close();
});
