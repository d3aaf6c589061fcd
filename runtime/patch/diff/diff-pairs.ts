/** Which items of an old list become those of a new one. */
export interface Pairs {
  /** For each new item the position of the old one that it comes from; undefined where it is new. */
  readonly source: readonly (number | undefined)[];
  /** For each new item whether it stays where it is among the others that stay. */
  readonly stays: readonly boolean[];
}

/** Greatest product of the lengths of two lists for which it is found out what most they have in common. */
const MAX_CELLS = 250_000;

/**
 * Pairs the items of two lists, each identified by a text. Equal items that are in one order in both stay, other equal ones
 * move, and of what is left those that lie between the same neighbours are paired in turn, to be changed. Of long lists
 * with items that are there several times perhaps more of them move than have to.
 */
export function pairItems(old: readonly string[], fresh: readonly string[]): Pairs {
  const isShort = old.length * fresh.length <= MAX_CELLS;
  const source = isShort ? inCommon(old, fresh) : inCommonOfLong(old, fresh);
  const stays = source.map((from) => from !== undefined);
  const used = new Set(source);
  moved(old, fresh, source, used);
  changed(old, source, stays, used);
  return { source, stays };
}

type Sources = (number | undefined)[];

/** A longest sequence that both lists have. */
function inCommon(old: readonly string[], fresh: readonly string[]): Sources {
  const width = fresh.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const at = i * width + j;
      lengths[at] =
        old[i] === fresh[j]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0);
    }
  }
  const source: Sources = fresh.map(() => undefined);
  for (let i = 0, j = 0; i < old.length && j < fresh.length;) {
    const at = i * width + j;
    if (old[i] === fresh[j]) source[j++] = i++;
    else if ((lengths[at + width] ?? 0) >= (lengths[at + 1] ?? 0)) i++;
    else j++;
  }
  return source;
}

/** A sequence that both lists have: of equal items the first goes with the first, and of these pairs a longest rising run. */
function inCommonOfLong(old: readonly string[], fresh: readonly string[]): Sources {
  const source: Sources = fresh.map(() => undefined);
  moved(old, fresh, source, new Set());
  const rising = longestRise(source);
  return source.map((from, j) => (rising.has(j) ? from : undefined));
}

/** Places of the items of a longest rising subsequence. https://en.wikipedia.org/wiki/Longest_increasing_subsequence */
function longestRise(values: Sources): ReadonlySet<number> {
  /** For each length where the run of that length ends that has the lowest end. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  values.forEach((value, at) => {
    if (value === undefined) return;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[ends[middle] ?? 0] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    before[at] = ends[low - 1];
    ends[low] = at;
  });
  const run = new Set<number>();
  for (let at = ends.at(-1); at !== undefined; at = before[at]) run.add(at);
  return run;
}

/** Pairs equal items that are left. */
function moved(old: readonly string[], fresh: readonly string[], source: Sources, used: Set<number | undefined>): void {
  const left = new Map<string, number[]>();
  for (let i = old.length - 1; i >= 0; i--) {
    const text = old[i] ?? '';
    const places = left.get(text) ?? [];
    if (used.has(i)) continue;
    places.push(i);
    left.set(text, places);
  }
  fresh.forEach((text, j) => {
    const from = source[j] === undefined ? left.get(text)?.pop() : undefined;
    if (from === undefined) return;
    source[j] = from;
    used.add(from);
  });
}

/** Pairs what is left between two items that stay. */
function changed(old: readonly string[], source: Sources, stays: boolean[], used: Set<number | undefined>): void {
  /** For each new item the old position of the next one that stays. */
  const ends: number[] = [];
  let end = old.length;
  for (let j = source.length - 1; j >= 0; j--) {
    if (stays[j] === true) end = source[j] ?? end;
    ends[j] = end;
  }
  let next = 0;
  source.forEach((own, j) => {
    if (stays[j] === true) next = (own ?? 0) + 1;
    if (own !== undefined) return;
    while (next < (ends[j] ?? 0) && used.has(next)) next++;
    if (next >= (ends[j] ?? 0)) return;
    source[j] = next;
    stays[j] = true;
    used.add(next++);
  });
}
