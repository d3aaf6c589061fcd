import type { ReferenceEntry } from '../indexing/entry.js';
import { compareText } from '../search/query/compare-text.js';
import { keepWithin, refine, type IncludeConstraints } from './include-constraints.js';
import { ask, nameOf, type CanonicalTarget, type FoundKey, type Steps, type VersionKey } from './include-steps.js';
import type { FindPage, IncludeDirective, IncludePlan, ResourceKey, StoredVersion } from './store.js';

/** Result of collecting includes. */
export type Included = Required<Pick<FindPage, 'included'>> & Pick<FindPage, 'cut'>;

/** Bodies that are read at a time. */
const CHUNK = 100;

/** Directives that are asked for at a time: more may be too much, where the first ones find enough. */
const TOGETHER = 4;

/**
 * Collects what comes with a page: references of its resources are followed, forwards and backwards, then those of what was
 * found, round by round. Nothing comes twice, so that circles end. The store is asked step by step, however it answers.
 * https://hl7.org/fhir/R5/search.html#include
 *
 * @param page the current versions on the page
 * @param room greatest size of all bodies together, in characters
 */
export function* collectIncludes(
  { directives, most, rounds }: IncludePlan,
  page: readonly StoredVersion[],
  room: number,
): Steps<Included> {
  const seen = new Set(page.map(({ type, id }) => nameOf({ type, id })));
  const shown = new Set(page.map((stored) => versionName(stored)));
  const included: StoredVersion[] = [];
  let left = room;
  let frontier: readonly ResourceKey[] = page;
  for (let round = 0; frontier.length > 0; round++) {
    const followed = round === 0 ? directives : directives.filter(({ iterates }) => iterates);
    const isOver = round > rounds;
    // What is shown as a version that a reference names may be found once more as the current one.
    const found = yield* follow(followed, frontier, seen, (isOver ? 0 : most - included.length) + 1 + shown.size);
    const next: ResourceKey[] = [];
    for (let at = 0; at < found.length; at += CHUNK) {
      const asked = found.slice(at, at + CHUNK);
      const versions = yield* ask<readonly (StoredVersion | undefined)[]>({ ask: 'read', of: asked, room: left });
      const gone = yield* findGone(asked.slice(0, versions.length));
      for (const [i, stored] of versions.entries()) {
        if (stored?.json === undefined || gone.has(nameOf(asked[i]!))) continue;
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

/** Those of which a version is named that is not the current one, where only that counts. */
function* findGone(asked: readonly FoundKey[]): Steps<ReadonlySet<string>> {
  const named = asked.filter(({ version }) => version !== undefined);
  if (named.length === 0) return new Set();
  const of = named.map(({ type, id }) => ({ type, id }));
  const current = yield* ask<readonly (StoredVersion | undefined)[]>({ ask: 'read', of, room: Infinity });
  const isGone = ({ version, isCurrentOnly }: FoundKey, stored: StoredVersion | undefined): boolean =>
    isCurrentOnly === true && (stored?.json === undefined || stored.version !== version);
  return new Set(named.filter((key, i) => isGone(key, current[i])).map(nameOf));
}

/**
 * What the references of these resources lead to, and those that lead to them: what was not seen before. Not all that a
 * reference names is there, so that all of those are reported; of what is there, so many as are wanted.
 */
function* follow(
  directives: readonly IncludeDirective[],
  from: readonly ResourceKey[],
  seen: Set<string>,
  wanted: number,
): Steps<readonly FoundKey[]> {
  const found: FoundKey[] = [];
  const add = (key: FoundKey): boolean => {
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
    const params = [...new Set(forwards.flatMap((directive) => directive.params))];
    const references = yield* ask<readonly (readonly ReferenceEntry[])[]>({ ask: 'references', of: sources, params });
    const canonicals: CanonicalTarget[] = [];
    const named: VersionKey[] = [];
    // What may be seen of a type is the same for all that refer to it.
    const within: IncludeConstraints = Object.assign({}, ...forwards.map((directive) => directive.within));
    for (const directive of forwards) {
      for (const [i, { type }] of sources.entries()) {
        if (type !== directive.source) continue;
        for (const reference of references[i] ?? []) {
          if (!directive.params.includes(reference.param)) continue;
          const target = targetOf(reference, directive.targets);
          if (target === undefined) continue;
          if ('url' in target) canonicals.push(target);
          else if (!seen.has(nameOf(target))) named.push(target);
        }
      }
    }
    for (const key of yield* keepWithin(within, named)) add(key);
    if (canonicals.length > 0) {
      // Those that were seen already may come first, here and below.
      const step = { ask: 'canonicals', of: canonicals, limit: wanted + seen.size } as const;
      addLiving(yield* refine(within, step, yield* ask(step)));
    }
  }
  const limit = wanted + seen.size;
  const steps = directives.flatMap(({ isReverse, source: type, params, targets, within = {} }) => {
    const of = isReverse ? from.filter((key) => targets?.includes(key.type) !== false) : [];
    return of.length === 0 ? [] : [{ within, step: { ask: 'sources', type, params, of, limit } as const }];
  });
  for (let at = 0; at < steps.length && living < wanted; at += TOGETHER) {
    const asked = steps.slice(at, at + TOGETHER);
    const each = (yield asked.map(({ step }) => step)) as readonly (readonly ResourceKey[])[];
    for (const [i, { within, step }] of asked.entries()) {
      const keys = yield* refine(within, step, each[i]!);
      addLiving(keys.toSorted((a, b) => compareText(a.id, b.id)));
    }
  }
  return found;
}

/** Where a reference leads on this server; undefined: nowhere, or to a type that is not wanted. */
function targetOf(
  { type, id, version, base, url }: ReferenceEntry,
  types: readonly string[] | undefined,
): VersionKey | CanonicalTarget | undefined {
  if (type !== undefined && types?.includes(type) === false) return undefined;
  if (url !== undefined) {
    const wanted = type === undefined ? types : [type];
    return { url, ...(wanted !== undefined && { types: wanted }), ...(version !== undefined && { version }) };
  }
  if (type === undefined || id === undefined || base !== undefined) return undefined;
  const number = /^[1-9]\d{0,14}$/.test(version ?? '') ? Number(version) : undefined;
  // A version that is never given: there is none.
  if (version !== undefined && number === undefined) return undefined;
  return { type, id, ...(number !== undefined && { version: number }) };
}

function versionName({ type, id, version }: StoredVersion): string {
  return `${type}/${id}/${version}`;
}
