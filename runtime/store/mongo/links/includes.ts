import {
  collectIncludes,
  runStepsLater,
  type CanonicalTarget,
  type Included,
  type IncludeStep,
  type VersionKey,
} from '../../includes.js';
import type { IncludePlan, ResourceKey, StoredVersion } from '../../store.js';
import type { ReferenceEntry } from '../../../search/entry.js';
import type { Ask } from '../find/ask.js';
import { everyOf, LIVING } from '../find/compile.js';
import { keyOf, pastKeyOf, type ReferenceRow } from '../documents.js';
import { BY_ENTRY } from '../indexes.js';
import { referenceParam } from '../index-rows.js';
import type { Raw } from '../bson.js';
import type { Snapshot } from '../snapshot.js';
import { toStoredVersion, VERSION_ONLY } from '../stored-version.js';
import { FEW_TYPES } from './chain.js';
import { isCanonicalOf, projectionOf, toHeld, typeOfPlace, URL_PARAM } from './held.js';
import { typesIn } from './links.js';
import { canonicalsOf } from './named.js';
import { chunksOf, readAllBy, readByKeys } from './read-all.js';

/** Greatest size of all bodies that come with a page, in characters: what an answer of the server holds, as pages have it. */
const ROOM = 16 * 1024 * 1024;

/** What comes with a page, of its snapshot. */
export function include(
  snapshot: Snapshot,
  ask: Ask,
  plan: IncludePlan,
  page: readonly StoredVersion[],
): Promise<Included> {
  return runStepsLater(collectIncludes(plan, page, ROOM), (step) => answer(snapshot, ask, step));
}

async function answer(snapshot: Snapshot, ask: Ask, step: IncludeStep): Promise<unknown> {
  switch (step.ask) {
    case 'references':
      return referencesOf(ask, step.of);
    case 'canonicals':
      return canonicalTargets(snapshot, ask, step.of, step.limit);
    case 'sources':
      return sourcesOf(ask, step);
    case 'read':
      return readVersions(ask, step.of);
  }
}

