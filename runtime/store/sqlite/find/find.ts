import type { Database } from 'better-sqlite3';

import { compareText } from '../../../search/query/compare-text.js';
import type { FindPage, FindQuery, StoredVersion } from '../../store.js';
import type { Dictionary } from '../dictionary.js';
import type { Guard } from '../guard.js';
import { MAX_PAGE } from '../history.js';
import { openKeyOrder } from '../resource-keys.js';
import { collect, walk } from './collect.js';
import { readCursor, writeCursor } from './cursor.js';
import { compareHits, type Hit } from './hit.js';
import { openLists } from './lists.js';
import { beginRun, type FindParts } from './run.js';
import { openStatements } from './statements.js';

interface BodyRow {
  readonly version: number;
  readonly updated: number;
  readonly body: string;
}

/** Searches. Inside a transaction. */
export function openFind(db: Database, dictionary: Dictionary, guard: Guard): (query: FindQuery) => FindPage {
  const parts: FindParts = {
    statements: openStatements(db),
    dictionary,
    guard,
    lists: openLists(db, guard),
    isUnordered: openKeyOrder(db),
  };
  const clock = db.prepare<[], number>('SELECT updated FROM clock').pluck();
  const select = db.prepare<[number], BodyRow>(
    'SELECT r.version, r.updated, v.body FROM resource r CROSS JOIN version v ON v.seq = r.seq WHERE r.key = ?',
  );

  function find(query: FindQuery): FindPage {
    const complete = (clock.get() ?? 0) + 1;
    const cursor = query.after === undefined ? undefined : readCursor(query.after, query.sort);
    const run = beginRun(parts, query);
    if (run === undefined) return { versions: [], complete, ...(query.total !== 'none' && { total: 0 }) };
    const hits = collect(run, walk(run, query.where, undefined));
    const total = query.total === 'none' ? undefined : (cursor?.total ?? hits.length);
    const known = total === undefined ? {} : { total };
    const compare =
      query.sort.length === 0
        ? (a: { id: string }, b: { id: string }) => compareText(a.id, b.id)
        : compareHits(query.sort);
    const left = cursor === undefined ? hits : hits.filter((hit) => compare(hit, cursor) > 0);
    const versions: StoredVersion[] = [];
    let size = 0;
    let last: Hit | undefined;
    if (query.count === 0) return { versions, complete, ...known };
    for (const hit of left) {
      if (versions.length === query.count || size >= MAX_PAGE) {
        return { versions, complete, ...known, next: writeCursor({ ...last!, ...known }) };
      }
      const { version, updated, body } = select.get(hit.key)!;
      versions.push({ type: query.type, id: hit.id, version, lastUpdated: updated, json: body });
      size += body.length;
      last = hit;
    }
    return { versions, complete, ...known };
  }

  return (query) => {
    try {
      return find(query);
    } finally {
      parts.lists.clear();
    }
  };
}
