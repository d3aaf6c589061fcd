import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { contentOf, runKiln } from './copy-subject.js';

describeOnMongod('the official examples, copied to MongoDB and back', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-examples-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are the same, to the text of every number', async () => {
    const [from, back] = ['from', 'back'].map((name) => `sqlite:${join(folder, `${name}.db`)}`) as [string, string];
    const mongo = newDatabase();
    const loaded = await runKiln('load', 'test/packages/node_modules/hl7.fhir.r5.examples', '--store', from);
    // A Bundle of 39 MB is larger than any resource may be, 161 break the rule que-2, and two scs-1 of a profile that they claim.
    expect(loaded.out).toMatch(/^2658 resources .* 164 failed/);
    expect(await runKiln('copy', '--from', from, '--to', mongo)).toMatchObject({ code: 0 });
    expect(await runKiln('copy', '--from', mongo, '--to', back)).toMatchObject({ code: 0 });
    const [original, returned] = await Promise.all(
      [from, back].map(async (url) => {
        const store = await openStore(url);
        try {
          return await contentOf(store);
        } finally {
          await store.close();
        }
      }),
    );
    expect(original!.versions).toHaveLength(2658);
    for (const [i, version] of original!.versions.entries()) expect(returned!.versions[i]).toEqual(version);
    expect(returned).toEqual(original);
  });
});
