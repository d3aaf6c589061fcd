import { append } from '../../fhir/lists.js';
import { isVisible } from '../../core/access/visibility.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { withinReach, type Reach } from '../../auth/scopes/reach.js';
import type { StoredVersion } from '../../store/store.js';
import { sinceCondition, type RecordFilter } from './members.js';
import { nameOf, type ReferredKey } from '../../path/referred-from.js';

/** Result of reading the resources that others refer to. */
export interface Referred {
  readonly found: readonly StoredVersion[];
  /** Names of those for which the answer has no room. */
  readonly left: readonly ReferredKey[];
}

/** Ids that one query asks for. */
const CHUNK = 500;

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
    append(found, versions);
    size = versions.reduce((sum, { json = '' }) => sum + json.length, size);
  };
  const current = keys.filter(({ version }) => version === undefined);
  const named = keys.filter(({ version }) => version !== undefined);
  for (let at = 0; at < current.length; at += CHUNK) {
    const ids = new Map<string, string[]>();
    for (const { type, id } of current.slice(at, at + CHUNK)) ids.set(type, [...(ids.get(type) ?? []), id]);
    const source = { now: Date.now() };
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
