import { isVisible } from '../../core/access/visibility.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { withinReach, type Reach } from '../../auth/scopes/reach.js';
import type { StoredVersion } from '../../store/store.js';
import { sinceCondition, type RecordFilter } from './members.js';
import { belowBase } from '../../path/own-base.js';

/** A resource that another refers to; with a version where the reference names one. */
export interface ReferredKey {
  readonly type: string;
  readonly id: string;
  readonly version?: number;
}

/** What was read of the resources that others refer to. */
export interface Referred {
  readonly found: readonly StoredVersion[];
  /** Names of those for which the answer has no room. */
  readonly left: readonly ReferredKey[];
}

/** Ids that one query asks for. */
const CHUNK = 500;

/**
 * The resources that the JSON texts refer to: references anywhere, extensions included, and the URLs of attachments that are
 * Binaries here. Within a JSON string a quotation mark is escaped, so no text that a resource holds is taken for a reference.
 *
 * @param isWanted whether resources of a type may come
 */
export function referredFrom(
  texts: readonly string[],
  base: string,
  isWanted: (type: string) => boolean,
): ReadonlyMap<string, ReferredKey> {
  const found = new Map<string, ReferredKey>();
  for (const [begin, only] of PATTERNS) {
    for (const url of valuesOf(texts, begin)) {
      const relative = belowBase(url, base) ?? url;
      const [, type = '', id = '', version] = TARGET.exec(relative) ?? [];
      if (type === '' || !isWanted(type) || (only !== undefined && type !== only)) continue;
      const key = { type, id, ...(version !== undefined && { version: Number(version) }) };
      found.set(nameOf(key), key);
    }
  }
  return found;
}

/** The name of a resource, or of a version of it. */
export function nameOf({ type, id, version }: ReferredKey): string {
  return version === undefined ? `${type}/${id}` : `${type}/${id}/${version}`;
}

/** What a name is of. */
export function keyOf(name: string): ReferredKey {
  const [type = '', id = '', version] = name.split('/');
  return { type, id, ...(version !== undefined && { version: Number(version) }) };
}

/** How members begin that references are in, each with the only type that counts there. */
const PATTERNS: readonly (readonly [string, string?])[] = [['"reference":"'], ['"url":"', 'Binary']];

/** Longest reference that is followed, in characters. */
const LONGEST = 1024;

/** The distinct values of a member: the same few references come again and again. */
function valuesOf(texts: readonly string[], begin: string): ReadonlySet<string> {
  const values = new Set<string>();
  for (const text of texts) {
    for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at)) {
      at += begin.length;
      const end = text.indexOf('"', at);
      // A backslash, as before a quotation mark within the value, is in no reference that is followed.
      if (end - at <= LONGEST) values.add(text.slice(at, end));
    }
  }
  return values;
}

const TARGET = /^([A-Z][A-Za-z]+)\/([A-Za-z0-9.-]{1,64})(?:\/_history\/([1-9][0-9]{0,9}))?$/;

/**
 * Reads them, as far as the token may see them and `_since` takes them, and there is room for them.
 *
 * @param room characters after which it ends early
 */
export async function readReferred(
  keys: readonly ReferredKey[],
  room: number,
  filter: RecordFilter,
  reach: (type: string) => Reach,
  call: Call,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<Referred> {
  const { store } = services;
  const found: StoredVersion[] = [];
  let size = 0;
  const take = (versions: readonly StoredVersion[]): void => {
    found.push(...versions);
    size = versions.reduce((sum, { json = '' }) => sum + json.length, size);
  };
  const current = keys.filter(({ version }) => version === undefined);
  const named = keys.filter(({ version }) => version !== undefined);
  for (let at = 0; at < current.length; at += CHUNK) {
    const ids = new Map<string, string[]>();
    for (const { type, id } of current.slice(at, at + CHUNK)) ids.set(type, [...(ids.get(type) ?? []), id]);
    const source = { now: Date.now(), base: call.base };
    const parts = [...ids].map(([type, some]) => {
      const where = { all: [{ ids: some }, ...sinceCondition(filter, type, source, services)] };
      return { type, where: withinReach(where, reach(type)) };
    });
    const query = { parts, sort: [], count: CHUNK, total: 'none' } as const;
    for (let after: string | undefined; ;) {
      const page = await store.findMultiType(after === undefined ? query : { ...query, after }, signal);
      take(page.versions);
      if (page.next === undefined) break;
      after = page.next;
      if (size < room) continue;
      const there = new Set(found.map(({ type, id }) => nameOf({ type, id })));
      return { found, left: [...current.slice(at).filter((key) => !there.has(nameOf(key))), ...named] };
    }
    if (size >= room) return { found, left: [...current.slice(at + CHUNK), ...named] };
  }
  const since = filter.since === undefined ? -Infinity : Date.parse(filter.since);
  for (const [i, { type, id, version = 0 }] of named.entries()) {
    if (size >= room) return { found, left: named.slice(i) };
    signal?.throwIfAborted();
    const stored = await store.readVersion(type, id, version);
    if (stored?.json === undefined || stored.lastUpdated < since) continue;
    if (await isVisible(stored, 'r', call, services)) take([stored]);
  }
  return { found, left: [] };
}