/** Those that may lead anywhere. */
async function referencesOf(ask: Ask, of: readonly ResourceKey[]): Promise<readonly (readonly ReferenceEntry[])[]> {
  const byKey = new Map<string, readonly ReferenceEntry[]>();
  for await (const documents of readByKeys(ask, of.map(keyOf), [LIVING], { _id: 1, reference: 1 })) {
    for (const { key, references } of documents.map(toHeld)) byKey.set(key, references.flatMap(toEntry)); // prettier-ignore
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
  const type = typeOfPlace(row);
  return type === undefined ? [] : [{ kind: 'reference', param: p, type, id: row.id!, ...more }];
}

const URL_SUFFIX = referenceParam('', 'url');

async function canonicalTargets(
  snapshot: Snapshot,
  ask: Ask,
  of: readonly CanonicalTarget[],
  limit: number,
): Promise<readonly ResourceKey[]> {
  const isOfAny = of.some(({ types = [] }) => types.length === 0 || types.length > FEW_TYPES);
  const named = [...new Set(of.flatMap(({ types = [] }) => types))];
  const types = isOfAny ? [...(await typesIn(snapshot))] : named;
  const byUrl = new Map<string, CanonicalTarget[]>();
  for (const target of of) byUrl.set(target.url, [...(byUrl.get(target.url) ?? []), target]);
  const found: ResourceKey[] = [];
  for (const chunk of chunksOf([...byUrl.keys()])) {
    const filters = [
      { type: { $in: types }, uri: { $elemMatch: { p: URL_PARAM, value: { $in: [...chunk] } } } },
      LIVING,
    ];
    for await (const documents of readAllBy(ask, BY_ENTRY.uri, filters, projectionOf({ params: [], names: true }))) {
      for (const { key, urls, versions } of documents.map(toHeld)) {
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

async function sourcesOf(
  ask: Ask,
  { type, params, of, limit }: Extract<IncludeStep, { ask: 'sources' }>,
): Promise<readonly ResourceKey[]> {
  const found = new Set<string>();
  // In the order of what they refer to, then of ids: as the index has it.
  for (const chunk of chunksOf(of.map(keyOf), 200)) {
    const referring = { type, reference: { $elemMatch: { p: { $in: [...params] }, to: { $in: [...chunk] } } } };
    const query = { filter: everyOf([referring, LIVING]), hint: BY_ENTRY.reference, projection: { _id: 1 }, limit };
    const { documents } = await ask.read(query);
    for (const bytes of documents) found.add(toHeld(bytes).key);
    if (found.size >= limit) break;
  }
  if (found.size < limit) await addCanonicalSources(ask, { type, params, of, limit }, found);
  return [...found].slice(0, limit).map(toKey);
}

/** Those that name some of them by a canonical. */
async function addCanonicalSources(
  ask: Ask,
  { type, params, of, limit }: Pick<Extract<IncludeStep, { ask: 'sources' }>, 'type' | 'params' | 'of' | 'limit'>,
  found: Set<string>,
): Promise<void> {
  const byUrl = new Map<string, { type: string; versions: readonly string[] }[]>();
  for await (const { key, urls, versions } of canonicalsOf({ ask }, of.map(keyOf))) {
    for (const url of urls) byUrl.set(url, [...(byUrl.get(url) ?? []), { type: toKey(key).type, versions }]);
  }
  if (byUrl.size === 0) return;
  const all = params.map((param) => referenceParam(param, 'url'));
  const projection = { _id: 1, reference: 1 };
  for (const chunk of chunksOf([...byUrl.keys()])) {
    const referring = { type, reference: { $elemMatch: { p: { $in: all }, to: { $in: [...chunk] } } } };
    for await (const documents of readAllBy(ask, BY_ENTRY.reference, [referring, LIVING], projection)) {
      for (const { key, references } of documents.map(toHeld)) {
        const isNamed = references.some(
          (row) =>
            all.includes(row.p) &&
            byUrl.get(row.to ?? '')?.some((target) => isCanonicalOf(row, target.type, target.versions)) === true,
        );
        if (isNamed) found.add(key);
        if (found.size >= limit) return;
      }
    }
  }
}

function toKey(key: string): ResourceKey {
  const at = key.indexOf('/');
  return { type: key.slice(0, at), id: key.slice(at + 1) };
}

/** Versions in the order of the keys; those behind `ROOM` are not read, for nobody looks at them. */
async function readVersions(ask: Ask, of: readonly VersionKey[]): Promise<readonly (StoredVersion | undefined)[]> {
  const found = new Map<string, StoredVersion>();
  const add = (bytes: Raw): void => {
    const stored = toStoredVersion(bytes);
    found.set(pastKeyOf(keyOf(stored), stored.version), stored);
    found.set(keyOf(stored), stored);
  };
  const nameOf = (key: VersionKey): string =>
    key.version === undefined ? keyOf(key) : pastKeyOf(keyOf(key), key.version);
  await read(ask, 'resource', [...new Set(of.map(keyOf))], add);
  const past = [...new Set(of.filter((key) => key.version !== undefined && !found.has(nameOf(key))).map(nameOf))];
  const addPast = (bytes: Raw): void => {
    const stored = toStoredVersion(bytes);
    found.set(pastKeyOf(keyOf(stored), stored.version), stored);
  };
  if (past.length > 0) await read(ask, 'history', past, addPast);
  return of.map((key) => found.get(nameOf(key)));
}

/** At once where one answer holds them, else one after the other while there is room. */
async function read(
  ask: Ask,
  collection: 'resource' | 'history',
  keys: readonly string[],
  add: (bytes: Raw) => void,
): Promise<void> {
  const query = { collection, hint: { _id: 1 }, projection: VERSION_ONLY };
  const { documents, isCut } = await ask.read({ ...query, filter: { _id: { $in: [...keys] } }, limit: keys.length });
  if (!isCut) {
    documents.forEach(add);
    return;
  }
  let room = ROOM;
  for (const _id of keys) {
    if (room < 0) return;
    const { documents: one } = await ask.read({ ...query, filter: { _id }, limit: 1 });
    one.forEach(add);
    room -= one[0]?.length ?? 0;
  }
}
