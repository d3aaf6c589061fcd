import type { Database } from 'better-sqlite3';

import type { FindPage, FindQuery, StoredVersion } from '../../store.js';
import type { Dictionary } from '../dictionary.js';
import type { Guard } from '../guard.js';
import { MAX_PAGE } from '../history.js';
import { openKeyOrder } from '../resource-keys.js';
import { readCursor, writeCursor } from './cursor.js';
import type { Hit } from './hit.js';
import { openLists } from './lists.js';
import { openMet } from './met.js';
import { findPlace } from './place.js';
import { openProbeCache } from './probe-cache.js';
import { beginRun, FIND_LIMITS, orderOf, type FindParts, type Run, type Trace } from './run.js';
import { simplify } from './simplify.js';
import { openStatements } from './statements.js';
import { findHits } from './strategy.js';
import { countMatches } from './total.js';

interface ContentRow {
  readonly id: string;
  readonly version: number;
  readonly updated: number;
  readonly body: string;
}

/** Does a search. Inside a transaction. */
export type Finder = (query: FindQuery, trace?: Trace) => FindPage;

/** What searches of a connection share. */
export function openFindParts(db: Database, dictionary: Dictionary, guard: Guard, limits = FIND_LIMITS): FindParts {
  return {
    statements: openStatements(db),
    dictionary,
    guard,
    lists: openLists(db, guard),
    met: openMet(db, guard),
    probes: openProbeCache(),
    limits,
    isUnordered: openKeyOrder(db),
  };
}

/** Searches of a connection. */
export function openFind(db: Database, dictionary: Dictionary, guard: Guard, limits = FIND_LIMITS): Finder {
  const parts = openFindParts(db, dictionary, guard, limits);
  const clock = db.prepare<[], number>('SELECT updated FROM clock').pluck();
  const select = db.prepare<[number], ContentRow>(
    'SELECT r.id, r.version, r.updated, v.body FROM resource r CROSS JOIN version v ON v.seq = r.seq WHERE r.key = ?',
  );

  /** A page of what was found, one more than fits where there is more. */
  function toPage(run: Run, hits: readonly Hit[], total: number | undefined): Omit<FindPage, 'complete'> {
    const { type, count } = run.query;
    const versions: StoredVersion[] = [];
    const known = total === undefined ? {} : { total };
    let size = 0;
    let last: Hit | undefined;
    for (const hit of count === 0 ? [] : hits) {
      if (versions.length === count || size >= MAX_PAGE) {
        const next = writeCursor({ id: versions.at(-1)!.id, values: last!.values, ...known });
        return { versions, ...known, next };
      }
      run.trace?.read(2);
      const { id, version, updated, body } = select.get(hit.key)!;
      versions.push({ type, id, version, lastUpdated: updated, json: body });
      size += body.length;
      parts.guard.step(body.length >> 10);
      last = hit;
    }
    return { versions, ...known };
  }

  function find(query: FindQuery, trace: Trace | undefined): FindPage {
    const complete = (clock.get() ?? 0) + 1;
    const cursor = query.after === undefined ? undefined : readCursor(query.after, orderOf(query.sort).sort);
    const run = beginRun(parts, query, trace);
    if (run === undefined) return { versions: [], complete, ...(query.total !== 'none' && { total: 0 }) };
    const where = simplify(query.where);
    const after = cursor === undefined ? undefined : findPlace(run, cursor);
    const wanted = query.count === 0 ? 0 : query.count + 1;
    const found = findHits(run, where, after, wanted);
    let total = cursor?.total;
    if (cursor === undefined && query.total !== 'none') {
      const isAll = wanted > 0 && found.hits.length < wanted;
      total = found.total ?? (isAll ? found.hits.length : countMatches(run, where, found.best));
    }
    return { ...toPage(run, found.hits, total), complete };
  }

  return (query, trace) => {
    try {
      return find(query, trace);
    } finally {
      parts.lists.clear();
      parts.met.clear();
    }
  };
}
