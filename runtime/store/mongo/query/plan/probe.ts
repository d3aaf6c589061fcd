import type { Snapshot } from '../../read/snapshot.js';
import type { Access, Stretch } from './access.js';

/** Number of index entries on an access path, exact up to the limit of the probe. */
export interface Probed {
  readonly matches: number;
  readonly isMore: boolean;
}

/** Counts the entries of access paths, up to a limit. */
export interface Probes {
  count(snapshot: Snapshot, access: Access, limit: number): Promise<Probed>;
  /**
   * Notes that more match a search than are counted cheaply.
   *
   * @param name identifies the search
   * @param isCounted whether so many were counted, and counting did not just take too long
   */
  noteLong(name: string, isCounted: boolean): void;
  /** Whether that was noted a short time ago. */
  isLong(name: string): boolean;
  /** Notes how many matched a search, as a hint for when it is counted again. @param name identifies the search */
  noteTotal(name: string, total: number): void;
  /** What was noted last; undefined: nothing, or it is forgotten. */
  lastTotal(name: string): number | undefined;
}

/** So long a count is good enough to choose by, in milliseconds. */
const FRESH = 5000;

/** The same of a search of which too many matches were counted: to find out that they still are reads a thousand documents. */
const LONG = 60_000;

/** Counts that are remembered at most. */
const MAX_REMEMBERED = 2000;

/** Keys that are listed to count them; more are skipped, to see whether there are more. */
const MAX_LISTED = 1000;

/** Names of searches that are remembered, in characters. */
const MAX_NAME = 2000;

interface Remembered extends Probed {
  /** How far was counted. */
  readonly limit: number;
  readonly until: number;
}

/** Remembers what was counted for a short time. @param now milliseconds, in whatever time */
export function openProbes(now: () => number = () => performance.now()): Probes {
  const remembered = new Map<string, Remembered>();
  const totals = new Map<string, number>();

  function remember(key: string, probed: Probed, limit: number, time = FRESH): void {
    remembered.delete(key);
    remembered.set(key, { ...probed, limit, until: now() + time });
    for (const oldest of remembered.keys()) {
      if (remembered.size <= MAX_REMEMBERED) break;
      remembered.delete(oldest);
    }
  }

  /** What is known up to this limit: all, where counting came to an end. */
  function recall(key: string, limit: number): Probed | undefined {
    const known = remembered.get(key);
    if (known === undefined || known.until <= now()) return undefined;
    const { matches, isMore } = known;
    if (isMore ? known.limit < limit : known.limit > MAX_LISTED && known.limit !== limit) return undefined;
    return isMore || matches > limit ? { matches: limit, isMore: true } : { matches, isMore };
  }

  async function count(snapshot: Snapshot, access: Access, limit: number): Promise<Probed> {
    const key = `${access.index} ${JSON.stringify(access.stretches)} ${access.size}`;
    const known = recall(key, limit);
    if (known !== undefined) return known;
    const probed = access.around === undefined ? await measure(snapshot, access, limit) : await countAround(snapshot, access, access.around, limit); // prettier-ignore
    remember(key, probed, limit);
    return probed;
  }

  /** The pieces of what is empty are not counted; that it is so is remembered, for whatever pieces of it. */
  async function countAround(
    snapshot: Snapshot,
    { around: _, ...access }: Access,
    around: NonNullable<Access['around']>,
    limit: number,
  ): Promise<Probed> {
    const each = await Promise.all(
      access.stretches.map(async (piece, i) => {
        const whole = around[i];
        if (whole === undefined) return [piece];
        return (await count(snapshot, { ...access, stretches: [whole], size: 1 }, 0)).isMore ? [piece] : [];
      }),
    );
    const stretches = each.flat();
    return measure(snapshot, { ...access, stretches, size: stretches.length }, limit);
  }

  async function measure(snapshot: Snapshot, { hint, index, stretches, size }: Access, limit: number): Promise<Probed> {
    // Each id is one resource, or none.
    if (index === '_id_' && size !== 1) return { matches: Math.min(size, limit), isMore: size > limit };
    if (limit > MAX_LISTED) {
      const skip = Math.ceil(limit / size);
      const beyond = await Promise.all(stretches.map((stretch) => lengthOf(snapshot, stretch, hint, 1, skip)));
      const isMore = beyond.filter((count) => count > 0).length * 2 > beyond.length;
      return { matches: limit, isMore };
    }
    const counts = await Promise.all(stretches.map((stretch) => lengthOf(snapshot, stretch, hint, limit + 1)));
    const sum = counts.reduce((total, count) => total + count, 0);
    const all = stretches.length === size ? sum : Math.ceil((sum / stretches.length) * size);
    return { matches: Math.min(all, limit), isMore: all > limit };
  }

  return {
    count,
    noteLong(name, isCounted) {
      if (name.length <= MAX_NAME) remember(`long ${name}`, { matches: 0, isMore: true }, 0, isCounted ? LONG : FRESH);
    },
    noteTotal(name, total) {
      if (name.length > MAX_NAME) return;
      totals.delete(name);
      totals.set(name, total);
      const [oldest] = totals.keys();
      if (totals.size > MAX_REMEMBERED && oldest !== undefined) totals.delete(oldest);
    },
    lastTotal: (name) => totals.get(name),
    isLong(name) {
      const known = remembered.get(`long ${name}`);
      return known !== undefined && known.until > now();
    },
  };
}

/** How many resources have a key of the index within a stretch; no document is read for it. */
export async function lengthOf(
  snapshot: Snapshot,
  { min, max }: Stretch,
  hint: Access['hint'],
  limit: number,
  skip = 0,
): Promise<number> {
  // A field that is no array: the index has it all.
  const projection = 'type' in hint ? { _id: 0, type: 1 } : { _id: 1 };
  const bounds = { min, max, hint, limit, skip, projection } as const;
  const { documents } = await snapshot.find({ collection: 'resource', filter: {}, ...bounds });
  return documents.length;
}
