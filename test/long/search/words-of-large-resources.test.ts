import { describe, expect, it } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { tables } from '../../../generated/tables.js';
import { copyVersions } from '../../../runtime/cli/copy/copy-versions.js';
import { openCopyRecord } from '../../../runtime/cli/copy/copy-record.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import { openReindexRecord } from '../../../runtime/jobs/reindex/reindex-record.js';
import { reindexType, type ReindexJob } from '../../../runtime/jobs/reindex/reindex.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { describeIndex } from '../../../runtime/indexing/index-record.js';
import type { Store } from '../../../runtime/store/store.js';
import { idsOf, query } from '../../contract/search/behaviour-search-helpers.js';
import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';

const extract = createExtractor(tables);
const MB = 1024 * 1024;

/** Words of which few are alike, and so much besides that the limit is near. */
const large: Resource = {
  resourceType: 'Basic',
  id: 'large',
  code: { text: 'short' },
  extension: [
    { url: 'urn:words', valueString: Array.from({ length: 60_000 }, (_, n) => `w${n.toString(36)}`).join(' ') },
    { url: 'urn:rest', valueBase64Binary: 'QUJD'.repeat((14.45 * MB) / 4) },
  ],
};

const has = (word: string, param = '_content') => query('Basic', { where: { param, words: { phrase: [word] } } });

function behaviour(open: () => Promise<Store>): void {
  it('is stored, reindexed and copied with the words that there is room for', { timeout: 120_000 }, async () => {
    const [store, target] = [await open(), await open()];
    try {
      const put = (await composePut(large, 'large', undefined, {
        ...DEFAULT_SERVICES,
        extract,
        limits: DEFAULT_LIMITS,
      }))!;
      await store.write([put]);
      const expectFound = async (where: Store): Promise<void> => {
        expect(idsOf(await where.find(has('short', 'code')))).toEqual(['large']);
        expect(idsOf(await where.find(has('w1')))).toEqual(['large']);
        expect(idsOf(await where.find(has(`w${(59_999).toString(36)}`)))).toEqual([]);
      };
      await expectFound(store);
      const signal = new AbortController().signal;
      const record = await openReindexRecord(store, describeIndex(tables.search, 'UTC'));
      const job: ReindexJob = {
        ...DEFAULT_SERVICES,
        ...{ store, record, extract, signal },
        persist: (action) => action(),
        onStep: () => {},
      };
      expect(await reindexType('Basic', job)).toBe(1);
      await expectFound(store);
      await copyVersions({
        ...{ source: store, target, extract, knownTypes: new Set(['Basic']), signal },
        record: await openCopyRecord(store, target, 'a'),
        complete: 0,
        room: Infinity,
        onStep: () => {},
        onUnindexed: (_version, reason) => expect.unreachable(reason),
      });
      await expectFound(target);
    } finally {
      await store.close();
      await target.close();
    }
  });
}

// Words were counted as they are in the text alone, and a document has them twice.
describe('a resource near the limit, in SQLite', () => behaviour(() => openStore('sqlite::memory:')));
describeOnMongod('a resource near the limit, in MongoDB', () => behaviour(() => openStore(newDatabase())));
