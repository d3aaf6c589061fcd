import { CHEAP_TOTAL } from '../../../store.js';
import type { Order } from '../compile/order.js';
import type { FindCursor } from '../cursor.js';
import { readBodies, type Bodies } from '../links/bodies.js';
import type { Finder } from '../links/found.js';
import type { KnowableSearch, KnownOrder, KnownOrders } from './known-orders.js';
import { compareMatches, type Match } from './match.js';

/**
 * A search of which all matches are known, or were just read.
 *
 * @param anew finds the same without what is known
 */
export function knownFinder(
  orders: KnownOrders,
  search: KnowableSearch,
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
