import { isContainedType } from '../../contained-resources.js';
import type { FindPage, FindQuery } from '../../store.js';
import { idOf, type Raw } from '../bson/bson.js';
import { VERSION_AND_REFERENCES, VERSION_ONLY } from '../bson/stored-version.js';
import { completeOf } from '../write/complete.js';
import { openFinder } from './links/finder.js';
import type { Finder } from './links/found.js';
import { include } from './links/includes.js';
import { translateMongoError } from '../mongo-errors.js';
import type { QueryLimits, Snapshot } from '../read/snapshot.js';
import { toKey } from './links/held.js';
import { readPageVersions } from './links/page-versions.js';
import { openAsk } from './ask.js';
import { readFindCursor, writeFindCursor, type FindCursor } from './cursor.js';
import { toOrder, type Order } from './compile/order.js';
import type { FindParts } from './parts.js';
import { runSearch } from './run-search.js';

/** Finds pages of current resources. */
export function openFind(parts: FindParts): (query: FindQuery, limits: QueryLimits) => Promise<FindPage> {
  const { snapshots, turns, slotOf, now } = parts;

  async function page(
    query: FindQuery,
    order: Order,
    after: FindCursor | undefined,
    snapshot: Snapshot,
  ): Promise<FindPage> {
    const ask = openAsk(snapshot, followsReferences(query) ? VERSION_AND_REFERENCES : VERSION_ONLY);
    const finder = await openFinder(snapshot, parts, query, order, after, ask);
    // What is known to be on several pages is counted at the same time; all of it may take long, and one search is not to have two
    // cores of the database for that.
    const isBeside = query.count === 0 || (query.total === 'cheap' && finder.isLongerThan(query.count));
    const [read, counted] = await Promise.all([
      query.count === 0
        ? NO_PAGE
        : readPage(finder, query, (from) => openFinder(snapshot, parts, query, order, from, ask)),
      isBeside ? totalOf(finder, query, after) : undefined,
    ]);
    const complete = await completeOf(snapshot, now);
    const { versions, documents, last, hasMore } = read;
    const isAll = query.count > 0 && after === undefined && !hasMore;
    const total =
      isAll && query.total !== 'none'
        ? versions.length
        : (counted ?? (isBeside ? undefined : await totalOf(finder, query, after)));
    const included =
      query.include === undefined
        ? {}
        : await include(query.include, { versions, documents }, { snapshot, ask, parts, base: query.base });
    const shown = { versions, complete, ...included, ...(total !== undefined && { total }) };
    return last === undefined || !hasMore
      ? shown
      : { ...shown, next: writeFindCursor({ ...last, ...(total !== undefined && { total }) }) };
  }

  return async (query, limits) => {
    const order = toOrder(query.type, query.sort, slotOf);
    const after = query.after === undefined ? undefined : readFindCursor(query.after, order);
    try {
      return await runSearch(snapshots, turns, query, limits, (snapshot) => page(query, order, after, snapshot));
    } catch (error) {
      throw translateMongoError(error);
    }
  };
}

interface Page extends Pick<FindPage, 'versions'> {
  /** Those that hold them. */
  readonly documents: readonly Raw[];
  readonly last?: Pick<FindCursor, 'id' | 'values'>;
  readonly hasMore: boolean;
}

const NO_PAGE: Page = { versions: [], documents: [], hasMore: false };

/** Whether references of what is found are followed; what is within resources is found without theirs. */
function followsReferences({ type, include }: FindQuery): boolean {
  return !isContainedType(type) && include?.directives.some(({ isReverse }) => !isReverse) === true;
}

/** @param goOn finds what comes behind a place: where all that a page would have is left out, the next takes its place */
async function readPage(
  finder: Finder,
  { type, count }: FindQuery,
  goOn: (from: FindCursor) => Promise<Finder>,
): Promise<Page> {
  for (let at = finder; ;) {
    const { documents, isCut, valuesAt } = await at.page(count + 1);
    const { versions, passed } = await readPageVersions(at.ask, type, documents.slice(0, count));
    const bytes = documents[passed - 1];
    if (bytes === undefined) return { ...NO_PAGE, versions };
    const hasMore = isCut || documents.length > passed;
    const last = { id: toKey(idOf(bytes)).id, values: valuesAt(passed - 1) };
    if (versions.length > 0 || !hasMore) return { versions, documents: documents.slice(0, passed), hasMore, last };
    at = await goOn(last);
  }
}

/** The total of the first page, on each. */
async function totalOf(
  finder: Finder,
  { total }: Pick<FindQuery, 'total'>,
  after: FindCursor | undefined,
): Promise<number | undefined> {
  if (after !== undefined) return after.total;
  if (total === 'none') return undefined;
  return total === 'accurate' ? finder.countAll() : finder.countCheaply();
}
