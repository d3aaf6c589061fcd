import type { Snapshot } from '../snapshot.js';
import type { Access, Stretch } from './access.js';

/** How much lies on a way, in entries of the index: exact up to the limit of the probe. */
export interface Probed {
  readonly matches: number;
  readonly isMore: boolean;
}

/** Counts what lies on ways, no further than a limit. */
export interface Probes {
  count(snapshot: Snapshot, access: Access, limit: number): Promise<Probed>;
}

/** So long a count is good enough to choose by, in milliseconds. */
const FRESH = 5000;

/** Counts that are remembered at most. */
const MAX_REMEMBERED = 2000;

/** Keys that are listed to count them; more are skipped, to see whether there are more. */
const MAX_LISTED = 1000;

interface Remembered extends Probed {
  readonly until: number;
}

/** Remembers what was counted for a short time. @param now milliseconds, in whatever time */
export function openProbes(now: () => number = () => performance.now()): Probes {
  const remembered = new Map<string, Remembered>();

  async function measure(snapshot: Snapshot, { hint, index, stretches, size }: Access, limit: number): Promise<Probed> {
    // Each id is one resource, or none.
    if (index === '_id_' && size !== 1) return { matches: Math.min(size, limit), isMore: size > limit };
    if (limit > MAX_LISTED) {
      const skip = Math.ceil(limit / size);
      const beyond = await Promise.all(stretches.map((stretch) => length(snapshot, stretch, hint, 1, skip)));
      const isMore = beyond.filter((count) => count > 0).length * 2 > beyond.length;
      return { matches: limit, isMore };
    }
    const counts = await Promise.all(stretches.map((stretch) => length(snapshot, stretch, hint, limit + 1)));
    const sum = counts.reduce((total, count) => total + count, 0);
    const all = stretches.length === size ? sum : Math.ceil((sum / stretches.length) * size);
    return { matches: Math.min(all, limit), isMore: all > limit };
  }

  return {
    async count(snapshot, access, limit) {
      const key = `${limit} ${access.index} ${JSON.stringify(access.stretches)} ${access.size}`;
      const known = remembered.get(key);
      if (known !== undefined && known.until > now()) return known;
      const probed = await measure(snapshot, access, limit);
      remembered.delete(key);
      remembered.set(key, { ...probed, until: now() + FRESH });
      for (const oldest of remembered.keys()) {
        if (remembered.size <= MAX_REMEMBERED) break;
        remembered.delete(oldest);
      }
      return probed;
    },
  };
}

/** The keys of the index within a stretch; no document is read for it. */
async function length(
  snapshot: Snapshot,
  { min, max }: Stretch,
  hint: Access['hint'],
  limit: number,
  skip = 0,
): Promise<number> {
  const bounds = { min, max, hint, limit, skip, returnKey: true } as const;
  const { documents } = await snapshot.find({ collection: 'resource', filter: {}, ...bounds });
  return documents.length;
}
