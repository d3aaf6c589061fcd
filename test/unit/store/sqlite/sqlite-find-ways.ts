import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'vitest';

import type { Database } from 'better-sqlite3';
import { connect } from '../../../../runtime/store/sqlite/file/connect.js';
import { openDictionary } from '../../../../runtime/store/sqlite/write/dictionary.js';
import type { PlanLimits } from '../../../../runtime/store/plan/limits.js';
import { openFinders } from '../../../../runtime/store/sqlite/query/find.js';
import { openQueryInterrupt } from '../../../../runtime/store/sqlite/file/query-interrupt.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../../../runtime/store/store.js';
import { randomBusyWalks, randomQueries } from '../../../contract/search/behaviour-search-random.js';
import { COUNTED, IMPATIENT, WALKED, WAYS } from '../../../contract/search/plan-limits.js';
import { createRandom, seedOfRun } from '../../../contract/random.js';

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
  function limited(limits: PlanLimits): Store {
    const guard = openQueryInterrupt(db, new Int32Array(1));
    guard.begin(1, Infinity);
    const { find } = openFinders(db, openDictionary(db), guard, limits);
    const snapshot = db.transaction(find);
    return { ...store, find: async (query) => snapshot.deferred(query) };
  }

  it.each(WAYS)('that are %s find what matches says', async (_how, limits) => {
    await randomQueries(limited(limits), 'Random', seedOfRun(), queries);
  });

  it('go on from a page that others found, on a connection of their own, while resources are written', async () => {
    const random = createRandom(seedOfRun());
    const ways = [WALKED, IMPATIENT, COUNTED];
    const find: Store['find'] = (query) => limited(random.pick(ways)).find(query);
    await randomQueries({ ...store, find }, 'Random', seedOfRun(), queries);
    await randomBusyWalks({ ...store, find }, 'Busy', seedOfRun(), queries);
  });
}
