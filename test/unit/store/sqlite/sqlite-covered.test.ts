import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { connect } from '../../../../runtime/store/sqlite/file/connect.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../../../runtime/store/store.js';
import { query } from '../../../contract/search/behaviour-search-helpers.js';
import {
  COVERED_CONDITIONS,
  coveredEntries,
  expectCovered,
  manyAlternatives,
} from '../../../contract/search/covered-composites.js';
import { put } from '../../../contract/subject.js';
import { processorTime } from '../../../processor-time.js';

describe('composites whose parts other parameters have, on SQLite', () => {
  const ids = Array.from({ length: 1000 }, (_, n) => `r${String(n).padStart(4, '0')}`);
  let folder: string;
  let store: Store;
  const open = (): Store => openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  const fill = (isCovered: boolean) =>
    store.write(ids.map((id, n) => put(id, 0, 'x', coveredEntries(n, isCovered), 'Measured')));
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-covered-'));
    store = open();
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('are found, by these parameters', async () => {
    await fill(true);
    await expectCovered(store, ids);
    const { driving, indexes, examined } = await store.explain(
      query('Measured', { where: COVERED_CONDITIONS[0]!, count: 20 }),
    );
    expect(driving).toMatch(/^(code|amount) /);
    expect(indexes).toEqual(expect.arrayContaining([expect.stringMatching(/^(token_by_value|number_by_low)$/)]));
    expect(examined).toBeLessThan(1000);
  });

  it('with thousands of values, each of which was tried for each resource', async () => {
    await fill(true);
    const took = processorTime();
    const many = query('Measured', { where: manyAlternatives(4000), count: 1000, total: 'accurate' });
    const { total } = await store.find(many);
    expect(took()).toBeLessThan(3000);
    const few = query('Measured', { where: manyAlternatives(7), count: 1000, total: 'accurate' });
    expect(total).toBe((await store.find(few)).total);
    expect(total).toBeGreaterThan(0);
  });

  it('are found where an older program left their parts in the indexes, and leave them as they are written again', async () => {
    await fill(false);
    await expectCovered(store, ids);
    await store.write(ids.slice(0, 500).map((id, n) => put(id, 1, 'y', coveredEntries(n, true), 'Measured')));
    await expectCovered(store, ids);
    await store.close();
    const after = connect(join(folder, 'kiln.db'));
    const groups = after
      .prepare(
        `SELECT n.part_group > 0 AS listed, min(r.version) AS least, max(r.version) AS greatest, count(*) AS rows
         FROM number n JOIN resource r ON r.key = n.resource WHERE n.part_group <> 0 GROUP BY 1 ORDER BY 1`,
      )
      .all();
    after.close();
    // Two rows of each: as recorded, and canonical.
    expect(groups).toEqual([
      { listed: 0, least: 2, greatest: 2, rows: 900 },
      { listed: 1, least: 1, greatest: 1, rows: 900 },
    ]);
    store = open();
  });
});
