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
import { findPage } from '../page.js';
import type { FindParts } from '../parts.js';
import { COLLECTED, type ProbedWay } from '../plan/choose.js';
import { isOfItself } from '../plan/plan.js';
import { countAll, countCheaply } from '../total.js';
import type { Finder } from './found.js';
import { candidateProjection } from './held.js';
import { idOf } from './read-all.js';

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
  if (isListed && (await isShort(begun, sought.count))) {
    const hits = begun.listed?.map((key) => ({ key, values: [] })) ?? (await listOrder(begun));
    if (hits !== undefined) {
      const found = knownFinder(orders, search, await orders.keep(search, hits), after, anew);
      const driving = begun.choice.best!.way.conjunct.name;
      return { ...found, probed: all, page: async (limit) => ({ ...(await found.page(limit)), driving }) };
    }
  }
  const found = plainFinder(begun, all);
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

/** Whether a search finds more than a page, but not much. */
async function isShort({ snapshot, probes, choice, conjuncts }: Search, count: number): Promise<boolean> {
  const { best } = choice;
  if (best === undefined) return false;
  if (choice.isShort) return best.matches > count;
  // One value in the order of ids was not counted yet; where the index knows all that has it, it counts that too.
  if (conjuncts.length > 1 || choice.probed.length > 0 || best.way.access.isExact === true) return false;
  const { matches, isMore } = await probes.count(snapshot, best.way.access, COLLECTED);
  return !isMore && matches > count;
}

function plainFinder(search: Search, probed: readonly ProbedWay[]): Finder {
  const { ask, order, conjuncts, choice, listed } = search;
  return {
    ask,
    probed,
    async page(limit) {
      const { batch, driving } = await findPage(search, limit);
      const { documents, isCut } = batch;
      return { documents, isCut, driving, valuesAt: (place) => valuesOf(documents[place]!, order) };
    },
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
