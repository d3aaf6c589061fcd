import type { Raw } from '../../bson/bson.js';
import type { Condition } from '../../../../search/query/query.js';
import { isContainedType } from '../../../contained-resources.js';
import { CHEAP_TOTAL } from '../../../store.js';
import { openAsk, type Ask } from '../ask.js';
import { COLLECTED, type ProbedWay } from '../plan/choose.js';
import { waysInto } from '../compile/compile.js';
import type { FindCursor } from '../cursor.js';
import type { FindParts } from '../parts.js';
import { toOrder, valuesOf, type Order, type OrderValue } from '../compile/order.js';
import { nameOf, openSearch, type Search, type Sought } from '../open-search.js';
import { findPage } from '../page.js';
import { hasLinks, isOfItself, type Plan } from '../plan/plan.js';
import { listOrder } from '../orders/list-order.js';
import { nameOfOrder, type KnownOrder, type KnownOrders, type SortedSearch } from '../orders/known-orders.js';
import { compareMatches, type Match } from '../orders/match.js';
import { countAll, countCheaply } from '../total.js';
import type { Snapshot } from '../../read/snapshot.js';
import { readBodies, type Bodies } from './bodies.js';
import { candidateProjection } from './held.js';
import { idOf } from './read-all.js';
import { walkMatches, type Walk } from './candidates.js';
import { openLinks, type Links } from './links.js';
import { settle } from './reduce.js';
import { sizeOf } from './size.js';

/** What was found for a page. */
export interface FoundPage {
  readonly documents: readonly Raw[];
  /** There are more within the limit, but they did not fit into the answer. */
  readonly isCut: boolean;
  /** What each is sorted by. */
  valuesAt(place: number): readonly (OrderValue | null)[];
  /** What it began with. */
  readonly driving: () => string;
}

/** What was found, by its keys. */
export interface FoundMatches {
  readonly matches: readonly Match[];
  /** As in `FoundPage`. */
  readonly isCut: boolean;
  readonly driving: () => string;
}

/** A search of one type in a snapshot, whatever it asks for. */
export interface Finder {
  readonly ask: Ask;
  /** The next documents, at most so many. */
  page(limit: number): Promise<FoundPage>;
  /** The same without what they hold. */
  matches(limit: number): Promise<FoundMatches>;
  /** Whether it is known that more than this matches, or likely. */
  isLongerThan(count: number): boolean;
  countAll(): Promise<number>;
  /** Undefined: that is not cheap. */
  countCheaply(): Promise<number | undefined>;
  /** What was counted to choose a way. */
  readonly probed: readonly ProbedWay[];
}

/** @param after the cursor, read for this order */
export async function openFinder(
  snapshot: Snapshot,
  parts: Pick<FindParts, 'probes' | 'orders' | 'linkLimits' | 'memberTypes'>,
  sought: Sought & { readonly where: Condition },
  order: Order,
  after: FindCursor | undefined,
  ask: Ask = openAsk(snapshot),
): Promise<Finder> {
  const { probes, orders, linkLimits, memberTypes } = parts;
  const { type, where, base } = sought;
  const links = openLinks(snapshot, probes, ask, linkLimits, base);
  const plan = await memberTypes.settle(snapshot, where, async (one) =>
    hasLinks(one) ? settle(links, type, one) : one,
  );
  if (!hasLinks(plan)) {
    const own = { ...sought, where: plan };
    const sorted = isKnowable(own, order, after) ? { snapshot, ask, name: nameOfOrder(type, plan, order), type, where: plan, order } : undefined; // prettier-ignore
    let other: Promise<Finder> | undefined;
    const anew = (): Promise<Finder> => {
      if (other === undefined && sorted !== undefined) orders.forget(sorted);
      return (other ??= openFinder(snapshot, parts, sought, order, after, ask));
    };
    const known = sorted && orders.get(sorted);
    if (sorted !== undefined && known !== undefined) return knownFinder(orders, sorted, known, after, anew);
    const search = await openSearch(snapshot, probes, own, order, after, ask);
    if (sorted !== undefined && isWorthListing(search, own) && !orders.isBusy(type)) {
      const hits = search.listed?.map((key) => ({ key, values: [] })) ?? (await listOrder(search));
      if (hits !== undefined) {
        const found = knownFinder(orders, sorted, await orders.keep(sorted, hits), after, anew);
        const driving = search.choice.best!.way.conjunct.name;
        return {
          ...found,
          page: async (limit) => ({ ...(await found.page(limit)), driving }),
          probed: [...links.probed, ...search.choice.probed],
        };
      }
    }
    return plainFinder(search, [...links.probed, ...search.choice.probed]);
  }
  const walk: Walk = { links, type, plan, order, after };
  return {
    ask,
    probed: links.probed,
    page: (limit) => linkedPage(walk, limit),
    matches: (limit) => linkedMatches(walk, limit),
    isLongerThan: () => false,
    countAll: async () => (await countWalk(walk, Infinity, Infinity)) ?? 0,
    async countCheaply() {
      const name = nameOf(type, where);
      if (probes.isLong(name)) return undefined;
      const { isMore } = await sizeOf(links, type, plan, COLLECTED);
      const total = await countWalk(walk, CHEAP_TOTAL.matches, isMore ? CHEAP_TOTAL.time : Infinity);
      if (total === undefined) probes.noteLong(name);
      return total;
    },
  };
}

