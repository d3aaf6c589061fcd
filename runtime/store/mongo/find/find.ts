import type { FindPage, FindQuery } from '../../store.js';
import { completeOf } from '../complete.js';
import { translateMongoError } from '../mongo-errors.js';
import type { QueryLimits, Snapshot, Snapshots } from '../snapshot.js';
import type { SlotOf } from '../sort-slots.js';
import { toStoredVersion } from '../stored-version.js';
import { readFindCursor, writeFindCursor, type FindCursor } from './cursor.js';
import { waysInto } from './compile.js';
import { toOrder, valuesOf, type Order } from './order.js';
import { findPage, openSearch, type Search } from './page.js';
import type { Probes } from './probe.js';
import { countAll, countCheaply } from './total.js';
import { runSearch, type SearchTurns } from './run-search.js';

/** What searches need. */
export interface FindParts {
  readonly snapshots: Snapshots;
  readonly turns: SearchTurns;
  readonly probes: Probes;
  readonly slotOf: SlotOf;
  /** The server's time. */
  readonly now: () => number;
}

/** Finds pages of current resources. */
export function openFind({
  snapshots,
  turns,
  probes,
  slotOf,
  now,
}: FindParts): (query: FindQuery, limits: QueryLimits) => Promise<FindPage> {
  async function page(
    query: FindQuery,
    order: Order,
    after: FindCursor | undefined,
    snapshot: Snapshot,
  ): Promise<FindPage> {
    const search = await openSearch(snapshot, probes, query, order, after);
    // What is known to be on several pages is counted at the same time.
    const isLong = query.count === 0 || isLongerThan(search, query.count);
    const [read, counted] = await Promise.all([
      query.count === 0 ? NO_PAGE : readPage(search, query.count),
      isLong ? totalOf(search, query, after) : undefined,
    ]);
    const complete = await completeOf(snapshot, now);
    const { versions, last, hasMore } = read;
    const isAll = query.count > 0 && after === undefined && !hasMore;
    const total =
      isAll && query.total !== 'none'
        ? versions.length
        : (counted ?? (isLong ? undefined : await totalOf(search, query, after)));
    const shown = { versions, complete, ...(total !== undefined && { total }) };
    return last === undefined || !hasMore
      ? shown
      : { ...shown, next: writeFindCursor({ ...last, ...(total !== undefined && { total }) }) };
  }

  return async (query, limits) => {
    const order = toOrder(query.type, query.sort, slotOf);
    const after = query.after === undefined ? undefined : readFindCursor(query.after, order);
    try {
      return await runSearch(snapshots, turns, limits, (snapshot) => page(query, order, after, snapshot));
    } catch (error) {
      throw translateMongoError(error);
    }
  };
}

/** Whether it is known that more than this matches, or likely: what matches of the only way is mostly more too. */
function isLongerThan({ conjuncts, choice: { best, probed }, listed }: Search, count: number): boolean {
  if (listed !== undefined) return true;
  return best === undefined || (waysInto(conjuncts).length === 1 && probed.length > 0 && best.matches > count);
}

interface Page extends Pick<FindPage, 'versions'> {
  readonly last?: Pick<FindCursor, 'id' | 'values'>;
  readonly hasMore: boolean;
}

const NO_PAGE: Page = { versions: [], hasMore: false };

async function readPage(search: Search, count: number): Promise<Page> {
  const { batch } = await findPage(search, count + 1);
  const shown = batch.documents.slice(0, count);
  const versions = shown.map(toStoredVersion);
  const [bytes, stored] = [shown.at(-1), versions.at(-1)];
  const hasMore = batch.isCut || batch.documents.length > count;
  if (bytes === undefined || stored === undefined) return { versions, hasMore: false };
  return { versions, hasMore, last: { id: stored.id, values: valuesOf(bytes, search.order) } };
}

/** The total of the first page, on each. */
async function totalOf(
  search: Search,
  { total }: FindQuery,
  after: FindCursor | undefined,
): Promise<number | undefined> {
  if (after !== undefined) return after.total;
  if (total === 'none') return undefined;
  return total === 'accurate' ? countAll(search) : countCheaply(search);
}
