import { greatest } from '../fhir/lists.js';
import type { Access } from '../auth/scopes/access.js';
import { searchAccess } from '../auth/access/search-access.js';
import { withinReach } from '../auth/scopes/reach.js';
import { checkConstraintIndexes, recordConstraints } from '../core/access/constraint-index-status.js';
import { readStored } from '../core/read-stored.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import type { Resource } from '../fhir/resource.js';
import type { Condition } from '../search/query/query.js';
import type { Store } from '../store/store.js';
import type { FindStored } from './resolver.js';
import { isVersion, latest, type TerminologyType } from './version.js';

/** How long what was found in the store is believed, in milliseconds: all processes see a change within two seconds. */
const BELIEVED = 1000;

/** Text of resources that is kept parsed, in characters, and how many resources there may be of one URL. */
const KEPT = 64_000_000;
const MOST_VERSIONS = 50;

/** From this size of text on, the store is asked whether anything has changed before it is asked for the text again. */
const LARGE = 100_000;

interface Known {
  at: number;
  readonly resources: readonly Resource[];
  /** Milliseconds since the epoch of the newest. */
  readonly newest: number;
  readonly size: number;
}

interface Parsed {
  readonly resource: Resource;
  readonly size: number;
}

/** What was found in a store, by reach, type and URL, and resources by type, id and version. */
interface Memory {
  readonly known: Map<string, Known>;
  readonly parsed: Map<string, Parsed>;
  size: number;
}

const memories = new WeakMap<Store, Memory>();

/** Who asks, and for when. */
export interface StoredReader {
  readonly access: Access;
  readonly signal: AbortSignal | undefined;
  /** The definitions that counted then are wanted, in milliseconds since the epoch. */
  readonly date?: number;
}

/**
 * Finds stored resources within what a token may read or search: another one is as good as missing.
 *
 * @throws FhirError `parameter-invalid` where a resource was changed after the date
 */
export function storedFinder(
  { access, signal, date }: StoredReader,
  services: Pick<Services, 'store' | 'tables' | 'indexStatus' | 'largeTexts'>,
): FindStored {
  const { store, tables } = services;
  const memory = memories.get(store) ?? { known: new Map(), parsed: new Map(), size: 0 };
  memories.set(store, memory);
  const recorded = recordConstraints(searchAccess(access, tables.resourceTypes));
  const find = async (type: TerminologyType, url: string): Promise<Known> => {
    const reach = recorded.onAny(type, ['r', 's']);
    if (reach === 'nothing') return NOTHING_KNOWN;
    const key = `${JSON.stringify(reach)} ${type} ${url}`;
    const before = memory.known.get(key);
    if (before !== undefined && performance.now() - before.at < BELIEVED) return before;
    await checkConstraintIndexes(recorded.constraints, services);
    const byUrl: Condition = { param: 'url', any: [{ is: 'uri-equals', value: url }] };
    const where = withinReach({ all: [byUrl] }, reach);
    const at = performance.now();
    if (before !== undefined && before.size >= LARGE && (await isUnchanged(type, where, before, store, signal))) {
      before.at = at;
      return before;
    }
    const query = { type, where, sort: [], count: MOST_VERSIONS, total: 'none' } as const;
    const { versions } = await store.find(query, signal);
    const resources: Resource[] = [];
    for (const { id, version, lastUpdated, amended = 0, json = '{}' } of versions) {
      // What is expunged and created anew begins with the same number again.
      const key = `${type}/${id}/${version}/${lastUpdated}/${amended}`;
      resources.push(await parse(key, json, memory, services));
    }
    const newest = greatest(
      versions.map(({ lastUpdated }) => lastUpdated),
      0,
    );
    const size = versions.reduce((sum, { json = '' }) => sum + json.length, 0);
    const found = { at, resources, newest, size };
    if (memory.known.size >= 1000) memory.known.clear();
    memory.known.set(key, found);
    return found;
  };
  return async (type, url, version) => {
    const { resources, newest } = await find(type, url);
    const found = latest(resources.filter((each) => version === undefined || isVersion(each['version'], version)));
    if (found !== undefined && date !== undefined && newest > date) {
      const text = `${type} ${url} was changed after the date that is asked for; what it was then cannot be used`;
      throw new FhirError('parameter-invalid', text);
    }
    return found;
  };
}

const NOTHING_KNOWN: Known = { at: Infinity, resources: [], newest: 0, size: 0 };

/** Whether the same resources are there as before, and none that is newer: labels in place can hide some and show others. */
async function isUnchanged(
  type: string,
  where: Condition,
  { resources, newest }: Known,
  store: Store,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const count = async (condition: Condition): Promise<number | undefined> => {
    const query = { type, where: condition, sort: [], count: 0, total: 'accurate' } as const;
    return (await store.find(query, signal)).total;
  };
  if ((await count({ all: [where, { updated: [{ low: { gt: newest } }] }] })) !== 0) return false;
  const ids = resources.map(({ id }) => String(id));
  const counts = [await count(where), await count({ all: [where, { ids }] })];
  return counts.every((each) => each === resources.length);
}

async function parse(
  key: string,
  json: string,
  memory: Memory,
  services: Pick<Services, 'largeTexts'>,
): Promise<Resource> {
  const before = memory.parsed.get(key);
  const resource = before?.resource ?? (await readStored(json, services));
  memory.parsed.delete(key);
  memory.parsed.set(key, { resource, size: json.length });
  memory.size += before === undefined ? json.length : 0;
  for (const [oldest, { size }] of memory.parsed) {
    if (memory.size <= KEPT || oldest === key) break;
    memory.parsed.delete(oldest);
    memory.size -= size;
  }
  return resource;
}
