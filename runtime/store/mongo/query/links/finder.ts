import { append } from '../../../../fhir/lists.js';
import type { Condition } from '../../../../search/query/query.js';
import { CHEAP_TOTAL } from '../../../store.js';
import type { Snapshot } from '../../read/snapshot.js';
import { openAsk, type Ask } from '../ask.js';
import { toOrder, type Order } from '../compile/order.js';
import type { FindCursor } from '../cursor.js';
import { nameOf, openSearch, type Sought } from '../open-search.js';
import type { Match } from '../orders/match.js';
import type { FindParts } from '../parts.js';
import { COLLECTED } from '../plan/choose.js';
import { hasLinks, type Plan } from '../plan/plan.js';
import { countAll, countCheaply } from '../total.js';
import { readBodies } from './bodies.js';
import { walkMatches, type Walk } from './candidates.js';
import type { Finder, FoundMatches, FoundPage } from './found.js';
import { openLinks, type Links } from './links.js';
import { ownFinder } from './own-finder.js';
import { settle } from './reduce.js';
import { sizeOf } from './size.js';

/** @param after the cursor, read for this order */
export async function openFinder(
  snapshot: Snapshot,
  parts: Pick<FindParts, 'probes' | 'orders' | 'isNameable' | 'linkLimits' | 'memberTypes'>,
  sought: Sought & { readonly where: Condition },
  order: Order,
  after: FindCursor | undefined,
  ask: Ask = openAsk(snapshot),
): Promise<Finder> {
  const { probes, isNameable, linkLimits, memberTypes } = parts;
  const { type, where, base } = sought;
  const links = openLinks(snapshot, probes, ask, linkLimits, isNameable, base);
  const plan = await memberTypes.settle(snapshot, where, async (one) =>
    hasLinks(one) ? settle(links, type, one) : one,
  );
  if (!hasLinks(plan)) return ownFinder(snapshot, parts, { ...sought, where: plan }, order, after, ask, links.probed);
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
      if (total === undefined) probes.noteLong(name, false);
      return total;
    },
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
    append(matches, piece.matches);
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
