import type { Database } from 'better-sqlite3';

import type { StoredVersion } from '../../store.js';
import type { Guard } from '../guard.js';
import { MAX_PAGE } from '../history.js';
import type { Hit } from './hit.js';
import type { Trace } from './run.js';

/** A resource that was found, and of which type it is. */
export interface TypedHit {
  readonly type: string;
  readonly hit: Hit;
}

/** The contents of what was found. */
export interface ReadPage {
  readonly versions: readonly StoredVersion[];
  /** All contents together, in characters. */
  readonly size: number;
  /** The last one that is on the page, where there are more after it. */
  readonly last?: TypedHit;
}

interface ContentRow {
  readonly id: string;
  readonly version: number;
  readonly updated: number;
  readonly body: string;
}

/** Reads what was found: as many as are asked for, fewer where they are large. */
export type PageReader = (found: readonly TypedHit[], count: number, trace: Trace | undefined) => ReadPage;

/** Prepares the statement. */
export function openPageReader(db: Database, guard: Guard): PageReader {
  const select = db.prepare<[number], ContentRow>(
    'SELECT r.id, r.version, r.updated, v.body FROM resource r CROSS JOIN version v ON v.seq = r.seq WHERE r.key = ?',
  );
  return (found, count, trace) => {
    const versions: StoredVersion[] = [];
    let size = 0;
    for (const [i, { type, hit }] of count === 0 ? [] : found.entries()) {
      if (versions.length === count || size >= MAX_PAGE) return { versions, size, last: found[i - 1]! };
      trace?.read(2);
      const { id, version, updated, body } = select.get(hit.key)!;
      versions.push({ type, id, version, lastUpdated: updated, json: body });
      size += body.length;
      guard.step();
    }
    return { versions, size };
  };
}
