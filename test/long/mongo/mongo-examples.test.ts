import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { openMongoStore } from '../../../runtime/store/mongo/mongo-store.js';
import type { Put, Store, StoredVersion } from '../../../runtime/store/store.js';
import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { composeExamples, writeInPieces } from '../example-puts.js';
import { contentOf, runKiln } from '../jobs/copy-subject.js';

/** Resources that are read together. */
const AT_ONCE = 50;

describeOnMongod('all official examples', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-examples-'));
  let puts: readonly Put[];
  beforeAll(async () => {
    const composed = await composeExamples();
    // A Bundle of 39 MB is larger than any resource may be.
    expect(composed.refused).toEqual(['resource-too-large']);
    expect(composed.puts.length).toBeGreaterThan(2800);
    ({ puts } = composed);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('come back from MongoDB as they do from SQLite, number for number, each version', async () => {
    // On a busy machine a piece takes longer to be written than a client usually waits.
    const mongo = await openMongoStore(newDatabase(), { operationTime: 120_000 });
    const sqlite = await openStore('sqlite::memory:');
    try {
      for (const store of [sqlite, mongo]) {
        await writeInPieces(store, puts);
        await writeInPieces(store, puts.map(renewed));
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

  it('are the same, to the text of every number, when they were copied to MongoDB and back', async () => {
    const [from, back] = ['from', 'back'].map((name) => `sqlite:${join(folder, `${name}.db`)}`) as [string, string];
    const mongo = newDatabase();
    await within(from, (store) => writeInPieces(store, puts));
    expect(await runKiln('copy', '--from', from, '--to', mongo)).toMatchObject({ code: 0 });
    expect(await runKiln('copy', '--from', mongo, '--to', back)).toMatchObject({ code: 0 });
    const original = await within(from, contentOf);
    const returned = await within(back, contentOf);
    expect(original.versions).toHaveLength(puts.length);
    for (const [i, version] of original.versions.entries()) expect(returned.versions[i]).toEqual(version);
    expect(returned).toEqual(original);
  });
});

/** The same content once more, so that the first becomes a past version. */
function renewed(put: Put): Put {
  return { ...put, expected: 1 };
}

/** Without what differs by the time of the write. */
function plain(stored: StoredVersion | undefined): object | undefined {
  if (stored === undefined) return undefined;
  const { json, lastUpdated, ...rest } = stored;
  return { ...rest, json: json?.replace(new Date(lastUpdated).toISOString(), 'TIME') };
}

async function within<T>(url: string, action: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url);
  try {
    return await action(store);
  } finally {
    await store.close();
  }
}
