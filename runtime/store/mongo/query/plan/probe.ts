import type { Snapshot } from '../../read/snapshot.js';
import { sizeOfArm, keyRangesOf, textOf, type Arm, type KeyRange } from './access.js';

/** Estimates that a plan is chosen by. They are remembered for a short time. */
export interface Probes {
  /**
   * Counts entries, up to one above the limit for more; arms behind those that have as many are left out. Of long lists each value is
   * taken to be as frequent as the first are in the mean.
   */
  count(snapshot: Snapshot, arms: readonly Arm[], limit: number): Promise<number>;
  /** Notes how many entries arms have together, counted up to one above a limit. */
  note(arms: readonly Arm[], count: number, limit: number): void;
  /** Whether it is remembered that arms have more entries together than this. */
  isMore(arms: readonly Arm[], limit: number): boolean;
  /** Makes an estimate of another kind, or remembers what was made under a name. */
  remember<T>(name: string, make: () => Promise<T>): Promise<T>;
}

/** So long an estimate is good enough to choose by, in milliseconds. */
const FRESH = 5000;

/** Estimates that are remembered at most, and the longest name of one. */
const MOST = { estimates: 2000, name: 2000 };

/** Keys that are listed to count them; more are skipped, to see whether there are more. */
const MAX_LISTED = 1000;

/** Values that are counted, and those that are each by itself. */
const MAX_COUNTED = 20;
const MOST_ALONE = 3;

interface Counted {
  readonly count: number;
  /** How far was counted. */
  readonly limit: number;
}

/** @param now milliseconds, in whatever time */
export function openProbes(now: () => number = () => performance.now()): Probes {
  const estimates = new Map<string, { readonly value: unknown; readonly until: number }>();

  function recall(name: string): unknown {
    const known = estimates.get(name);
    return known !== undefined && known.until > now() ? known.value : undefined;
  }

  function keep(name: string, value: unknown): void {
    if (name.length > MOST.name) return;
    estimates.delete(name);
    estimates.set(name, { value, until: now() + FRESH });
    const [oldest] = estimates.keys();
    if (estimates.size > MOST.estimates && oldest !== undefined) estimates.delete(oldest);
  }

  /** Undefined: it was not counted so far. */
  function recallCount(arms: readonly Arm[], limit: number): number | undefined {
    const known = recall(nameOf(arms)) as Counted | undefined;
    const isEnough = known !== undefined && (known.limit >= limit || known.count <= known.limit);
    return isEnough ? Math.min(known.count, limit + 1) : undefined;
  }

  function note(arms: readonly Arm[], count: number, limit: number): void {
    keep(nameOf(arms), { count, limit });
  }

  async function countArm(snapshot: Snapshot, arm: Arm, limit: number): Promise<number> {
    // Each id is one resource, or none.
    if (arm.index === '_id_' && 'values' in arm.keys) return Math.min(sizeOfArm(arm), limit + 1);
    const known = recallCount([arm], limit);
    if (known !== undefined) return known;
    const count = Math.min(await countValues(snapshot, arm, limit), limit + 1);
    note([arm], count, limit);
    return count;
  }

  return {
    note,
    async count(snapshot, arms, limit) {
      let sum = 0;
      for (const arm of arms) {
        sum += await countArm(snapshot, arm, limit);
        if (sum > limit) break;
      }
      return Math.min(sum, limit + 1);
    },
    isMore: (arms, limit) => (recallCount(arms, limit) ?? 0) > limit,
    async remember<T>(name: string, make: () => Promise<T>) {
      const known = recall(name) as { readonly made: T } | undefined;
      if (known !== undefined) return known.made;
      const made = await make();
      keep(name, { made });
      return made;
    },
  };
}

function nameOf(arms: readonly Arm[]): string {
  return arms.map(textOf).join();
}

/** Few values are counted one by one, by the index alone; more together, as far as documents may be read for it. */
async function countValues(snapshot: Snapshot, arm: Arm, limit: number): Promise<number> {
  const { driving, hint } = arm;
  const size = sizeOfArm(arm);
  if (size > MOST_ALONE && limit <= MAX_LISTED) {
    const query = { filter: driving, hint, limit: limit + 1, projection: { _id: 1 } } as const;
    return (await snapshot.find({ collection: 'resource', ...query })).documents.length;
  }
  const keyRanges = keyRangesOf(arm, MAX_COUNTED);
  const each = await Promise.all(keyRanges.map((keyRange) => measure(snapshot, keyRange, arm, limit)));
  const sum = each.reduce((total, count) => total + count, 0);
  return Math.ceil((sum / keyRanges.length) * size);
}

async function measure(snapshot: Snapshot, keyRange: KeyRange, { hint }: Arm, limit: number): Promise<number> {
  if (limit <= MAX_LISTED) return lengthOf(snapshot, keyRange, hint, limit + 1);
  return (await lengthOf(snapshot, keyRange, hint, 1, limit)) > 0 ? limit + 1 : limit;
}

/** How many resources have a key of the index within a range; no document is read for it. */
export async function lengthOf(
  snapshot: Snapshot,
  { min, max }: KeyRange,
  hint: Arm['hint'],
  limit: number,
  skip = 0,
): Promise<number> {
  // A field that is no array: the index has it all.
  const projection = 'type' in hint ? { _id: 0, type: 1 } : { _id: 1 };
  const bounds = { min, max, hint, limit, skip, projection } as const;
  const { documents } = await snapshot.find({ collection: 'resource', filter: {}, ...bounds });
  return documents.length;
}
