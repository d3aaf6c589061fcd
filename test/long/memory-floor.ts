/** Parts of a run of which the floors are compared. */
const WINDOWS = 20;

/**
 * How much the resident memory of a process grew during a load: what it falls to when garbage is collected, in the last quarter of the run,
 * to that in the first. Under load memory rises until the next collection, and now and then one is late, so single samples, and the
 * highest of many, say little. A floor that rises is memory that no collection frees.
 *
 * @param samples resident memory at even intervals, in any unit; at least 40
 * @returns the ratio: 1 where it is flat
 */
export function floorGrowth(samples: readonly number[]): number {
  const size = samples.length / WINDOWS;
  const floors = Array.from({ length: WINDOWS }, (_, i) =>
    Math.min(...samples.slice(Math.round(i * size), Math.round((i + 1) * size))),
  );
  const quarter = WINDOWS / 4;
  return quantile(floors.slice(-quarter), 0.5) / quantile(floors.slice(0, quarter), 0.5);
}

/** A value below which so much of the others is: 0.5 for the median. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
}
