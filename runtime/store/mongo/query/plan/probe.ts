import type { Snapshot } from '../../read/snapshot.js';
import { sizeOfArm, stretchesOf, textOf, type Arm, type Stretch } from './access.js';

/** Counts the entries of arms, up to a limit, and remembers that for a short time: it is an estimate. */
export interface Probes {
  /** Entries, one above the limit for more. Of long lists each value is taken to be as frequent as the first are in the mean. */
  count(snapshot: Snapshot, arms: readonly Arm[], limit: number): Promise<number>;
  /** Where counting all of an arm may begin: what was counted last, of however many there are now. */
  lastTotal(arm: Arm): number | undefined;
  noteTotal(arm: Arm, total: number): void;
}

/** So long a count is good enough to choose by, in milliseconds. */
const FRESH = 5000;

/** Counts that are remembered at most, and the longest name of one. */
const MOST = { counts: 2000, name: 2000 };

/** Keys that are listed to count them; more are skipped, to see whether there are more. */
const [FEW_LISTED, MAX_LISTED] = [100, 1000];

/** Values that are counted, and those that are each by itself. */
const MAX_COUNTED = 20;
const MOST_ALONE = 3;

interface Remembered {
  readonly count: number;
  /** How far was counted. */
  readonly limit: number;
  readonly until: number;
}

/** @param now milliseconds, in whatever time */
export function openProbes(now: () => number = () => performance.now()): Probes {
  const counts = new Map<string, Remembered>();
  const totals = new Map<string, number>();

  function keep<T>(map: Map<string, T>, name: string, value: T): void {
    if (name.length > MOST.name) return;
    map.delete(name);
    map.set(name, value);
    const [oldest] = map.keys();
    if (map.size > MOST.counts && oldest !== undefined) map.delete(oldest);
  }

  async function countArm(snapshot: Snapshot, arm: Arm, limit: number): Promise<number> {
    // Each id is one resource, or none.
    if (arm.index === '_id_' && 'values' in arm.keys) return Math.min(sizeOfArm(arm), limit + 1);
    const name = textOf(arm);
    const known = counts.get(name);
    if (known !== undefined && known.until > now() && (known.limit >= limit || known.count <= known.limit)) {
      return Math.min(known.count, limit + 1);
    }
    const count = Math.min(await countValues(snapshot, arm, limit), limit + 1);
    keep(counts, name, { count, limit, until: now() + FRESH });
    return count;
  }

  return {
    async count(snapshot, arms, limit) {
      const each = await Promise.all(arms.map((arm) => countArm(snapshot, arm, limit)));
      return Math.min(limit + 1, each.reduce((total, count) => total + count, 0)); // prettier-ignore
    },
    lastTotal: (arm) => totals.get(textOf(arm)),
    noteTotal: (arm, total) => keep(totals, textOf(arm), total),
  };
}

/** Few values are counted one by one, by the index alone; more together, as far as documents may be read for it. */
async function countValues(snapshot: Snapshot, arm: Arm, limit: number): Promise<number> {
  const { driving, hint } = arm;
  const size = sizeOfArm(arm);
  if (size > MOST_ALONE && limit <= MAX_LISTED) {
    const query = { filter: driving, hint, limit: limit + 1, projection: { _id: 1 } } as const;
    return (await snapshot.find({ collection: 'resource', ...query })).documents.length;
  }
  const stretches = stretchesOf(arm, MAX_COUNTED);
  const each = await Promise.all(stretches.map((stretch) => measure(snapshot, stretch, arm, limit)));
  const sum = each.reduce((total, count) => total + count, 0);
  return Math.ceil((sum / stretches.length) * size);
}

async function measure(snapshot: Snapshot, stretch: Stretch, { hint }: Arm, limit: number): Promise<number> {
  if (limit <= FEW_LISTED) return lengthOf(snapshot, stretch, hint, limit + 1);
  const isMore = (await lengthOf(snapshot, stretch, hint, 1, limit)) > 0;
  if (isMore) return limit + 1;
  return limit <= MAX_LISTED ? lengthOf(snapshot, stretch, hint, limit) : limit;
}

/** How many resources have a key of the index within a stretch; no document is read for it. */
export async function lengthOf(
  snapshot: Snapshot,
  { min, max }: Stretch,
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
