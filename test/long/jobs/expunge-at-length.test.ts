import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import Database from 'better-sqlite3';
import { it } from 'vitest';

import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { expungeAtLength, expungeTitle } from './expunge-load.js';
import { soak } from '../soak.js';

/** Resources that will go. */
const DOOMED = soak(1900);

/** Tables of names that stay, of counters and marks, and the segments of the full-text index, which SQLite merges when it likes. */
const STAYS = new Set(['term', 'param', 'clock', 'words_data', 'words_idx']);

it(expungeTitle(DOOMED), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-expunge-'));
  const file = join(folder, 'kiln.db');
  try {
    const store = openSqliteStore(`sqlite:${file}`);
    try {
      await expungeAtLength(store, DOOMED, () => rowsOf(file));
    } finally {
      await store.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The number of rows of each table, but for those that may differ. */
function rowsOf(file: string): Record<string, number> {
  const database = new Database(file, { readonly: true });
  try {
    const names = database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).pluck().all() as string[];
    const own = names.filter((name) => !STAYS.has(name) && !name.startsWith('sqlite_'));
    const count = (name: string): number => database.prepare(`SELECT count(*) FROM "${name}"`).pluck().get() as number;
    return Object.fromEntries(own.map((name) => [name, count(name)]));
  } finally {
    database.close();
  }
}
