import type { Document } from 'mongodb';

import { fieldsOf, readValue } from '../bson/bson.js';
import { completeOf } from '../write/complete.js';
import { REMOVALS } from '../write/removals.js';
import type { Snapshot } from './snapshot.js';
import { countWalk, FEW_TYPES, type Walk } from './walk.js';

/** Newer versions than this are counted into what is remembered. */
const MANY = 500;

/** How long a count is added to until everything is counted again, in milliseconds: should it be wrong, then not for ever. */
const LONGEST = 600_000;

/** Counts the versions of histories. */
export interface HistoryTotals {
  /** How many versions a walk has, and the instant before which nothing new can appear after the snapshot. */
  count(snapshot: Snapshot, query: Walk): Promise<{ readonly total: number; readonly complete: number }>;
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

/**
 * Remembers how many versions a type or the system has up to an instant before which nothing new can appear, and counts only what
 * came after it. Removals are numbered: after one all is counted again.
 *
 * @param now the server's time
 */
export function openHistoryTotals(now: () => number): HistoryTotals {
  const known = new Map<string, Counted>();

  async function countAll(snapshot: Snapshot, query: Walk, complete: number, removals: number): Promise<number> {
    const name = query.type ?? '';
    const last = known.get(name);
    const end = performance.now() + LONGEST;
    if (last === undefined || last.removals !== removals || last.end < performance.now() || last.before > complete) {
      const [total, newer] = await Promise.all([
        countWalk(snapshot, within(query, { $lt: new Date(complete) })),
        countWalk(snapshot, within(query, { $gte: new Date(complete) })),
      ]);
      known.set(name, { before: complete, total, removals, end });
      return total + newer;
    }
    const newer = await countWalk(snapshot, within(query, { $gte: new Date(last.before) }));
    if (newer > MANY) {
      const newest = await countWalk(snapshot, within(query, { $gte: new Date(complete) }));
      known.set(name, { ...last, before: complete, total: last.total + newer - newest });
    }
    return last.total + newer;
  }

  return {
    async count(snapshot, query) {
      if (!isRemembered(query)) {
        const total = await countWalk(snapshot, query);
        return { total, complete: await completeOf(snapshot, now) };
      }
      // This first: a command that tells the time of the snapshot, too.
      const removals = await readRemovals(snapshot);
      const complete = await completeOf(snapshot, now);
      const { types, ...rest } = query;
      const each = types === undefined ? [rest] : types.map((type) => ({ ...rest, type }));
      const totals = await Promise.all(each.map((one) => countAll(snapshot, one, complete, removals)));
      return { total: totals.reduce((sum, total) => sum + total, 0), complete };
    },
  };
}

/** Histories of the system, of a type, or of a few types, without any bounds. */
function isRemembered({ id, types, current, past }: Walk): boolean {
  const isBounded = Object.keys(current).length + Object.keys(past).length > 0;
  return !isBounded && id === undefined && (types === undefined || types.length <= FEW_TYPES);
}

function within(query: Walk, updated: Document): Walk {
  return { ...query, current: { updated }, past: { updated } };
}

async function readRemovals(snapshot: Snapshot): Promise<number> {
  const { documents } = await snapshot.find({ collection: 'setting', filter: { _id: REMOVALS }, limit: 1 });
  const [bytes] = documents;
  const field = bytes && fieldsOf(bytes).get('value');
  return bytes === undefined || field === undefined ? 0 : Number(readValue(bytes, field));
}
