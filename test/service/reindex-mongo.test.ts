import { expect, it } from 'vitest';

import { runProgram } from '../../runtime/cli/program.js';
import { openStore } from '../contract/open-store.js';
import { put } from '../contract/subject.js';
import { describeOnMongod, newDatabase } from '../mongod/for-tests.js';

describeOnMongod('kiln reindex on MongoDB', () => {
  it('makes entries where there are none, page by page', { timeout: 60_000 }, async () => {
    const url = newDatabase();
    const store = await openStore(url);
    const where = { param: '_tag', any: [{ is: 'token' as const, code: 'x' }] };
    const countTagged = async () =>
      (await store.find({ type: 'Patient', where, sort: [], count: 0, total: 'accurate' })).total;
    try {
      const tail = ',"tag":[{"code":"x"}]}}';
      const meta = { tag: [{ code: 'x' }] };
      for (let from = 0; from < 300; from += 100) {
        const puts = Array.from({ length: 100 }, (_, n) => put(`p${from + n}`, 0));
        await store.write(
          puts.map((each) => ({
            ...each,
            body: { ...each.body, tail },
            content: { ...each.content, meta },
          })),
        );
      }
      expect(await countTagged()).toBe(0);
      const out: string[] = [];
      const terminal = { out: (line: string) => void out.push(line), err: () => {}, env: {} };
      expect(await runProgram(['reindex', '--store', url], terminal)).toBe(0);
      expect(out).toEqual([expect.stringMatching(/^300 resources indexed anew in /)]);
      expect(await countTagged()).toBe(300);
    } finally {
      await store.close();
    }
  });
});
