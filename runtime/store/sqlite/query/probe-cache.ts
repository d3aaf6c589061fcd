/** Counts that were made a moment ago. */
export interface ProbeCache {
  get(key: string): number | undefined;
  set(key: string, count: number): void;
}

/** How long a count holds, in milliseconds, and how many are kept. */
const LIFETIME = 5000;
const MOST = 2000;

/** Longer conditions are counted each time. */
const LONGEST_KEY = 4000;

/** A cache that is empty. */
export function openProbeCache(now: () => number = () => performance.now()): ProbeCache {
  const kept = new Map<string, { readonly count: number; readonly until: number }>();
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
