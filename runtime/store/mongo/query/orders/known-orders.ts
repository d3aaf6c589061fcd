import { openOrderCache } from '../../../order-cache.js';
import { fieldsOf, readValue } from '../../bson/bson.js';
import { keyOf } from '../../bson/documents.js';
import { BY_TYPE_AND_TIME } from '../../indexes.js';
import type { ClusterTime } from '../../read/batch.js';
import type { Snapshot } from '../../read/snapshot.js';
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
export interface KnowableSearch {
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
  get(search: KnowableSearch): KnownOrder | undefined;
  /**
   * What is found in the snapshot of the search. Where nothing was written since, no command is sent for it, if one was sent before.
   *
   * @returns undefined: much was written since, or something that no time of a version tells of
   */
  update(search: KnowableSearch, known: KnownOrder): Promise<readonly Match[] | undefined>;
  /**
   * Remembers what was found in the snapshot of the search: if no page follows, when it is found once more, for that takes a command, which
   * pays where the same is searched again.
   */
  keep(search: KnowableSearch, hits: readonly Match[], hasFurtherPages: boolean): Promise<KnownOrder>;
  forget(search: KnowableSearch): void;
  /** How many a search finds: what was counted before, where nothing of the type was written since. */
  total(search: KnowableSearch, count: () => Promise<number>): Promise<number>;
  /** Whether so much of a type is written that what is remembered is of no use. */
  isBusy(type: string): boolean;
}

/** What was found in one snapshot. */
export interface KnownOrder extends Known {
  readonly hits: readonly Match[];
}

interface KnownTotal extends Known {
  readonly hits: readonly [];
  readonly total: number;
}

interface Known {
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

/** What the orders of a process take, about, in bytes: twenty of the largest. */
const MEMORY = 20_000_000;

/** Fewer are counted as fast as it is looked for what was written: some 5 µs each, and three short commands. */
const MANY = 200;

/** How long nothing is remembered of a type of which more changed, in milliseconds. */
const BUSY = 5000;

/** How long an order is brought up to date until it is read anew, in milliseconds: should it be wrong, then not for long. */
const LONGEST = 60_000;

/** Searches that are known to have been found once, at most. */
const MAX_ONCE = 2000;

/** Longer names are not worth their memory. */
const MAX_NAME = 2000;

/** A name for a search, by what it looks for and by its order. */
export function nameOfOrder(type: string, where: Plan, { keys, idSign }: Order): string {
  return `${nameOf(type, where)} ${JSON.stringify([idSign, ...keys.map(({ field, sign, expression }) => [field, sign, expression])])}`;
}

/** Nothing is known yet. @param now the server's time */
export function openKnownOrders(now: () => number): KnownOrders {
  const cache = openOrderCache<KnownOrder>(MEMORY);
  const totals = openOrderCache<KnownTotal>();
  const busy = new Map<string, number>();
  /** Names of searches that were found once, the oldest first. */
  const once = new Set<string>();

  /** What is known of a search in its snapshot, beside what it finds. */
  async function begin({ snapshot }: KnowableSearch, mark: string, end: number): Promise<Known> {
    return { time: await snapshot.time(), complete: await completeOf(snapshot, now), mark, end };
  }

  /** Keys of what may have changed since; undefined: too many, or what no time of a version tells of. */
  async function changesSince(search: KnowableSearch, known: Known): Promise<readonly string[] | undefined> {
    const { snapshot, type } = search;
    const time = await snapshot.time();
    const age = compareTimes(time, known.time);
    if (age === 0) return [];
    if (age < 0 || known.end < performance.now()) return undefined;
    const [changed, mark] = await Promise.all([readChanged(snapshot, type, known.complete), readMark(snapshot)]);
    if (changed.length > MOST_CHANGED) busy.set(type, performance.now() + BUSY);
    if (mark !== known.mark || changed.length > MOST_CHANGED) return undefined;
    if (changed.length === 0) Object.assign(known, { time, complete: await completeOf(snapshot, now) });
    return changed;
  }

  async function merge(
    search: KnowableSearch,
    known: KnownOrder,
    changed: readonly string[],
  ): Promise<readonly Match[]> {
    const { ask, type, where, order } = search;
    const fresh = await readMatches(ask, order, changed, restOf(compile(type, where)));
    const others = new Set(changed);
    const unchanged = known.hits.filter(({ key }) => !others.has(key));
    return fresh.length === 0 ? unchanged : [...unchanged, ...fresh].sort(compareMatches(order));
  }

  function keep({ name }: KnowableSearch, known: KnownOrder): KnownOrder {
    if (name.length <= MAX_NAME) cache.keep(name, known);
    return known;
  }

  return {
    get: ({ name }) => cache.get(name),
    async update(search, known) {
      const changed = await changesSince(search, known);
      if (changed === undefined) return undefined;
      if (changed.length === 0) return known.hits;
      const hits = await merge(search, known, changed);
      keep(search, { ...(await begin(search, known.mark, known.end)), hits });
      return hits;
    },
    async keep(search, hits, hasFurtherPages) {
      const end = performance.now() + LONGEST;
      // In its own snapshot nothing has changed.
      if (!hasFurtherPages && isFirst(search.name)) return { ...(await begin(search, '', end)), hits };
      const mark = await readMark(search.snapshot);
      return keep(search, { ...(await begin(search, mark, end)), hits });
    },
    forget: ({ name }) => cache.forget(name),
    async total(search, count) {
      const { name, type, snapshot } = search;
      const known = totals.get(name);
      const changed = known === undefined || isBusy(type) ? undefined : await changesSince(search, known);
      if (known !== undefined && changed?.length === 0) return known.total;
      totals.forget(name);
      const total = await count();
      if (total > MANY && name.length <= MAX_NAME) {
        const mark = await readMark(snapshot);
        totals.keep(name, { ...(await begin(search, mark, performance.now() + LONGEST)), hits: [], total });
      }
      return total;
    },
    isBusy,
  };

  /** Whether a search was not found before, as far as that is known; what has too long a name is not remembered anyway. */
  function isFirst(name: string): boolean {
    if (name.length > MAX_NAME) return true;
    if (once.delete(name)) return false;
    once.add(name);
    for (const oldest of once) {
      if (once.size <= MAX_ONCE) break;
      once.delete(oldest);
    }
    return true;
  }

  function isBusy(type: string): boolean {
    return (busy.get(type) ?? 0) > performance.now();
  }
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
