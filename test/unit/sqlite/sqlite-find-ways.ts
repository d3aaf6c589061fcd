import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { Database } from 'better-sqlite3';
import { connect } from '../../../runtime/store/sqlite/file/connect.js';
import { openDictionary } from '../../../runtime/store/sqlite/write/dictionary.js';
import { openFinders } from '../../../runtime/store/sqlite/query/find.js';
import type { FindLimits } from '../../../runtime/store/sqlite/query/run.js';
import { openQueryInterrupt } from '../../../runtime/store/sqlite/file/query-interrupt.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../../runtime/store/store.js';
import { randomQueries } from '../../contract/search/behaviour-search-random.js';
import { seedOfRun } from '../../contract/random.js';

/**
 * Every way of finding gives the same; which is taken depends on numbers that no small test reaches.
 *
 * @param queries random ones for each way
 */
export function waysOfFinding(queries: number): void {
  let folder: string;
  let store: Store;
  let db: Database;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-find-'));
    const file = join(folder, 'kiln.db');
    store = openSqliteStore(`sqlite:${file}`);
    db = connect(file);
  });
  afterEach(async () => {
    db.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  /** The store, with searches done here and so. */
  function limited(limits: FindLimits): Store {
    const guard = openQueryInterrupt(db, new Int32Array(1));
    guard.begin(1, Infinity);
    const { find } = openFinders(db, openDictionary(db), guard, limits);
    const snapshot = db.transaction(find);
    return { ...store, find: async (query) => snapshot.deferred(query) };
  }

  it.each<[string, FindLimits]>([
    ['walked, whatever it takes', { few: 0, brief: 0, patience: Infinity, small: 0, deep: 1_000_000 }],
    ['walked for a short while, then collected', { few: 0, brief: 0, patience: 5, small: 1e9, deep: 1_000_000 }],
    ['walked for a while, walked on, then collected', { few: 3, brief: 400, patience: 20, small: 0, deep: 1_000_000 }],
    ['collected', { few: 1e9, brief: 0, patience: 0, small: 0, deep: 1_000_000 }],
  ])('that are %s find what matches says', async (_how, limits) => {
    await randomQueries(limited(limits), 'Random', seedOfRun(), queries);
  });

  it('of a type whose keys are not in the order of ids find the same', async () => {
    db.exec(
      `INSERT INTO term VALUES (1, 'One'), (2, 'Two'), (3, 'Three'); INSERT INTO unordered_type VALUES (1), (2), (3)`,
    );
    const ways: readonly FindLimits[] = [
      { few: 0, brief: 0, patience: Infinity, small: 0, deep: 1_000_000 },
      { few: 50, brief: 400, patience: 20, small: 0, deep: 1_000_000 },
      { few: 1e9, brief: 0, patience: 0, small: 0, deep: 1_000_000 },
    ];
    for (const [n, limits] of ways.entries()) {
      await randomQueries(limited(limits), ['One', 'Two', 'Three'][n]!, seedOfRun() + n, queries);
    }
    const keys = db.prepare('SELECT key FROM resource ORDER BY type, id').pluck().all() as number[];
    expect(keys).not.toEqual(keys.toSorted((a, b) => a - b));
  });
}
