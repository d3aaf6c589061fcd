import { isContainedType } from '../../../contained-resources.js';
import { runStepsLater, type CanonicalTarget, type IncludeStep, type VersionKey } from '../../../include-steps.js';
import { collectIncludes, type Included } from '../../../includes.js';
import type { IncludePlan, ResourceKey, StoredVersion } from '../../../store.js';
import type { ReferenceEntry } from '../../../../indexing/entry.js';
import type { Ask } from '../ask.js';
import { LIVING } from '../compile/compile.js';
import { fieldsOf, idOf, type Raw } from '../../bson/bson.js';
import { keyOf, pastKeyOf, type ReferenceRow } from '../../bson/documents.js';
import { BY_ENTRY } from '../../indexes.js';
import { referenceParam } from '../../bson/index-rows.js';
import type { Snapshot } from '../../read/snapshot.js';
import { toStoredVersion, VERSION_ONLY } from '../../bson/stored-version.js';
import { FEW_TYPES } from './filter-by-chain.js';
import { openLinks, typesIn, type LinkParts } from './links.js';
import type { Condition } from '../../../../search/query/query.js';
import { findHits } from '../search.js';
import { resolvedScope } from './resolve.js';
import { KEYS } from '../walks.js';
import { placeIn, projectionOf, referencesIn as rowsIn, toCandidate, toKey, URL_PARAM } from './candidate.js';
import { chunksOf, readAllBy, readByKeys } from './read-all.js';
import { openSources, type Sources } from './sources.js';

/** Greatest size of all bodies that come with a page, in characters: what an answer of the server holds, as pages have it. */
const ROOM = 16 * 1024 * 1024;

/** Where it is looked for. */
export interface IncludeSource {
  readonly snapshot: Snapshot;
  readonly ask: Ask;
  readonly parts: LinkParts;
}

/** A page, and the documents that hold it: with the entries of their references, or without. */
export interface ShownPage {
  readonly versions: readonly StoredVersion[];
  readonly documents: readonly Raw[];
}

/** Collects the includes of a page, in its snapshot. */
export function include(
  plan: IncludePlan,
  { versions, documents }: ShownPage,
  source: IncludeSource,
): Promise<Included> {
  const sources = openSources(source.ask);
  const known = referencesIn(documents, plan);
  return runStepsLater(collectIncludes(plan, versions, ROOM), (step) => answer(source, { sources, known }, step));
}

/** References of resources by their keys. */
type References = Map<string, readonly ReferenceEntry[]>;

/** What is at hand. */
interface AtHand {
  readonly sources: Sources;
  readonly known: Readonly<References>;
}

async function answer(source: IncludeSource, { sources, known }: AtHand, step: IncludeStep): Promise<unknown> {
  const { snapshot, ask } = source;
  switch (step.ask) {
    case 'references':
      return referencesOf(ask, step.of, known);
    case 'canonicals':
      return canonicalTargets(snapshot, ask, step.of, step.limit);
    case 'sources':
      return sources.find(step);
    case 'within':
      return idsWithin(source, step);
    case 'read':
      return (await sources.read(step.of)) ?? readVersions(ask, step.of, step.room);
  }
}

/** Those that documents hold, of the parameters that are followed. */
function referencesIn(documents: readonly Raw[], { directives }: IncludePlan): References {
  const forwards = directives.filter(({ isReverse }) => !isReverse).flatMap(({ params }) => params);
  const followed = new Set<unknown>(forwards.flatMap((param) => [param, referenceParam(param, 'url')]));
  const byKey: References = new Map();
  for (const bytes of documents) {
    const references = rowsIn(bytes).filter(({ p }) => followed.has(p));
    if (fieldsOf(bytes).has('reference')) byKey.set(idOf(bytes), references.flatMap(toEntry));
  }
  return byKey;
}

/** Those that may lead anywhere. */
async function referencesOf(
  ask: Ask,
  of: readonly ResourceKey[],
  known: Readonly<References>,
): Promise<readonly (readonly ReferenceEntry[])[]> {
  const byKey: References = new Map(known);
  const unknown = of.map(keyOf).filter((key) => !byKey.has(key));
  for await (const documents of readByKeys(ask, unknown, [LIVING], { _id: 1, reference: 1 })) {
    for (const { key, references } of documents.map(toCandidate)) byKey.set(key, references.flatMap(toEntry)); // prettier-ignore
  }
  return of.map((key) => byKey.get(keyOf(key)) ?? []);
}

