import { isObject, type JsonObject, type Resource } from '../../fhir/resource.js';

/** What is kept of an Observation, and when that was made. */
interface Kept<T> {
  readonly content: T;
  /** Milliseconds since the epoch; infinite: it goes on, or has no time. */
  readonly time: number;
}

/** A group of codes that are the same: those that some Observation has as translations of each other. */
interface Group<T> {
  /** The group that this one became part of. */
  parent?: Group<T>;
  kept: Kept<T>[];
  /** The time of the oldest one, and how many have it. */
  oldest: number;
  ofOldest: number;
}

/**
 * The newest Observations of each code: as many as `max`, and those that were made at the time of the last of them. Codings in
 * common make one group, directly or by way of others; a code without codings is its text as it is.
 * https://hl7.org/fhir/R5/observation-operation-lastn.html
 */
export class NewestGroups<T> {
  private readonly groups = new Map<string, Group<T>>();
  private kept = 0;

  constructor(private readonly max: number) {}

  /** How many Observations are held. */
  get size(): number {
    return this.kept;
  }

  /**
   * Takes an Observation. They come newest first, but for parts of a second.
   *
   * @param keep makes what is kept of it, if it may be among the newest
   */
  add(observation: Resource, time: number, keep: () => T): void {
    const group = keysOf(observation)
      .map((key) => this.groupOf(key))
      .reduce((one, other) => this.unite(one, other));
    const { kept, oldest, ofOldest } = group;
    const isTie = time === oldest && Number.isFinite(time);
    const newer = isTie ? kept.length - ofOldest : kept.length;
    if (time <= oldest && newer >= this.max) return;
    kept.push({ content: keep(), time });
    this.kept++;
    group.ofOldest = time === oldest ? ofOldest + 1 : time < oldest ? 1 : ofOldest;
    group.oldest = Math.min(oldest, time);
  }

  /** The group with the newest Observation first, and the newest first within each. */
  list(): T[] {
    const roots = new Set([...this.groups.values()].map(rootOf));
    const cut = [...roots].map(({ kept }) => {
      const sorted = [...kept].sort(newestFirst);
      const last = sorted[this.max - 1]?.time ?? -Infinity;
      return sorted.filter(({ time }, i) => i < this.max || (time === last && Number.isFinite(time)));
    });
    return cut.sort(([a], [b]) => newestFirst(a!, b!)).flatMap((group) => group.map(({ content }) => content));
  }

  private groupOf(key: string): Group<T> {
    const known = this.groups.get(key);
    if (known !== undefined) return rootOf(known);
    const group: Group<T> = { kept: [], oldest: Infinity, ofOldest: 0 };
    this.groups.set(key, group);
    return group;
  }

  private unite(one: Group<T>, other: Group<T>): Group<T> {
    if (one === other) return one;
    const [large, small] = one.kept.length < other.kept.length ? [other, one] : [one, other];
    for (const each of small.kept) large.kept.push(each);
    if (small.oldest === large.oldest) large.ofOldest += small.ofOldest;
    else if (small.oldest < large.oldest) large.ofOldest = small.ofOldest;
    large.oldest = Math.min(large.oldest, small.oldest);
    small.parent = large;
    small.kept = [];
    return large;
  }
}

function newestFirst(a: { readonly time: number }, b: { readonly time: number }): number {
  // Two without a time are equal, and their difference is no number.
  return a.time === b.time ? 0 : b.time - a.time;
}

/** The group that a group has become. */
function rootOf<T>(group: Group<T>): Group<T> {
  let root = group;
  while (root.parent !== undefined) root = root.parent;
  // The way is short the next time.
  for (let at: Group<T> = group; at.parent !== undefined && at.parent !== root;) {
    const next = at.parent;
    at.parent = root;
    at = next;
  }
  return root;
}

/** What an Observation is grouped by: system and code of each coding, else the text of its code. */
function keysOf({ code }: Resource): string[] {
  const { coding, text }: JsonObject = isObject(code) ? code : {};
  const codings = Array.isArray(coding) ? coding.filter(isObject) : [];
  const keys = codings.flatMap((each) =>
    each['code'] === undefined ? [] : [JSON.stringify([each['system'] ?? null, each['code']])],
  );
  if (keys.length > 0) return keys;
  // A coding without a code has at most a text.
  const display = codings.find((each) => each['display'] !== undefined)?.['display'];
  return [`text ${String(text ?? display ?? '')}`];
}
