import { idOf } from '../../bson/bson.js';
import { isContainedType } from '../../../contained-resources.js';
import type { Snapshot } from '../../read/snapshot.js';
import type { Ask } from '../ask.js';
import { waysInto } from '../compile/compile.js';
import { valuesOf, type Order } from '../compile/order.js';
import type { FindCursor } from '../cursor.js';
import { openSearch, type Search, type Sought } from '../open-search.js';
import { knownFinder } from '../orders/known-finder.js';
import { nameOfOrder } from '../orders/known-orders.js';
import { listOrder } from '../orders/list-order.js';
import { findPage, type Found } from '../page.js';
import type { FindParts } from '../parts.js';
import { typeAccess } from '../plan/access.js';
import { COLLECTED, type ProbedWay } from '../plan/choose.js';
import { isOfItself } from '../plan/plan.js';
import { countAll, countCheaply } from '../total.js';
import type { Finder, FoundPage } from './found.js';
import { candidateProjection } from './held.js';

/** Of a search without links: by what is known of it, if anything is. @param probed what was counted before */
export async function ownFinder(
  snapshot: Snapshot,
  parts: Pick<FindParts, 'probes' | 'orders'>,
  sought: Sought,
  order: Order,
  after: FindCursor | undefined,
  ask: Ask,
  probed: readonly ProbedWay[],
): Promise<Finder> {
  const { probes, orders } = parts;
  const { type, where } = sought;
  const isKnowable = !isContainedType(type) && isOfItself(where);
  const name = isKnowable ? nameOfOrder(type, where, order) : '';
  const search = { snapshot, ask, name, type, where, order };
  const isUsed = isKnowable && isOfUse(sought, order, after);
  const known = isUsed ? orders.get(search) : undefined;
  let other: Promise<Finder> | undefined;
  const anew = (): Promise<Finder> => {
    if (other === undefined) orders.forget(search);
    return (other ??= ownFinder(snapshot, parts, sought, order, after, ask, probed));
  };
  if (known !== undefined) return knownFinder(orders, search, known, after, anew);
  const begun = await openSearch(snapshot, probes, sought, order, after, ask);
  const all = [...probed, ...begun.choice.probed];
  // A first page without a total is mostly all that the client wants.
  const isListed = isUsed && (after !== undefined || sought.total !== 'none') && !orders.isBusy(type);
  // Mostly its page tells that there is no more.
  const early = isListed && isUncounted(begun) ? await findPage(begun, sought.count + 1) : undefined;
  const isWhole = early !== undefined && !early.batch.isCut && early.batch.documents.length <= sought.count;
  /** The same, whose first page is what was read. */
  const shown = (finder: Finder): Finder => {
    const page: Finder['page'] = async (limit) =>
      early !== undefined && limit === sought.count + 1 ? toPage(early, order) : finder.page(limit);
    return { ...finder, page };
  };
  const most = isListed && !isWhole ? await listedAtMost(begun, sought.count) : 0;
  if (most > 0) {
    const hits = begun.listed?.map((key) => ({ key, values: [] })) ?? (await listOrder(begun, most));
    if (hits !== undefined) {
      const hasFurtherPages = after !== undefined || hits.length > sought.count;
      const found = knownFinder(orders, search, await orders.keep(search, hits, hasFurtherPages), after, anew);
      const driving = begun.choice.best!.way.conjunct.name;
      return shown({ ...found, probed: all, page: async (limit) => ({ ...(await found.page(limit)), driving }) });
    }
  }
  const found = shown(plainFinder(begun, all));
  return isKnowable ? { ...found, countAll: () => orders.total(search, found.countAll) } : found;
}

/**
 * Whether it is of use to know all that a search finds by its keys. In the order of ids, which indexes have, it is for the total alone,
 * and further pages have that already.
 */
function isOfUse({ count, total }: Sought, { by }: Order, after: FindCursor | undefined): boolean {
  if (count === 0 || by === 'updated') return false;
  return by !== 'id' || (after === undefined && total !== 'none');
}

/** What is put in order at most where the way of the order leads to few of it; it is tried whether there are more, in turn. */
const SORTED = [1500, 2000, 3000];

/** How many times as long it takes to look at a resource on the way of an order as to read what a match is sorted by. */
const WALK_COST = 12;

/** How many matches may be listed for a page: where there are more than a page, but not much; else 0. */
async function listedAtMost(search: Search, count: number): Promise<number> {
  const { snapshot, probes, type, choice, order } = search;
  const { best } = choice;
  if (best === undefined) return 0;
  if (choice.isShort) return best.matches > count ? COLLECTED : 0;
  if (order.by !== 'id') {
    for (const most of SORTED) {
      if ((await probes.count(snapshot, best.way.access, most)).isMore) continue;
      // One in so many that the walk looks at is a match.
      const resources = Math.ceil((most * most) / (WALK_COST * (count + 1)));
      return (await probes.count(snapshot, typeAccess(type), resources)).isMore ? most : 0;
    }
    return 0;
  }
  if (!isUncounted(search)) return 0;
  const { matches, isMore } = await probes.count(snapshot, best.way.access, COLLECTED);
  return !isMore && matches > count ? COLLECTED : 0;
}

/** Whether it is one value in the order of ids, which was not counted yet. Where the index knows all that has it, it counts that too. */
function isUncounted({ choice, conjuncts, order }: Search): boolean {
  const { best, isShort, probed } = choice;
  if (best === undefined || isShort || order.by !== 'id') return false;
  return conjuncts.length <= 1 && probed.length === 0 && best.way.access.isExact !== true;
}

function toPage({ batch: { documents, isCut }, driving }: Found, order: Order): FoundPage {
  return { documents, isCut, driving, valuesAt: (place) => valuesOf(documents[place]!, order) };
}

function plainFinder(search: Search, probed: readonly ProbedWay[]): Finder {
  const { ask, order, conjuncts, choice, listed } = search;
  return {
    ask,
    probed,
    page: async (limit) => toPage(await findPage(search, limit), order),
    async matches(limit) {
      const reading = ask.reading(candidateProjection({ params: [], names: false }));
      const { batch, driving } = await findPage({ ...search, ask: reading }, limit);
      const matches = batch.documents.map((bytes) => ({ key: idOf(bytes), values: valuesOf(bytes, order) }));
      return { matches, isCut: batch.isCut, driving };
    },
    isLongerThan(count) {
      if (listed !== undefined) return true;
      const { best } = choice;
      // What matches of the only way is mostly more too.
      return best === undefined || (waysInto(conjuncts).length === 1 && best.matches > count);
    },
    countAll: () => countAll(search),
    countCheaply: () => countCheaply(search),
  };
}
