/** A sorted multimap. Adding an item takes logarithmic time, amortized. */
export interface SortedRuns<K, V> {
  add(key: K, value: V): void;
  /**
   * The values of a range of keys.
   *
   * @param isBefore whether a key is before the range; must hold for a prefix of the sorted keys
   * @param isAfter whether a key is after the range; must hold for a suffix of the sorted keys
   */
  between(isBefore: (key: K) => boolean, isAfter: (key: K) => boolean): Range<V>;
}

/** Some of the values. */
export interface Range<V> {
  readonly count: number;
  values(): Iterable<V>;
}

interface Item<K, V> {
  readonly key: K;
  readonly value: V;
}

/** Keeps sorted lists, each longer than the next one; lists of equal length are merged. */
export function sortedRuns<K extends string | number, V>(): SortedRuns<K, V> {
  const runs: Item<K, V>[][] = [];
  return {
    add(key, value) {
      let run = [{ key, value }];
      for (let last = runs.at(-1); last !== undefined && last.length <= run.length; last = runs.at(-1)) {
        run = merge(last, run);
        runs.pop();
      }
      runs.push(run);
    },
    between(isBefore, isAfter) {
      const slices = runs.map((run) => {
        const from = firstPlace(run, ({ key }) => !isBefore(key));
        return {
          run,
          from,
          to: Math.max(
            from,
            firstPlace(run, ({ key }) => isAfter(key)),
          ),
        };
      });
      return {
        count: slices.reduce((sum, { from, to }) => sum + to - from, 0),
        *values() {
          for (const { run, from, to } of slices)
            for (let at = from; at < to; at++) yield (run[at] as Item<K, V>).value;
        },
      };
    },
  };
}

function merge<K extends string | number, V>(one: readonly Item<K, V>[], other: readonly Item<K, V>[]): Item<K, V>[] {
  const merged: Item<K, V>[] = [];
  let at = 0;
  for (const item of one) {
    for (let next = other[at]; next !== undefined && next.key < item.key; next = other[++at]) merged.push(next);
    merged.push(item);
  }
  for (; at < other.length; at++) merged.push(other[at] as Item<K, V>);
  return merged;
}

/** The first index where `holds` is true, which is then true to the end; the length if there is none. */
function firstPlace<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
