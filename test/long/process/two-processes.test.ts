import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { atMost } from '../../at-most.js';
import { startChild } from '../../contract/durability/children.js';

const WRITES = 400;

it('two processes on one file under load: no lost version, no busy error, a loop that is never held up', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-two-'));
  try {
    const url = `sqlite:${join(folder, 'kiln.db')}`;
    const children = await Promise.all(['x', 'y'].map((name) => startChild(url, 'load', name, WRITES)));
    const start = performance.now();
    for (const { begin } of children) begin();
    // A client that was told "busy" would end its process.
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0]);
    const seconds = (performance.now() - start) / 1000;
    for (const { said } of children) {
      const measured = said.at(-1) as { loopP99: number };
      console.info(`${((WRITES * 8) / seconds).toFixed(0)} writes of two resources a second`, measured);
      expect(measured.loopP99).toBeLessThan(atMost(50));
    }
    const store = openSqliteStore(url);
    expect(await store.history({ count: 0 })).toMatchObject({ total: 2 * 8 * 2 * WRITES });
    for (const name of ['x', 'y']) {
      for (let n = 0; n < 8; n++) expect((await store.read('Patient', `${name}-${n}`))?.version).toBe(WRITES);
    }
    await store.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
