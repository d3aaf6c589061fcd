import { packagesOf } from '../core/definitions/guide-claims.js';
import { findAll } from '../core/search-services/find-all.js';
import { STORED_DEPTH } from '../core/read-stored.js';
import type { Resource } from '../fhir/resource.js';
import { yieldToEventLoop } from '../fhir/yield-to-event-loop.js';
import { readJson } from '../format/read-json.js';
import type { ResourceKey, Store, StoredVersion } from '../store/store.js';
import { contentDigest } from './changes/content-digest.js';
import type { PackageRow } from './journal.js';
import { derivedId, keyOf, type StoredDefinition } from './plan.js';
import type { PackageContents } from './read-package.js';
import { nameOf } from './resolve.js';

/** URLs of one search, and ids of one read. */
const AT_ONCE = 100;

/**
 * Reads what a plan has to know of the store: the definitions that have a canonical of these packages, have an id that theirs may take,
 * or came with packages that change. Of each only its digest is kept.
 */
export async function readStoredDefinitions(
  store: Pick<Store, 'find' | 'readMany'>,
  packages: readonly PackageContents[],
  changing: readonly PackageRow[],
): Promise<readonly StoredDefinition[]> {
  const found = new Map<string, StoredDefinition>();
  const pace = yieldToEventLoop();
  const take = async (version: StoredVersion | undefined): Promise<void> => {
    if (version?.json === undefined || found.has(keyOf(version))) return;
    found.set(keyOf(version), toDefinition(version, version.json));
    await pace();
  };

  const urls = new Map<string, Set<string>>();
  const keys = new Map<string, ResourceKey>();
  const addKey = (key: ResourceKey): void => void keys.set(keyOf(key), key);
  for (const each of packages.flatMap(({ resources }) => resources)) {
    const { type, id, url } = each;
    if (url !== undefined) urls.set(type, (urls.get(type) ?? new Set()).add(url));
    if (id !== undefined) addKey({ type, id });
    addKey({ type, id: derivedId(each) });
  }
  for (const { type, id } of changing.flatMap(({ resources }) => resources)) addKey({ type, id });

  for (const [type, all] of urls) {
    for (const some of pieces([...all])) {
      const where = { param: 'url', any: some.map((value) => ({ is: 'uri-equals' as const, value })) };
      const query = { type, where, sort: [], count: AT_ONCE, total: 'none' } as const;
      for await (const version of findAll(query, (...asked) => store.find(...asked), undefined)) await take(version);
    }
  }
  for (const some of pieces([...keys].filter(([key]) => !found.has(key)))) {
    for (const version of await store.readMany(some.map(([, key]) => key))) await take(version);
  }
  return [...found.values()];
}

/**
 * Returns the properties of a stored definition that a plan needs: its key, digest, tags and canonical, without the content.
 */
export function toDefinition({ type, id, version: number }: StoredVersion, json: string): StoredDefinition {
  const resource = readJson(json, STORED_DEPTH) as Resource;
  const { url, version } = resource;
  return {
    ...{ type, id, number, digest: contentDigest(resource), tags: packagesOf(resource) },
    ...(typeof url === 'string' && { url }),
    ...(typeof version === 'string' && { version }),
  };
}

/** @yields some at a time */
export function* pieces<T>(all: readonly T[], size = AT_ONCE): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}

/** Names the resources of a package that are not what the package had, a line each. */
export async function changedOf(row: PackageRow, store: Pick<Store, 'readMany'>): Promise<string[]> {
  const faults: string[] = [];
  for (const some of pieces(row.resources)) {
    const versions = await store.readMany(some);
    for (const [i, each] of some.entries()) {
      const version = versions[i];
      const place = `${nameOf(row)}: ${keyOf(each)}${each.url === undefined ? '' : ` (${each.url})`}`;
      if (version === undefined) faults.push(`${place} is lost`);
      else if (version.json === undefined) faults.push(`${place} was deleted`);
      else if (toDefinition(version, version.json).digest !== each.digest) faults.push(`${place} was changed`);
    }
  }
  return faults;
}
