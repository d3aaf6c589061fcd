import type { Database } from 'better-sqlite3';

import { readMapPlace, writeMapPlace } from '../../map-place.js';
import type { MapEntry, MapScan, MapStep } from '../../store.js';

/** Reads of the small maps. What has expired is not there. */
export interface MapReader {
  get(map: string, key: string, now: number): string | undefined;
  entries(map: string, now: number): Map<string, string>;
  scan(after: string | undefined, limit: number, now: number): MapScan;
  range(map: string, after: string, limit: number, now: number): Map<string, string>;
}

/** Changes of the small maps. Inside a write transaction. */
export interface MapWriter {
  swap(
    map: string,
    key: string,
    expected: string | undefined,
    value: string,
    expires: number | undefined,
    now?: number,
  ): boolean;
  /** Takes all steps, or none. */
  swapAll(steps: readonly MapStep[], now?: number): boolean;
  delete(map: string, key: string): void;
  /** Removes some of what has expired. @returns whether there may be more */
  clean(now: number): boolean;
}

const AT_ONCE = 500;

/** Before every entry: names of maps are not empty. */
const FIRST = { map: '', key: '' };

interface MapRow {
  readonly map: string;
  readonly key: string;
  readonly value: string;
  readonly expires: number | null;
}

function toEntry({ map, key, value, expires }: MapRow): MapEntry {
  return expires === null ? { map, key, value } : { map, key, value, expires };
}

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
  const some = db.prepare<[string, string, number, number], MapRow>(
    `SELECT map, key, value, expires FROM map_entry
     WHERE (map, key) > (?, ?) AND (expires IS NULL OR expires > ?) ORDER BY map, key LIMIT ?`,
  );
  const after = db.prepare<[string, string, number, number], { key: string; value: string }>(
    `SELECT key, value FROM map_entry
     WHERE map = ? AND key > ? AND (expires IS NULL OR expires > ?) ORDER BY key LIMIT ?`,
  );
  return {
    range: (map, key, limit, now) => new Map(after.all(map, key, now, limit).map((row) => [row.key, row.value])),
    get: (map, key, now) => one.get(map, key, now),
    entries: (map, now) => new Map(all.all(map, now).map(({ key, value }) => [key, value])),
    scan(from, limit, now) {
      const { map, key } = from === undefined ? FIRST : readMapPlace(from);
      const rows = some.all(map, key, now, limit);
      const last = rows.at(-1);
      const entries = rows.map(toEntry);
      return last === undefined ? { entries } : { entries, next: writeMapPlace(last) };
    },
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
    swap(map, key, expected, value, expires, now = Date.now()) {
      if (get(map, key, now) !== expected) return false;
      upsert.run(map, key, value, expires ?? null);
      return true;
    },
    swapAll(steps, now = Date.now()) {
      if (steps.some(({ map, key, expected }) => get(map, key, now) !== expected)) return false;
      for (const { map, key, value } of steps) {
        if (value === undefined) remove.run(map, key);
        else upsert.run(map, key, value, null);
      }
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
