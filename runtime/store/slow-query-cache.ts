import { shapeOf } from './query-shape.js';

/** Shapes of queries of which one took long a moment ago: the next likely will, too. */
export interface SlowQueryCache {
  /** Whether this one is like one that took long. */
  has(query: object): boolean;
  /** It took so many milliseconds. */
  note(query: object, took: number): void;
}

/** How long a shape is remembered after the last that took long, in milliseconds, and how many are. */
const LIFETIME = 60_000;
const MOST = 500;

/**
 * None yet.
 *
 * @param long from how many milliseconds on a query took long
 * @param now milliseconds, of a clock that goes steadily
 */
export function openSlowQueryCache(long: number, now: () => number = () => performance.now()): SlowQueryCache {
  // One that took less shows that those of its shape need not be long.
  const short = long / 10;
  const until = new Map<string, number>();
  return {
    // Mostly there is none, and a shape costs a tenth of a short search.
    has: (query) => until.size > 0 && (until.get(shapeOf(query)) ?? -Infinity) > now(),
    note(query, took) {
      if (took < long && (took >= short || until.size === 0)) return;
      const shape = shapeOf(query);
      // The one that has not been seen for the longest time comes first.
      until.delete(shape);
      if (took < short) return;
      for (const oldest of until.keys()) {
        if (until.size < MOST) break;
        until.delete(oldest);
      }
      until.set(shape, now() + LIFETIME);
    },
  };
}
