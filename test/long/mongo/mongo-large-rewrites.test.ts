import { afterAll, beforeAll, expect, it } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { tables } from '../../../generated/tables.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { CONTENT } from '../../../runtime/indexing/text/parameters.js';
import type { Put, Store } from '../../../runtime/store/store.js';
import { exampleFiles, readExample } from '../../conformance/formats/examples.js';
import { openStore } from '../../contract/open-store.js';
import { withDatabase } from '../../mongod/connection-string.js';
import { findMongod } from '../../mongod/find-mongod.js';
import { describeOnMongod } from '../../mongod/for-tests.js';
import { startReplicaSet, type ReplicaSet } from '../../mongod/replica-set.js';

/** Changes of one write. */
const MANY = 50;

/** The same where all words change, which is twice as many keys as all words. */
const FEWER = 25;

const TYPE = 'StructureDefinition';

const extract = createExtractor(tables);

describeOnMongod('fifty large definitions in one transaction', () => {
  let set: ReplicaSet;
  beforeAll(async () => {
    // A mongod whose cache is small gives up on a transaction that changes more keys than there is room for.
    set = await startReplicaSet((await findMongod()).path, 1, { cache: 0.25 });
  });
  afterAll(() => set?.stop());

  it('are created, written again as they are, with other words, and deleted', async () => {
    const store = await openStore(withDatabase(set.url, 'kiln'));
    try {
      const definitions = readDefinitions();
      const expectAll = async (version: number, word: string): Promise<void> => {
        const read = await store.readMany(definitions.map(({ id }) => ({ type: TYPE, id })));
        expect(read.map((each) => each?.version)).toEqual(definitions.map(() => version));
        expect(await found(store, word)).toBe(MANY);
      };
      await store.write(await Promise.all(definitions.map((each) => compose(each, 0))));
      await expectAll(1, 'fhir');
      await store.write(await Promise.all(definitions.map((each) => compose(each, 1))));
      await expectAll(2, 'fhir');
      expect(await found(store, 'zfhir')).toBe(0);
      const others = definitions.map((each) => JSON.parse(withOtherWords(JSON.stringify(each))) as Definition);
      for (let at = 0; at < MANY; at += FEWER) {
        await store.write(await Promise.all(others.slice(at, at + FEWER).map((each) => compose(each, 2))));
      }
      await expectAll(3, 'zfhir');
      await store.write(definitions.map(({ id }) => ({ type: TYPE, id, expected: 3 })));
      expect(await found(store, 'zfhir')).toBe(0);
    } finally {
      await store.close();
    }
  });
});

type Definition = Resource & { readonly id: string };

function readDefinitions(): readonly Definition[] {
  const texts = exampleFiles()
    .filter((file) => file.startsWith(`${TYPE}-`))
    .map((file) => readExample(file))
    .slice(0, MANY);
  expect(texts.reduce((sum, { text }) => sum + text.length, 0)).toBeGreaterThan(10_000_000);
  return texts.map(({ resource }) => resource as Definition);
}

/** Words of the content that stand for people, each with a letter before it; not what the structure needs to be one. */
function withOtherWords(json: string): string {
  return json.replace(
    /"(div|definition|comment|short|description|requirements|purpose|human|display|title|copyright|publisher|name|text|label|meaningWhenMissing|comments|map|xpath)":("(?:[^"\\]|\\.)*")/g,
    (_all, name: string, text: string) =>
      `"${name}":${text.replace(/(<[^>]*>)|\\.|\b([A-Za-z]\w*)/g, (whole: string, _tag: string, word?: string) => (word === undefined ? whole : `z${word}`))}`,
  );
}

async function compose(resource: Definition, expected: number): Promise<Put> {
  const put = await composePut(resource, resource.id, undefined, {
    ...DEFAULT_SERVICES,
    extract,
    limits: DEFAULT_LIMITS,
  });
  expect(put).toBeDefined();
  return { ...put!, expected };
}

async function found(store: Store, word: string): Promise<number | undefined> {
  const where = { param: CONTENT, words: { phrase: [word] } };
  const { total } = await store.find({ type: TYPE, where, sort: [], count: 1, total: 'accurate' });
  return total;
}
