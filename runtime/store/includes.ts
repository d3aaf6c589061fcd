import type { ReferenceEntry } from '../search/entry.js';
import { compareText } from '../search/query/compare-text.js';
import type { FindPage, IncludeDirective, IncludePlan, ResourceKey, StoredVersion } from './store.js';

/** What a store is asked, in the snapshot of the page, for what comes with it. */
export type IncludeStep =
  /** The reference entries of each of these resources. Answer: `ReferenceEntry[][]`, in their order. */
  | { readonly ask: 'references'; readonly of: readonly ResourceKey[] }
  /** Current resources whose `url`, and `version` if one is named, are those of a canonical. Answer: `ResourceKey[]`. */
  | { readonly ask: 'canonicals'; readonly of: readonly CanonicalTarget[]; readonly limit: number }
  /** Current resources of a type that refer to any of these by any of these parameters, each once. Answer: `ResourceKey[]`. */
  | {
      readonly ask: 'sources';
      readonly type: string;
      readonly params: readonly string[];
      readonly of: readonly ResourceKey[];
      readonly limit: number;
    }
  /**
   * Versions, the current one where none is named. Answer: `(StoredVersion | undefined)[]`, in their order; it may end
   * where bodies are larger together than `room`, in characters.
   */
  | { readonly ask: 'read'; readonly of: readonly VersionKey[]; readonly room: number };

/** What a canonical names. */
export interface CanonicalTarget {
  /** Absent: any type. */
  readonly types?: readonly string[];
  readonly url: string;
  readonly version?: string;
}

/** Names a resource, or a version of it. */
export interface VersionKey extends ResourceKey {
  readonly version?: number;
}

/** What came of it. */
export type Included = Required<Pick<FindPage, 'included'>> & Pick<FindPage, 'cut'>;

/** Bodies that are read at a time. */
const CHUNK = 100;

/**
 * Collects what comes with a page: references of its resources are followed, forwards and backwards, then those of what was
 * found, round by round. Nothing comes twice, so that circles end. The store is asked step by step, however it answers.
 * https://hl7.org/fhir/R5/search.html#include
 *
 * @param page the current versions on the page
 * @param room greatest size of all bodies together, in characters
 * @param base as in `PageQuery`
 */
export function* collectIncludes(
  { directives, most, rounds }: IncludePlan,
  page: readonly StoredVersion[],
  room: number,
  base?: string,
): Generator<IncludeStep, Included, unknown> {
  const seen = new Set(page.map(({ type, id }) => nameOf({ type, id })));
  const shown = new Set(page.map((stored) => versionName(stored)));
  const included: StoredVersion[] = [];
  let left = room;
  let frontier: readonly ResourceKey[] = page;
  for (let round = 0; frontier.length > 0; round++) {
    const followed = round === 0 ? directives : directives.filter(({ iterates }) => iterates);
    const isOver = round > rounds;
    // What is shown as a version that a reference names may be found once more as the current one.
    const found = yield* follow(followed, frontier, seen, (isOver ? 0 : most - included.length) + 1 + shown.size, base);
    const next: ResourceKey[] = [];
    for (let at = 0; at < found.length; at += CHUNK) {
      const asked = found.slice(at, at + CHUNK);
      const versions = yield* ask<readonly (StoredVersion | undefined)[]>({ ask: 'read', of: asked, room: left });
      const gone = yield* findGone(asked.slice(0, versions.length));
      for (const [i, stored] of versions.entries()) {
        if (stored?.json === undefined || gone.has(`${stored.type}/${stored.id}`)) continue;
        // Index entries there are of current versions only.
        if (asked[i]!.version === undefined) next.push(stored);
        if (shown.has(versionName(stored))) continue;
        if (isOver) return { included, cut: 'rounds' };
        if (included.length === most || left < stored.json.length) return { included, cut: 'most' };
        left -= stored.json.length;
        shown.add(versionName(stored));
        included.push(stored);
      }
      if (versions.length < asked.length) return { included, cut: isOver ? 'rounds' : 'most' };
    }
    if (isOver) break;
    frontier = next;
  }
  return { included };
}

/** Those of which a version is named, but which are deleted: nothing of them is shown. */
function* findGone(asked: readonly VersionKey[]): Generator<IncludeStep, ReadonlySet<string>, unknown> {
  const of = asked.filter(({ version }) => version !== undefined).map(({ type, id }) => ({ type, id }));
  if (of.length === 0) return new Set();
  const current = yield* ask<readonly (StoredVersion | undefined)[]>({ ask: 'read', of, room: Infinity });
  return new Set(of.filter((_, i) => current[i]?.json === undefined).map(nameOf));
}

