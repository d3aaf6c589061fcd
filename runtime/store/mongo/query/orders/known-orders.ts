import { openOrderCache } from '../../../order-cache.js';
import { fieldsOf, readValue } from '../../bson/bson.js';
import { keyOf } from '../../bson/documents.js';
import { BY_TYPE_AND_TIME } from '../../indexes.js';
import type { ClusterTime, Snapshot } from '../../read/snapshot.js';
import { completeOf } from '../../write/complete.js';
import { REINDEXINGS } from '../../write/reindexings.js';
import { REMOVALS } from '../../write/removals.js';
import type { Ask } from '../ask.js';
import { compile, restOf } from '../compile/compile.js';
import type { Order } from '../compile/order.js';
import { nameOf } from '../open-search.js';
import type { Plan } from '../plan/plan.js';
import { readMatches } from './list-order.js';
import { compareMatches, type Match } from './match.js';

/** A search in a snapshot. Whether it finds a resource depends on this resource alone. */
export interface SortedSearch {
  readonly snapshot: Snapshot;
  readonly ask: Ask;
  /** What it looks for and how that is sorted, as text that no other has. */
  readonly name: string;
  readonly type: string;
  readonly where: Plan;
  readonly order: Order;
}

/**
 * What searches found, all of it in its order, by its keys. Where anything was written since, a search asks which resources of the type
 * that were, and looks at these alone. So its result is right in its own snapshot, also where another process wrote them.
 */
export interface KnownOrders {
  /** What was found before; it is right once `update` has seen to it. */
  get(search: SortedSearch): KnownOrder | undefined;
  /**
   * What is found in the snapshot of the search. Where nothing was written since, no command is sent for it, if one was sent before.
   *
   * @returns undefined: much was written since, or something that no time of a version tells of
   */
  update(search: SortedSearch, known: KnownOrder): Promise<readonly Match[] | undefined>;
  /** Remembers what was found in the snapshot of the search. */
  keep(search: SortedSearch, hits: readonly Match[]): Promise<KnownOrder>;
  forget(search: SortedSearch): void;
  /** Whether so much of a type is written that what is remembered is of no use. */
  isBusy(type: string): boolean;
}

/** What was found in one snapshot. */
export interface KnownOrder {
  readonly hits: readonly Match[];
  /** The moment of the snapshot, or of a later one in which the same is found. */
  time: ClusterTime;
  /** Nothing that was stamped before this instant is missing. */
  complete: number;
  /** See `readMark`. */
  readonly mark: string;
  /** When it is forgotten, in the time of `performance.now()`. */
  readonly end: number;
}

/** Resources that may have changed since; of more all is read anew. */
const MOST_CHANGED = 200;

/** How long nothing is remembered of a type of which more changed, in milliseconds. */
const BUSY = 5000;

/** How long an order is brought up to date until it is read anew, in milliseconds: should it be wrong, then not for long. */
const LONGEST = 60_000;

/** Longer names are not worth their memory. */
const MAX_NAME = 2000;

/** A name for a search, by what it looks for and by its order. */
export function nameOfOrder(type: string, where: Plan, { keys, idSign }: Order): string {
  return `${nameOf(type, where)} ${JSON.stringify([idSign, ...keys.map(({ field, sign, expression }) => [field, sign, expression])])}`;
}

/** Nothing is known yet. @param now the server's time */
export function openKnownOrders(now: () => number): KnownOrders {
  const cache = openOrderCache<KnownOrder>();
  const busy = new Map<string, number>();

  async function keep(search: SortedSearch, hits: readonly Match[], end: number, mark: string): Promise<KnownOrder> {
    const [time, complete] = [await search.snapshot.time(), await completeOf(search.snapshot, now)];
    const known = { hits, time, complete, mark, end };
    if (search.name.length <= MAX_NAME) cache.keep(search.name, known);
    return known;
  }

  async function merge(search: SortedSearch, known: KnownOrder, changed: readonly string[]): Promise<readonly Match[]> {
    const { ask, type, where, order } = search;
    const fresh = await readMatches(ask, order, changed, restOf(compile(type, where)));
    const others = new Set(changed);
    const unchanged = known.hits.filter(({ key }) => !others.has(key));
    return fresh.length === 0 ? unchanged : [...unchanged, ...fresh].sort(compareMatches(order));
  }

  return {
    get: ({ name }) => cache.get(name),
    async update(search, known) {
      const { snapshot, type } = search;
      const time = await snapshot.time();
      const age = compareTimes(time, known.time);
      if (age === 0) return known.hits;
      if (age < 0) return undefined;
      if (known.end < performance.now()) return undefined;
      const [changed, mark] = await Promise.all([readChanged(snapshot, type, known.complete), readMark(snapshot)]);
      if (changed.length > MOST_CHANGED) busy.set(type, performance.now() + BUSY);
      if (mark !== known.mark || changed.length > MOST_CHANGED) return undefined;
      if (changed.length === 0) {
        Object.assign(known, { time, complete: await completeOf(snapshot, now) });
        return known.hits;
      }
      const hits = await merge(search, known, changed);
      await keep(search, hits, known.end, mark);
      return hits;
    },
    keep: async (search, hits) => keep(search, hits, performance.now() + LONGEST, await readMark(search.snapshot)),
    forget: ({ name }) => cache.forget(name),
    isBusy: (type) => (busy.get(type) ?? 0) > performance.now(),
  };
}

/** Keys of what was written at or after an instant, one more than is of use at most; by an index alone. */
async function readChanged(snapshot: Snapshot, type: string, since: number): Promise<readonly string[]> {
  const { documents } = await snapshot.find({
    collection: 'resource',
    filter: { type, updated: { $gte: new Date(since) } },
    hint: BY_TYPE_AND_TIME,
    projection: { _id: 0, id: 1 },
    limit: MOST_CHANGED + 1,
  });
  return documents.map((bytes) => keyOf({ type, id: String(readValue(bytes, fieldsOf(bytes).get('id')!)) }));
}

/** Another one after each change that no time of a version tells of: what was removed for good, put in with an earlier time, or indexed anew. */
async function readMark(snapshot: Snapshot): Promise<string> {
  const filter = { _id: { $in: [REMOVALS, REINDEXINGS] } };
  const { documents } = await snapshot.find({ collection: 'setting', filter, limit: 2 });
  return documents.map((bytes) => bytes.toString('latin1')).join('');
}

/** Above 0: the first is later. */
function compareTimes(a: ClusterTime, b: ClusterTime): number {
  return a.seconds - b.seconds || a.increment - b.increment;
}