/** Whether all that a search finds may be remembered: in the order of ids for its total, which further pages have already. */
function isKnowable({ type, where, count, total }: Sought, { by }: Order, after: FindCursor | undefined): boolean {
  if (count === 0 || isContainedType(type) || !isOfItself(where)) return false;
  return by === 'id' ? after === undefined && total !== 'none' : by !== 'updated';
}

/** Whether all that a search finds is read by its keys: it is not much, but more than a page, and further pages or the total need it too. */
function isWorthListing({ choice: { best, isShort }, after }: Search, { count, total }: Sought): boolean {
  return isShort && best !== undefined && best.matches > count && (after !== undefined || total !== 'none');
}

/** @param anew finds the same without what is known */
function knownFinder(
  orders: KnownOrders,
  search: SortedSearch,
  known: KnownOrder,
  after: FindCursor | undefined,
  anew: () => Promise<Finder>,
): Finder {
  const { ask, type, order } = search;
  let updated: Promise<readonly Match[] | undefined> | undefined;
  const update = () => (updated ??= orders.update(search, known));
  const driving = (): string => `every ${type}`;
  const next = (hits: readonly Match[], limit: number): readonly Match[] => behind(hits, type, order, after, limit);
  const read = (matches: readonly Match[]): Promise<Bodies> => readBodies(ask, matches.map(({ key }) => key), ask.projection); // prettier-ignore
  const isSame = (a: readonly Match[], b: readonly Match[]): boolean =>
    a.length === b.length && a.every(({ key }, i) => key === b[i]!.key);
  return {
    ask,
    probed: [],
    async page(limit) {
      // Mostly nothing was written since, and then this is the only command.
      const expected = next(known.hits, limit);
      const found = await read(expected);
      const hits = await update();
      if (hits === undefined) return (await anew()).page(limit);
      const matches = next(hits, limit);
      const { documents, looked } = isSame(matches, expected) ? found : await read(matches);
      // An operator removed a document by hand.
      if (documents.length < looked) return (await anew()).page(limit);
      return { documents, isCut: looked < matches.length, driving, valuesAt: (at) => matches[at]!.values };
    },
    async matches(limit) {
      const hits = await update();
      if (hits === undefined) return (await anew()).matches(limit);
      return { matches: next(hits, limit), isCut: false, driving };
    },
    // Its total is known when the page is.
    isLongerThan: () => false,
    async countAll() {
      const hits = await update();
      return hits === undefined ? (await anew()).countAll() : hits.length;
    },
    async countCheaply() {
      const hits = await update();
      if (hits === undefined) return (await anew()).countCheaply();
      return hits.length <= CHEAP_TOTAL.matches ? hits.length : undefined;
    },
  };
}

/** The next matches behind a cursor. */
function behind(
  hits: readonly Match[],
  type: string,
  order: Order,
  after: FindCursor | undefined,
  limit: number,
): readonly Match[] {
  if (after === undefined) return hits.slice(0, limit);
  const compare = compareMatches(order);
  const place = { key: `${type}/${after.id}`, values: after.values };
  const begin = hits.findIndex((hit) => compare(hit, place) > 0);
  return begin < 0 ? [] : hits.slice(begin, begin + limit);
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

async function linkedPage(walk: Walk, limit: number): Promise<FoundPage> {
  const { matches, driving } = await linkedMatches(walk, limit);
  const keys = matches.map(({ key }) => key);
  // All are there: they were found in the same snapshot.
  const { documents, looked } = await readBodies(walk.links.ask, keys);
  return { documents, isCut: looked < keys.length, driving, valuesAt: (place) => matches[place]!.values };
}

async function linkedMatches(walk: Walk, limit: number): Promise<FoundMatches> {
  const matches: Match[] = [];
  let driving: () => string = () => `every ${walk.type}`;
  for await (const piece of walkMatches(walk, limit)) {
    matches.push(...piece.matches);
    ({ driving } = piece);
    if (matches.length >= limit) break;
  }
  return { matches: matches.slice(0, limit), isCut: false, driving };
}

/** How many match; undefined: more than so many, or to know it takes longer than this, in milliseconds. */
async function countWalk(walk: Walk, most: number, time: number): Promise<number | undefined> {
  const begun = performance.now();
  const { links, type } = walk;
  const order = toOrder(type, [], () => undefined);
  let total = 0;
  for await (const { matches, plan } of walkMatches({ ...walk, order, after: undefined }, 0)) {
    if (!hasLinks(plan)) return countKnown(links, type, plan, most);
    total += matches.length;
    if (total > most) return undefined;
    if (performance.now() - begun > time) return undefined;
  }
  return total;
}

/** The same where the other sides are known by now. */
async function countKnown(links: Links, type: string, where: Plan, most: number): Promise<number | undefined> {
  const order = toOrder(type, [], () => undefined);
  const sought = { type, where, count: 0, total: 'accurate' } as const;
  const search = await openSearch(links.snapshot, links.probes, sought, order, undefined);
  return most === Infinity ? countAll(search) : countCheaply(search);
}
