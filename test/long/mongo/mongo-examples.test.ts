import { expect, it } from 'vitest';

import type { Put, StoredVersion } from '../../../runtime/store/store.js';
import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { composeExamples, writeInPieces } from '../example-puts.js';

/** Resources that are read together. */
const AT_ONCE = 50;

describeOnMongod('all official examples', () => {
  it('come back from MongoDB as they do from SQLite, number for number, each version', async () => {
    const [sqlite, mongo] = [await openStore('sqlite::memory:'), await openStore(newDatabase())];
    try {
      const { puts, refused } = await composeExamples();
      expect(puts.length).toBeGreaterThan(2800);
      // A Bundle of 39 MB.
      expect(refused).toEqual(['resource-too-large']);
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
