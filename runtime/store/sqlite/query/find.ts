import type { Database } from 'better-sqlite3';

import { conditionText } from '../../condition-text.js';
import { weightOf } from '../../../search/query/criterion.js';
import type { CountQuery, CountRow, FindMultiTypeQuery, FindPage, FindQuery, LinePage } from '../../store.js';
import type { Dictionary } from '../write/dictionary.js';
import { completeAfter } from '../file/clock.js';
import type { QueryInterrupt } from '../file/query-interrupt.js';
import { openKeyOrder } from '../write/resource-keys.js';
import { openMultiTypeSearch } from './multi-type-search.js';
import { openContents } from './contents.js';
import { countBy } from './count-by.js';
import { readCursor, writeCursor } from './cursor.js';
import { openIncluded } from './links/included.js';
import { openLists } from './links/lists.js';
import { defineAmong } from './compile/places.js';
import { openKnownOrders, type Stretch } from './known-orders.js';
import { openSeenSet } from './seen-set.js';
import { openLineReader } from './lines.js';
import { openPageReader } from './page.js';
import { findPlace } from './walk-position.js';
import { openProbeCache } from './probe-cache.js';
import { beginRun, FIND_LIMITS, orderOf, type FindParts, type Trace, withoutAbsent } from './run.js';
import { simplify } from './compile/simplify.js';
import { openStatements } from './compile/statements.js';
import { findHits } from './strategy.js';
import { countMatches } from './total.js';

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

/** What a search found for a page, and one more if there is one. */
type SearchResult = Pick<Stretch, 'hits' | 'total'>;

/** More conditions take longer to be written down than most searches. */
const WIDEST = 50;

/** A search as text that no other has; undefined: it is a wide one. */
function nameOf({ type, where, base, sort, count, total, after }: FindQuery): string | undefined {
  if (weightOf(where) > WIDEST) return undefined;
  return `${JSON.stringify(['page', type, base, sort, count, total, after])} ${conditionText(where)}`;
}

/** What searches of a connection share. */
export function openFindParts(
  db: Database,
  dictionary: Dictionary,
  interrupt: QueryInterrupt,
  limits = FIND_LIMITS,
): FindParts {
  defineAmong(db);
  return {
    statements: openStatements(db),
    dictionary,
    interrupt,
    lists: openLists(db, interrupt),
    met: openSeenSet(db, interrupt),
    probes: openProbeCache(),
    orders: openKnownOrders(db),
    limits,
    isUnordered: openKeyOrder(db),
  };
}

/** Prepares all that searches of a connection need. */
export function openFinders(
  db: Database,
  dictionary: Dictionary,
  interrupt: QueryInterrupt,
  limits = FIND_LIMITS,
): Finders {
  const parts = openFindParts(db, dictionary, interrupt, limits);
  const clock = db.prepare<[], number>('SELECT updated FROM clock').pluck();
  const contents = openContents(db, dictionary);
  const read = openPageReader(contents, interrupt);
  const readLines = openLineReader(db, interrupt);
  const include = openIncluded(db, parts, contents);
  const across = openMultiTypeSearch(db, parts, read);

  /** @returns undefined: there never was a resource of the type */
  function search(query: FindQuery, trace: Trace | undefined): SearchResult | undefined {
    // An explanation is to see what a search does.
    const name = trace === undefined ? nameOf(query) : undefined;
    const known = name === undefined ? undefined : parts.orders.get(name);
    if (known !== undefined) return known;
    const found = searchAnew(query, trace);
    // That a total took too long may be otherwise the next time.
    const isSettled = found?.total !== undefined || query.total === 'none' || query.after !== undefined;
    if (name !== undefined && found !== undefined && isSettled) parts.orders.keep(name, { ...found, isEnd: false });
    return found;
  }

  function searchAnew(query: FindQuery, trace: Trace | undefined): SearchResult | undefined {
    const cursor = query.after === undefined ? undefined : readCursor(query.after, orderOf(query.sort).sort);
    const run = beginRun(parts, query, trace);
    if (run === undefined) return undefined;
    const where = simplify(withoutAbsent(run, query.where));
    const after = cursor === undefined ? undefined : findPlace(run, cursor);
    const wanted = query.count === 0 ? 0 : query.count + 1;
    const found = findHits(run, where, after, wanted);
    let total = cursor?.total;
    if (cursor === undefined && query.total !== 'none') {
      const isAll = wanted > 0 && found.hits.length < wanted;
      total = found.total ?? (isAll ? found.hits.length : countMatches(run, where, found.best));
    }
    return { hits: found.hits, total };
  }

  function find(query: FindQuery, trace: Trace | undefined): Omit<FindPage, 'complete'> {
    const found = search(query, trace);
    if (found === undefined) {
      const nothing = { versions: [], size: 0 };
      return { versions: [], ...(query.total !== 'none' && { total: 0 }), ...include(query, nothing) };
    }
    const { type, count } = query;
    const { hits, total } = found;
    const known = total === undefined ? {} : { total };
    const page = read(
      hits.map((hit) => ({ type, hit })),
      count,
      trace,
    );
    const { versions, last } = page;
    const place = last && { id: versions.at(-1)!.id, values: last.hit.values, ...known };
    return {
      versions,
      ...known,
      ...(place !== undefined && { next: writeCursor(place) }),
      ...include(query, page, trace),
    };
  }

  function findLines(query: FindQuery, until: number): LinePage {
    const hits = search(query, undefined)?.hits ?? [];
    const { last, ...page } = readLines(hits, query.count, until);
    return last === undefined ? page : { ...page, next: writeCursor(last) };
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
