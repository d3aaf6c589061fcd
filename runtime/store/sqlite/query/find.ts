import type { Database } from 'better-sqlite3';

import type { Condition } from '../../../search/query/query.js';
import { SQLITE_LIMITS } from '../../plan/limits.js';
import type { CountQuery, CountRow, FindMultiTypeQuery, FindPage, FindQuery, LinePage } from '../../store.js';
import type { Dictionary } from '../write/dictionary.js';
import { completeAfter } from '../file/clock.js';
import type { QueryInterrupt } from '../file/query-interrupt.js';
import { openMultiTypeSearch } from './multi-type-search.js';
import { openContents } from './contents.js';
import { countBy } from './count-by.js';
import { readCursor, writeCursor } from '../../plan/cursor.js';
import { isKey } from './hit.js';
import { openIncluded } from './links/included.js';
import { openLists } from './links/lists.js';
import { defineAmong } from './compile/places.js';
import { openSeenSet } from './seen-set.js';
import { openLineReader } from './lines.js';
import { openPageReader } from './page.js';
import { beginRun, sortedBy, type FindParts, type SearchRun, type Trace, withoutAbsent } from './run.js';
import { findHits, type FoundPage } from './search.js';
import { simplify } from './compile/simplify.js';
import { openStatements } from './compile/statements.js';
import { countAll, countCheaply } from './total.js';

/** Does a search. Inside a transaction. */
export type Finder = (query: FindQuery, trace?: Trace) => FindPage;

/** Searches of a connection. */
export interface Finders {
  readonly find: Finder;
  /** The same over several types. */
  readonly findMultiType: (query: FindMultiTypeQuery) => FindPage;
  /** The texts of what the search finds, as bytes. */
  readonly findLines: (query: FindQuery, until: number) => LinePage;
  readonly countBy: (query: CountQuery) => readonly CountRow[] | undefined;
}

/** Opens the parts that searches of a connection share. */
export function openFindParts(
  db: Database,
  dictionary: Dictionary,
  interrupt: QueryInterrupt,
  limits = SQLITE_LIMITS,
): FindParts {
  defineAmong(db);
  return {
    statements: openStatements(db),
    dictionary,
    interrupt,
    lists: openLists(db, interrupt),
    met: openSeenSet(db, interrupt),
    probes: new Map(),
    limits,
  };
}

/** Nothing was looked for. */
const NOTHING: FoundPage = { hits: [], source: 'type' };

function totalOf(run: SearchRun, where: Condition, { drivers }: FoundPage): number | undefined {
  return run.query.total === 'accurate' ? countAll(run, where) : countCheaply(run, where, { drivers });
}

/** Prepares all that searches of a connection need. */
export function openFinders(
  db: Database,
  dictionary: Dictionary,
  interrupt: QueryInterrupt,
  limits = SQLITE_LIMITS,
): Finders {
  const parts = openFindParts(db, dictionary, interrupt, limits);
  const clock = db.prepare<[], number>('SELECT updated FROM clock').pluck();
  const contents = openContents(db, dictionary);
  const read = openPageReader(contents, interrupt);
  const readLines = openLineReader(db, interrupt);
  const include = openIncluded(db, parts, contents);
  const across = openMultiTypeSearch(db, parts, read);

  /** @returns undefined: there never was a resource of the type */
  function search(query: FindQuery, trace: Trace | undefined): FoundPage | undefined {
    const cursor = query.after === undefined ? undefined : readCursor(query.after, sortedBy(query.sort), isKey);
    const run = beginRun(parts, query, trace);
    if (run === undefined) return undefined;
    const where = simplify(withoutAbsent(run, query.where));
    const wanted = query.count === 0 ? 0 : query.count + 1;
    if (cursor !== undefined) return { ...findHits(run, where, cursor.place, wanted), total: cursor.total };
    const found = wanted === 0 ? NOTHING : findHits(run, where, undefined, wanted);
    if (query.total === 'none') return { ...found, total: undefined };
    const isAll = found.hits.length < wanted;
    return { ...found, total: isAll ? found.hits.length : (found.total ?? totalOf(run, where, found)) };
  }

  function find(query: FindQuery, trace: Trace | undefined): Omit<FindPage, 'complete'> {
    const found = search(query, trace);
    if (found === undefined) {
      const nothing = { versions: [], size: 0 };
      return { versions: [], ...(query.total !== 'none' && { total: 0 }), ...include(query, nothing) };
    }
    const { type, count } = query;
    const { hits, total, source } = found;
    const page = read(
      hits.map((hit) => ({ type, hit })),
      count,
      trace,
    );
    const { versions, last } = page;
    return {
      versions,
      ...(total !== undefined && { total }),
      ...(last !== undefined && { next: writeCursor(source, last.hit, total) }),
      ...include(query, page, trace),
    };
  }

  function findLines(query: FindQuery, until: number): LinePage {
    const found = search(query, undefined);
    if (found === undefined) return { lines: Buffer.alloc(0), count: 0 };
    const { last, ...page } = readLines(found.hits, query.count, until);
    return last === undefined ? page : { ...page, next: writeCursor(found.source, last, undefined) };
  }

  /** Forgets what a search left. */
  function cleared<T>(work: () => T): T {
    try {
      return work();
    } finally {
      parts.lists.clear();
      parts.met.clear();
    }
  }

  function whole(work: () => Omit<FindPage, 'complete'>): FindPage {
    const complete = completeAfter(clock.get());
    return { ...cleared(work), complete };
  }

  return {
    find: (query, trace) => whole(() => find(query, trace)),
    findMultiType: (query) =>
      whole(() => {
        const { page, ...found } = across(query);
        return { ...found, versions: page.versions, ...include(query, page) };
      }),
    findLines: (query, until) => cleared(() => findLines(query, until)),
    countBy: (query) => cleared(() => countBy(parts, query)),
  };
}