/**
 * What the references of these resources lead to, and those that lead to them: what was not seen before. Not all that a
 * reference names is there, so that all of those are told; of what is there, so many as are wanted.
 */
function* follow(
  directives: readonly IncludeDirective[],
  from: readonly ResourceKey[],
  seen: Set<string>,
  wanted: number,
  base: string | undefined,
): Generator<IncludeStep, readonly VersionKey[], unknown> {
  const found: VersionKey[] = [];
  const add = (key: VersionKey): boolean => {
    if (seen.has(nameOf(key))) return false;
    seen.add(nameOf(key));
    found.push(key);
    return true;
  };
  let living = 0;
  const addLiving = (keys: readonly ResourceKey[]): void => {
    for (const { type, id } of keys) if (living < wanted && add({ type, id })) living++;
  };
  const forwards = directives.filter(({ isReverse }) => !isReverse);
  const sources = from.filter(({ type }) => forwards.some(({ source }) => source === type));
  if (sources.length > 0) {
    const references = yield* ask<readonly (readonly ReferenceEntry[])[]>({ ask: 'references', of: sources });
    const canonicals: CanonicalTarget[] = [];
    for (const directive of forwards) {
      for (const [i, { type }] of sources.entries()) {
        if (type !== directive.source) continue;
        for (const reference of references[i] ?? []) {
          if (!directive.params.includes(reference.param)) continue;
          const target = targetOf(reference, directive.targets, base);
          if (target === undefined) continue;
          if ('url' in target) canonicals.push(target);
          else add(target);
        }
      }
    }
    if (canonicals.length > 0) {
      // Those that were seen already may come first, here and below.
      const step = { ask: 'canonicals', of: canonicals, limit: wanted + seen.size } as const;
      addLiving(yield* ask<readonly ResourceKey[]>(step));
    }
  }
  for (const { source, params, targets } of directives.filter(({ isReverse }) => isReverse)) {
    const of = from.filter(({ type }) => targets?.includes(type) !== false);
    if (of.length === 0 || living >= wanted) continue;
    const step = { ask: 'sources', type: source, params, of, limit: wanted + seen.size } as const;
    addLiving((yield* ask<readonly ResourceKey[]>(step)).toSorted((a, b) => compareText(a.id, b.id)));
  }
  return found;
}

/** Where a reference leads on this server; undefined: nowhere, or to a type that is not wanted. */
function targetOf(
  { type, id, version, base, url }: ReferenceEntry,
  types: readonly string[] | undefined,
  own: string | undefined,
): VersionKey | CanonicalTarget | undefined {
  if (type !== undefined && types?.includes(type) === false) return undefined;
  if (url !== undefined) {
    const wanted = type === undefined ? types : [type];
    return { url, ...(wanted !== undefined && { types: wanted }), ...(version !== undefined && { version }) };
  }
  if (type === undefined || id === undefined || (base !== undefined && base !== own)) return undefined;
  const number = /^[1-9]\d{0,14}$/.test(version ?? '') ? Number(version) : undefined;
  // A version that nobody gives: there is none.
  if (version !== undefined && number === undefined) return undefined;
  return { type, id, ...(number !== undefined && { version: number }) };
}

function nameOf({ type, id, version }: VersionKey): string {
  return version === undefined ? `${type}/${id}` : `${type}/${id}/${version}`;
}

function versionName({ type, id, version }: StoredVersion): string {
  return `${type}/${id}/${version}`;
}

/** Collects where every step is answered at once. */
export function runSteps<T>(steps: Generator<IncludeStep, T, unknown>, answer: (step: IncludeStep) => unknown): T {
  let at = steps.next();
  while (at.done !== true) at = steps.next(answer(at.value));
  return at.value;
}

/** The same, where answers have to be waited for. */
export async function runStepsLater<T>(
  steps: Generator<IncludeStep, T, unknown>,
  answer: (step: IncludeStep) => Promise<unknown>,
): Promise<T> {
  let at = steps.next();
  while (at.done !== true) at = steps.next(await answer(at.value));
  return at.value;
}

function* ask<T>(step: IncludeStep): Generator<IncludeStep, T, unknown> {
  return (yield step) as T;
}
