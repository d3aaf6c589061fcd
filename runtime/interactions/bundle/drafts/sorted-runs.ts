/** Values in an order, with something at each; a value may come often. Adding one takes logarithmic time, in the mean. */
export interface SortedRuns<K, V> {
  add(key: K, value: V): void;
  /**
   * What lies between two bounds.
   *
   * @param isBefore whether a key lies before the range: of keys in order, all that do come first
   * @param isAfter whether it lies after the range: all that do come last
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

/** Sorted lists, each longer than the next one: those of equal length become one. */
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

/** The first place where it holds, which then holds to the end; the length: nowhere. */
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
