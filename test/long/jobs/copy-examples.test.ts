import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { composeExamples, writeInPieces } from '../example-puts.js';
import { contentOf, runKiln } from './copy-subject.js';

describeOnMongod('the official examples, copied to MongoDB and back', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-examples-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are the same, to the text of every number', async () => {
    const [from, back] = ['from', 'back'].map((name) => `sqlite:${join(folder, `${name}.db`)}`) as [string, string];
    const mongo = newDatabase();
    const { puts, refused } = await composeExamples();
    // A Bundle of 39 MB is larger than any resource may be.
    expect(refused).toEqual(['resource-too-large']);
    await within(from, (store) => writeInPieces(store, puts));
    expect(await runKiln('copy', '--from', from, '--to', mongo)).toMatchObject({ code: 0 });
    expect(await runKiln('copy', '--from', mongo, '--to', back)).toMatchObject({ code: 0 });
    const original = await within(from, contentOf);
    const returned = await within(back, contentOf);
    expect(original.versions).toHaveLength(puts.length);
    expect(puts.length).toBeGreaterThan(2800);
    for (const [i, version] of original.versions.entries()) expect(returned.versions[i]).toEqual(version);
    expect(returned).toEqual(original);
  });
});

async function within<T>(url: string, action: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url);
  try {
    return await action(store);
  } finally {
    await store.close();
  }
}
