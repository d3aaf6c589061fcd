import type { Document } from 'mongodb';

import { fieldsOf, readValue } from '../bson/bson.js';
import { REMOVALS } from '../write/removals.js';
import type { ClusterTime } from './batch.js';
import type { Snapshot } from './snapshot.js';
import { countWalk, FEW_TYPES, type VersionWalk, type WalkPage } from './walk.js';

/** Newer versions than this are counted into what is remembered; after a while so are few, which a first page then need not show all. */
const MANY = 500;
const FEW = 10;
const A_WHILE = 60_000;

/** Not more often than this, in milliseconds: while much is written, what is newer than complete is much at any time. */
const A_MOMENT = 2000;

/** How long a count is added to until everything is counted again, in milliseconds: should it be wrong, then not for ever. */
const LONGEST = 600_000;

/** Counts the versions of histories. */
export interface HistoryTotals {
  /** Begins to count those of a walk in a snapshot. The first page may be read before it goes on. */
  begin(snapshot: Snapshot, query: VersionWalk): Promise<Counting>;
}

/** Counts in one snapshot; `complete` is the instant before which nothing new can appear after it. */
export interface Counting {
  /** The total where the first page shows all versions that are not remembered; undefined: it has to be counted. */
  ofPage(first: WalkPage, complete: number): number | undefined;
  count(complete: number): Promise<number>;
}

/** What was counted up to an instant. */
interface Counted {
  readonly before: number;
  readonly total: number;
  /** Versions were removed, or moved, so often until then. */
  readonly removals: number;
  /** When it is forgotten, in the time of `performance.now()`. */
  readonly end: number;
}

/** How many versions there are from an instant on, in the snapshots of one moment, which are the same. */
interface Newer {
  readonly from: number;
  readonly time: ClusterTime;
  readonly count: number;
}

/**
 * Remembers how many versions a type or the system has up to an instant before which nothing new can appear, and counts only what
 * came after it, once for each moment of the database: after many writes that is much, also for those who only read. Removals are
 * numbered: after one all is counted again.
 */
export function openHistoryTotals(): HistoryTotals {
  const known = new Map<string, Counted>();
  const newest = new Map<string, Newer>();

  function recall({ type = '' }: VersionWalk, complete: number, removals: number): Counted | undefined {
    const last = known.get(type);
    if (last === undefined || last.removals !== removals || last.before > complete) return undefined;
    return last.end < performance.now() ? undefined : last;
  }

  async function count(snapshot: Snapshot, query: VersionWalk, complete: number, removals: number): Promise<number> {
    const { type = '' } = query;
    const last = recall(query, complete, removals);
    if (last === undefined) {
      const [total, newer] = await Promise.all([
        countWalk(snapshot, within(query, { $lt: new Date(complete) })),
        countFrom(snapshot, query, complete),
      ]);
      known.set(type, { before: complete, total, removals, end: performance.now() + LONGEST });
      return total + newer;
    }
    const newer = await countFrom(snapshot, query, last.before);
    const age = complete - last.before;
    if (age > A_MOMENT && newer > (age > A_WHILE ? FEW : MANY)) {
      const left = await countFrom(snapshot, query, complete);
      known.set(type, { ...last, before: complete, total: last.total + newer - left });
    }
    return last.total + newer;
  }

  async function countFrom(snapshot: Snapshot, query: VersionWalk, from: number): Promise<number> {
    const { type = '' } = query;
    const time = await snapshot.time();
    const last = newest.get(type);
    if (last?.from === from && last.time.seconds === time.seconds && last.time.increment === time.increment) {
      return last.count;
    }
    const count = await countWalk(snapshot, within(query, { $gte: new Date(from) }));
    newest.set(type, { from, time, count });
    return count;
  }

  return {
    async begin(snapshot, query) {
      if (!isRemembered(query)) return { ofPage: ofOnlyPage, count: () => countWalk(snapshot, query) };
      const removals = await readRemovals(snapshot);
      const { types, ...rest } = query;
      return {
        ofPage(first, complete) {
          const last = types === undefined ? recall(query, complete, removals) : undefined;
          const isPassed = last !== undefined && first.last !== undefined && first.last.updated < last.before;
          if (!first.hasMore || !isPassed) return ofOnlyPage(first);
          return last.total + first.versions.filter(({ lastUpdated }) => lastUpdated >= last.before).length;
        },
        async count(complete) {
          const each = types === undefined ? [rest] : types.map((type) => ({ ...rest, type }));
          const totals = await Promise.all(each.map((one) => count(snapshot, one, complete, removals)));
          return totals.reduce((sum, total) => sum + total, 0);
        },
      };
    },
  };
}

/** The total of what fits on one page. */
function ofOnlyPage({ versions, hasMore }: WalkPage): number | undefined {
  return hasMore ? undefined : versions.length;
}

/** Histories of the system, of a type, or of a few types, without any bounds. */
function isRemembered({ id, types, current, past }: VersionWalk): boolean {
  const isBounded = Object.keys(current).length + Object.keys(past).length > 0;
  return !isBounded && id === undefined && (types === undefined || types.length <= FEW_TYPES);
}

function within(query: VersionWalk, updated: Document): VersionWalk {
  return { ...query, current: { updated }, past: { updated } };
}

async function readRemovals(snapshot: Snapshot): Promise<number> {
  const { documents } = await snapshot.find({ collection: 'setting', filter: { _id: REMOVALS }, limit: 1 });
  const [bytes] = documents;
  const field = bytes && fieldsOf(bytes).get('value');
  return bytes === undefined || field === undefined ? 0 : Number(readValue(bytes, field));
}
