/** So many rows were found where so many were asked for. */
export interface RowCount {
  readonly count: number;
  readonly most: number;
}

/** Counts that were made a moment ago. */
export interface ProbeCache {
  get(key: string): RowCount | undefined;
  set(key: string, count: RowCount): void;
}

/** How long a count holds, in milliseconds, and how many are kept. */
const LIFETIME = 5000;
const MOST = 2000;

/** Longer conditions are counted each time. */
const LONGEST_KEY = 4000;

/** A cache that is empty. */
export function openProbeCache(now: () => number = () => performance.now()): ProbeCache {
  const kept = new Map<string, { readonly count: RowCount; readonly until: number }>();
  return {
    get(key) {
      const found = kept.get(key);
      return found !== undefined && found.until > now() ? found.count : undefined;
    },
    set(key, count) {
      if (key.length > LONGEST_KEY) return;
      if (kept.size >= MOST) kept.clear();
      kept.set(key, { count, until: now() + LIFETIME });
    },
  };
}
