import { expect, it } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { tables } from '../../../generated/tables.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import { createExtractor } from '../../../runtime/search/extract.js';
import type { Put, Store, StoredVersion } from '../../../runtime/store/store.js';
import { exampleFiles, readExample } from '../../conformance/formats/examples.js';
import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';

/** Changes of one write. */
const AT_ONCE = 50;

describeOnMongod('all official examples', () => {
  it('come back from MongoDB as they do from SQLite, number for number, each version', async () => {
    const [sqlite, mongo] = [await openStore('sqlite::memory:'), await openStore(newDatabase())];
    try {
      const { puts, refused } = await composeAll();
      expect(puts.length).toBeGreaterThan(2800);
      // A Bundle of 39 MB.
      expect(refused).toEqual(['resource-too-large']);
      for (const store of [sqlite, mongo]) {
        await writeAll(store, puts);
        await writeAll(store, puts.map(renewed));
      }
      const keys = puts.map(({ type, id }) => ({ type, id }));
      for (let at = 0; at < keys.length; at += AT_ONCE) {
        const some = keys.slice(at, at + AT_ONCE);
        expect((await mongo.readMany(some)).map(plain)).toEqual((await sqlite.readMany(some)).map(plain));
        for (const { type, id } of some) {
          expect(plain(await mongo.readVersion(type, id, 1))).toEqual(plain(await sqlite.readVersion(type, id, 1)));
        }
      }
      expect(await mongo.counts()).toEqual(await sqlite.counts());
      expect((await mongo.history({ count: 0 })).total).toBe(2 * puts.length);
    } finally {
      await Promise.all([sqlite.close(), mongo.close()]);
    }
  });
});

/** Each example once, under its id or one of our own, as a server would write it. */
async function composeAll(): Promise<{ readonly puts: Put[]; readonly refused: string[] }> {
  const extract = createExtractor(tables);
  const puts = new Map<string, Put>();
  const refused: string[] = [];
  for (const [n, file] of exampleFiles().entries()) {
    const resource = readJson(readExample(file).text) as Resource;
    try {
      const id = typeof resource['id'] === 'string' ? resource['id'] : `example-${n}`;
      const put = await composePut(resource, id, undefined, { ...DEFAULT_SERVICES, extract, limits: DEFAULT_LIMITS });
      if (put !== undefined) puts.set(`${put.type}/${put.id}`, put);
    } catch (error) {
      refused.push((error as { code: string }).code);
    }
  }
  return { puts: [...puts.values()], refused };
}

/** The same content once more, so that the first becomes a past version. */
function renewed(put: Put): Put {
  return { ...put, expected: 1 };
}

async function writeAll(store: Store, puts: readonly Put[]): Promise<void> {
  for (let at = 0; at < puts.length; at += AT_ONCE) await store.write(puts.slice(at, at + AT_ONCE));
}

/** Without what differs by the time of the write. */
function plain(stored: StoredVersion | undefined): object | undefined {
  if (stored === undefined) return undefined;
  const { json, lastUpdated, ...rest } = stored;
  return { ...rest, json: json?.replace(new Date(lastUpdated).toISOString(), 'TIME') };
}