function toEntry(row: ReferenceRow): ReferenceEntry[] {
  const { p, g, to, by, version } = row;
  // A part of a composite belongs to no parameter of its own.
  if (g !== undefined || to === undefined) return [];
  const more = version === undefined ? {} : { version };
  if (by === 'url') {
    const type = row.type === undefined ? {} : { type: row.type };
    return [{ kind: 'reference', param: p.slice(0, -URL_SUFFIX.length), url: to, ...type, ...more }];
  }
  const place = placeIn(row);
  return place === undefined ? [] : [{ kind: 'reference', param: p, ...place, ...more }];
}

const URL_SUFFIX = referenceParam('', 'url');

async function idsWithin(
  { ask, parts }: IncludeSource,
  { type, where, of }: Extract<IncludeStep, { ask: 'within' }>,
): Promise<readonly string[]> {
  const asked: Condition = { all: [{ ids: of }, where] };
  const scope = await resolvedScope(openLinks(parts, ask), type, asked);
  const { hits } = await findHits({ scope, order: undefined, reading: KEYS }, undefined, of.length);
  return hits.map(({ key }) => toKey(key).id);
}

async function canonicalTargets(
  snapshot: Snapshot,
  ask: Ask,
  of: readonly CanonicalTarget[],
  limit: number,
): Promise<readonly ResourceKey[]> {
  const isOfAny = of.some(({ types = [] }) => types.length === 0 || types.length > FEW_TYPES);
  const named = [...new Set(of.flatMap(({ types = [] }) => types))];
  const types = isOfAny ? [...(await typesIn(snapshot))].filter((type) => !isContainedType(type)) : named;
  const byUrl = new Map<string, CanonicalTarget[]>();
  for (const target of of) byUrl.set(target.url, [...(byUrl.get(target.url) ?? []), target]);
  const found: ResourceKey[] = [];
  for (const chunk of chunksOf([...byUrl.keys()])) {
    const filters = [
      { type: { $in: types }, uri: { $elemMatch: { p: URL_PARAM, value: { $in: [...chunk] } } } },
      LIVING,
    ];
    for await (const documents of readAllBy(ask, BY_ENTRY.uri, filters, projectionOf({ params: [], names: true }))) {
      for (const { key, urls, versions } of documents.map(toCandidate)) {
        const { type, id } = toKey(key);
        const isNamed = urls.some((url) =>
          byUrl.get(url)?.some((target) => {
            const isOfType = target.types?.includes(type) !== false;
            return isOfType && (target.version === undefined || versions.includes(target.version));
          }),
        );
        if (isNamed) found.push({ type, id });
      }
      if (found.length >= limit) return found.slice(0, limit);
    }
  }
  return found;
}

/** Versions in the order of the keys: at once where one answer holds them, else one after the other while there is room. */
async function readVersions(
  ask: Ask,
  of: readonly VersionKey[],
  room: number,
): Promise<readonly (StoredVersion | undefined)[]> {
  const found = await readTogether(ask, of);
  if (found !== undefined) return found;
  const versions: (StoredVersion | undefined)[] = [];
  for (let left = room, at = 0; left >= 0 && at < of.length; at++) {
    const [stored] = (await readTogether(ask, [of[at]!])) ?? [];
    versions.push(stored);
    left -= stored?.json?.length ?? 0;
  }
  return versions;
}

/** Undefined: one answer does not hold them; one always does. */
async function readTogether(
  ask: Ask,
  of: readonly VersionKey[],
): Promise<readonly (StoredVersion | undefined)[] | undefined> {
  const found = new Map<string, StoredVersion>();
  const nameOf = (key: VersionKey): string =>
    key.version === undefined ? keyOf(key) : pastKeyOf(keyOf(key), key.version);
  const isWhole = await readBy(ask, 'resource', [...new Set(of.map(keyOf))], (stored) => {
    found.set(pastKeyOf(keyOf(stored), stored.version), stored);
    found.set(keyOf(stored), stored);
  });
  if (!isWhole) return undefined;
  const past = of.filter((key) => key.version !== undefined && !found.has(nameOf(key))).map(nameOf);
  const isAll = await readBy(ask, 'history', [...new Set(past)], (stored) => {
    found.set(pastKeyOf(keyOf(stored), stored.version), stored);
  });
  return isAll ? of.map((key) => found.get(nameOf(key))) : undefined;
}

/** @returns whether that was all */
async function readBy(
  ask: Ask,
  collection: 'resource' | 'history',
  keys: readonly string[],
  add: (stored: StoredVersion) => void,
): Promise<boolean> {
  if (keys.length === 0) return true;
  const past = { collection, hint: { _id: 1 }, projection: VERSION_ONLY, limit: keys.length };
  const { documents, isCut } = await (collection === 'resource'
    ? ask.byKeys(keys, VERSION_ONLY)
    : ask.read({ ...past, filter: { _id: { $in: [...keys] } } }));
  for (const bytes of documents) add(toStoredVersion(bytes));
  return !isCut;
}
