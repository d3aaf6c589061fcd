import type { Database } from 'better-sqlite3';

/** Reads of the small maps. What has expired is not there. */
export interface MapReader {
  get(map: string, key: string, now: number): string | undefined;
  entries(map: string, now: number): Map<string, string>;
}

/** Changes of the small maps. Inside a write transaction. */
export interface MapWriter {
  swap(
    map: string,
    key: string,
    expected: string | undefined,
    value: string,
    expires: number | undefined,
    now: number,
  ): boolean;
  delete(map: string, key: string): void;
  /** Removes some of what has expired. @returns whether there may be more */
  clean(now: number): boolean;
}

const AT_ONCE = 500;

/** Prepares the reads. */
export function openMapReader(db: Database): MapReader {
  const one = db
    .prepare<[string, string, number], string>(
      'SELECT value FROM map_entry WHERE map = ? AND key = ? AND (expires IS NULL OR expires > ?)',
    )
    .pluck();
  const all = db.prepare<[string, number], { key: string; value: string }>(
    'SELECT key, value FROM map_entry WHERE map = ? AND (expires IS NULL OR expires > ?) ORDER BY key',
  );
  return {
    get: (map, key, now) => one.get(map, key, now),
    entries: (map, now) => new Map(all.all(map, now).map(({ key, value }) => [key, value])),
  };
}

/** Prepares the changes. */
export function openMapWriter(db: Database): MapWriter {
  const { get } = openMapReader(db);
  const upsert = db.prepare<[string, string, string, number | null]>(
    'INSERT OR REPLACE INTO map_entry (map, key, value, expires) VALUES (?, ?, ?, ?)',
  );
  const remove = db.prepare<[string, string]>('DELETE FROM map_entry WHERE map = ? AND key = ?');
  const expired = db.prepare<[number], { map: string; key: string }>(
    `SELECT map, key FROM map_entry WHERE expires IS NOT NULL AND expires <= ? ORDER BY expires LIMIT ${AT_ONCE}`,
  );
  return {
    swap(map, key, expected, value, expires, now) {
      if (get(map, key, now) !== expected) return false;
      upsert.run(map, key, value, expires ?? null);
      return true;
    },
    delete: (map, key) => void remove.run(map, key),
    clean(now) {
      const rows = expired.all(now);
      for (const { map, key } of rows) remove.run(map, key);
      return rows.length === AT_ONCE;
    },
  };
}
