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
      const key = version === undefined ? `${type}/${id}` : `${type}/${id}/${version}`;
      found.set(key, { type, id, ...(version !== undefined && { version: Number(version) }) });
    }
  }
  return found;
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

/** Reads them, as far as the token may see them and `_since` takes them. */
export async function readReferred(
  keys: readonly ReferredKey[],
  filter: RecordFilter,
  reach: (type: string) => Reach,
  call: Call,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<StoredVersion[]> {
  const { store } = services;
  const found: StoredVersion[] = [];
  const current = keys.filter(({ version }) => version === undefined);
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
      found.push(...page.versions);
      if (page.next === undefined) break;
      after = page.next;
    }
  }
  const since = filter.since === undefined ? -Infinity : Date.parse(filter.since);
  for (const { type, id, version } of keys) {
    if (version === undefined) continue;
    signal?.throwIfAborted();
    const stored = await store.readVersion(type, id, version);
    if (stored?.json === undefined || stored.lastUpdated < since) continue;
    if (await isVisible(stored, 'r', call, services)) found.push(stored);
  }
  return found;
}
