import { createHash } from 'node:crypto';

import { FhirError } from '../../runtime/fhir/errors.js';
import type { Contained } from '../../runtime/indexing/contained.js';
import { isContainedType, containedIn, placeEntries } from '../../runtime/store/contained-resources.js';
import type { IndexEntry } from '../../runtime/indexing/entry.js';
import { leadsTo, matches, type Neighbours } from '../../runtime/search/query/match.js';
import { printCondition } from '../../runtime/search/query/print.js';
import { compareText } from '../../runtime/search/query/compare-text.js';
import { compareBy } from './compare-by.js';
import { stampBody } from '../../runtime/store/body.js';
import { runSteps, type IncludeStep } from '../../runtime/store/include-steps.js';
import { toLinePage } from '../../runtime/store/line-page.js';
import { collectIncludes } from '../../runtime/store/includes.js';
import { errorOfReferences, findDangling, hasReferenceChecks, openExceptions } from '../../runtime/store/references.js';
import {
  PreconditionConflict,
  StepConflict,
  VersionConflict,
  type Change,
  type FindMultiTypeQuery,
  type FindPage,
  type FindQuery,
  type HistoryPage,
  type HistoryQuery,
  type MapStep,
  type Store,
  type StoredVersion,
} from '../../runtime/store/store.js';
import { COMMIT_DELAY, type LoggedVersion } from '../../runtime/store/version-log.js';

/** A store in memory, for tests of what lies above the port: plain, and as the port demands. */
export interface ToyStore extends Store {
  /** Contents of the blobs by key. */
  readonly contents: Map<string, Buffer>;
}

type Resource = StoredVersion & { readonly entries: readonly IndexEntry[] };

/** All bodies that come with a page, in characters. */
const ROOM = 64 * 1024 * 1024;

function across({ type, where, ...rest }: FindQuery): FindMultiTypeQuery {
  return { parts: [{ type, where }], ...rest };
}

function refill<V>(map: Map<string, V>, from: ReadonlyMap<string, V>): void {
  map.clear();
  for (const [key, value] of from) map.set(key, value);
}

/** @param now the clock, in milliseconds */
export function createToyStore(now: () => number = Date.now): ToyStore {
  const versions: StoredVersion[] = [];
  const current = new Map<string, StoredVersion>();
  /** Of the current versions that are no deletions. */
  const entriesOf = new Map<string, readonly IndexEntry[]>();
  /** Keys of what is within resources, by the keys of these. */
  const membersOf = new Map<string, readonly string[]>();
  const contents = new Map<string, Buffer>();
  const maps = new Map<string, Map<string, string>>();
  let clock = 0;

  const logged: LoggedVersion[] = [];
  const listeners = new Set<() => void>();

  function note({ type, id, version, lastUpdated, json }: StoredVersion, before: StoredVersion | undefined): void {
    const interaction = json === undefined ? 'delete' : before?.json === undefined ? 'create' : 'update';
    logged.push({ seq: logged.length + 1, type, id, version, updated: lastUpdated, interaction });
    for (const listener of listeners) queueMicrotask(listener);
  }

  const takeSteps = (steps: readonly MapStep[]): void => {
    for (const { map, key, value } of steps) {
      if (value === undefined) mapOf(map).delete(key);
      else mapOf(map).set(key, value);
    }
  };
  const mapOf = (name: string): Map<string, string> => {
    const map = maps.get(name) ?? new Map<string, string>();
    maps.set(name, map);
    return map;
  };

  /** Throws where a change does not fit what is there, or what those before it make. */
  function check(changes: readonly Change[]): void {
    const made = new Map<string, number>();
    for (const { type, id, expected, amended } of changes) {
      const before = current.get(`${type}/${id}`);
      const own = made.get(`${type}/${id}`);
      const actual = own ?? before?.version ?? 0;
      if (actual !== expected || (own === undefined && before?.amended !== amended))
        throw new VersionConflict(type, id, expected, actual);
      made.set(`${type}/${id}`, expected + 1);
    }
  }

  /** Throws where the references of changes that were done lead to nothing, or lead to what they deleted. */
  function checkReferences(changes: readonly Change[]): void {
    const dangling = findDangling(changes, ({ type, id, version }) =>
      version === undefined
        ? entriesOf.has(`${type}/${id}`)
        : versions.some(
            (each) => each.type === type && each.id === id && each.version === version && each.json !== undefined,
          ),
    );
    if (dangling.length > 0) throw errorOfReferences(changes, { dangling });
    const referred = changes.findIndex(({ type, id, unreferred }) => {
      if (unreferred === undefined) return false;
      const isException = openExceptions(unreferred);
      return livingOf().some(
        (each) =>
          unreferred.types.includes(each.type) &&
          !isException(each) &&
          each.entries.some(
            (entry) =>
              entry.kind === 'reference' &&
              unreferred.params.includes(entry.param) &&
              entry.version === undefined &&
              entry.base === undefined &&
              entry.type === type &&
              entry.id === id,
          ),
      );
    });
    if (referred >= 0) throw errorOfReferences(changes, { dangling, referred });
  }

  function apply(change: Change): StoredVersion {
    const before = current.get(`${change.type}/${change.id}`);
    clock = Math.max(now(), clock, (before?.lastUpdated ?? 0) + 1);
    const head = { type: change.type, id: change.id, version: change.expected + 1, lastUpdated: clock };
    const json = change.body === undefined ? undefined : stampBody(change.body, head.version, clock);
    const stored = json === undefined ? head : { ...head, json };
    versions.push(stored);
    note(stored, before);
    current.set(`${change.type}/${change.id}`, stored);
    if (change.body === undefined) entriesOf.delete(`${change.type}/${change.id}`);
    else entriesOf.set(`${change.type}/${change.id}`, placeEntries(change, change.contained)(change.entries));
    putMembers(stored, change.body === undefined ? [] : change.contained);
    return stored;
  }

  /** What is within a resource: entries without versions. */
  function putMembers(stored: StoredVersion, contained: readonly Contained[] = []): void {
    const container = `${stored.type}/${stored.id}`;
    for (const key of membersOf.get(container) ?? []) {
      current.delete(key);
      entriesOf.delete(key);
    }
    membersOf.delete(container);
    const members = containedIn(stored, contained);
    if (members.length > 0) membersOf.set(container, members.map(({ type, id }) => `${type}/${id}`)); // prettier-ignore
    for (const { type, id, entries } of members) {
      current.set(`${type}/${id}`, { ...stored, type, id });
      entriesOf.set(`${type}/${id}`, entries);
    }
  }

  /** What `find` goes on after: the last resource of a page as it was then, and the total of the first page. */
  const cursors = new Map<string, { readonly sort: string; readonly last: Resource; readonly total: number }>();

  const livingOf = (type?: string): Resource[] => {
    const living: Resource[] = [];
    const beginning = type === undefined ? '' : `${type}/`;
    // Most are of other types.
    for (const [key, entries] of entriesOf) {
      if (key.startsWith(beginning)) living.push({ ...current.get(key)!, entries });
    }
    return living;
  };

  /** Everybody may be a neighbour. */
  const neighboursOf = (type: string): Neighbours => ({
    type,
    targets: (target) => livingOf(target),
    sources: (source) => livingOf(source),
    of: (other) => neighboursOf(other),
  });

  /** In the order of types, then of ids; with keys by these, then by ids, then by types. */
  function orderOf(sort: FindQuery['sort']): (a: Resource, b: Resource) => number {
    const byId = sort.findIndex(({ by }) => by === 'id');
    const order = compareBy(byId < 0 ? sort : sort.slice(0, byId + 1));
    const byType = (a: Resource, b: Resource): number => compareText(a.type, b.type);
    return sort.length === 0 ? (a, b) => byType(a, b) || order(a, b) : (a, b) => order(a, b) || byType(a, b);
  }

  function include(step: IncludeStep): unknown {
    switch (step.ask) {
      case 'references':
        return step.of.map(({ type, id }) =>
          (entriesOf.get(`${type}/${id}`) ?? []).filter(({ kind }) => kind === 'reference'),
        );
      case 'canonicals':
        return livingOf().filter(
          (resource) =>
            !isContainedType(resource.type) &&
            step.of.some(({ types, ...canonical }) => {
              const entry = { kind: 'reference', param: '', ...canonical } as const;
              return types?.includes(resource.type) !== false && leadsTo(entry, resource.type, resource);
            }),
        );
      case 'sources':
        return livingOf(step.type).filter(({ entries }) =>
          entries.some(
            (entry) =>
              entry.kind === 'reference' &&
              step.params.includes(entry.param) &&
              step.of.some(({ type, id }) => {
                const own = entriesOf.get(`${type}/${id}`) ?? [];
                return leadsTo(entry, type, { id, entries: own });
              }),
          ),
        );
      case 'within':
        return livingOf(step.type)
          .filter((each) => step.of.includes(each.id) && matches(step.where, each, neighboursOf(step.type)))
          .map(({ id }) => id);
      case 'read':
        return step.of.map(({ type, id, version }) =>
          version === undefined
            ? current.get(`${type}/${id}`)
            : versions.find((each) => each.type === type && each.id === id && each.version === version),
        );
    }
  }

  /** Every resource is looked at, and the total is always found. */
  function find({ parts, sort, after, count, total, include: plan }: FindMultiTypeQuery): FindPage {
    const from = after === undefined ? undefined : cursors.get(after);
    const order = orderOf(sort);
    if (after !== undefined && from?.sort !== JSON.stringify(sort)) throw new FhirError('page-invalid');
    const found = parts
      .flatMap(({ type, where }) => livingOf(type).filter((each) => matches(where, each, neighboursOf(type))))
      .sort(order);
    const rest = from === undefined ? found : found.filter((resource) => order(resource, from.last) > 0);
    const page = rest.slice(0, count);
    const last = page.at(-1);
    const next = last !== undefined && rest.length > page.length ? `after-${cursors.size}` : undefined;
    const counted = from?.total ?? found.length;
    if (next !== undefined) cursors.set(next, { sort: JSON.stringify(sort), last: last!, total: counted });
    const shown = page.map(({ entries: _entries, ...stored }) => stored);
    return {
      versions: shown,
      ...(plan !== undefined && runSteps(collectIncludes(plan, shown, ROOM), include)),
      ...(total === 'none' ? {} : { total: counted }),
      ...(next !== undefined && { next }),
      complete: Math.max(now(), clock),
    };
  }

  function history({ type, id, types, since, at, after, count }: HistoryQuery): HistoryPage {
    const [bound = versions.length, place = versions.length] = (after?.split('.') ?? []).map(Number);
    const matches = [];
    for (let seq = bound - 1; seq >= 0; seq--) {
      const stored = versions[seq]!;
      if (type !== undefined && stored.type !== type) continue;
      if (id !== undefined && stored.id !== id) continue;
      if (types?.includes(stored.type) === false) continue;
      if (since !== undefined && stored.lastUpdated < since) continue;
      if (at !== undefined && !wasCurrent(stored, at)) continue;
      matches.push({ seq, stored });
    }
    const rest = matches.filter(({ seq }) => seq < place);
    const page = rest.slice(0, count);
    const last = page.at(-1);
    return {
      versions: page.map(({ stored }) => stored),
      total: matches.length,
      ...(last !== undefined && rest.length > page.length ? { next: `${bound}.${last.seq}` } : {}),
      complete: Math.max(now(), clock),
    };
  }

  function wasCurrent(stored: StoredVersion, { from, to }: { from: number; to: number }): boolean {
    const next = versions.find(
      ({ type, id, version }) => type === stored.type && id === stored.id && version === stored.version + 1,
    );
    return stored.lastUpdated <= to && (next === undefined || next.lastUpdated > from);
  }

  return {
    contents,
    read: async (type, id) => current.get(`${type}/${id}`),
    readMany: async (keys) => keys.map(({ type, id }) => current.get(`${type}/${id}`)),
    readVersion: async (type, id, version) =>
      versions.find((stored) => stored.type === type && stored.id === id && stored.version === version),
    history: async (query) => history(query),
    find: async (query) => find(across(query)),
    findMultiType: async (query) => find(query),
    findLines: async (query, until) => toLinePage(find(across(query)), until),
    async countBy({ type, where, by, most }) {
      const rows = new Map<string, { values: (string | undefined)[]; count: number }>();
      for (const each of livingOf(type).filter((one) => matches(where, one, neighboursOf(type)))) {
        const values = by.map((path) => path.reduce<unknown>((of, step) => (of as Record<string, unknown> | undefined)?.[step], JSON.parse(each.json!)) as string | undefined); // prettier-ignore
        const row = rows.get(JSON.stringify(values)) ?? { values, count: 0 };
        rows.set(JSON.stringify(values), row);
        row.count++;
      }
      return rows.size > most ? undefined : [...rows.values()];
    },
    async explain(query) {
      const { versions } = find(across(query));
      const driving = `every ${query.type}`;
      const compiled = [printCondition(query.where)];
      return {
        compiled,
        driving,
        way: 'walked',
        filters: compiled,
        estimated: undefined,
        probes: [],
        indexes: [],
        examined: entriesOf.size,
        returned: versions.length,
      };
    },
    async reindex(items) {
      const present = items.filter(({ type, id, version, amended }) => {
        const stored = current.get(`${type}/${id}`);
        return stored?.version === version && stored.amended === amended && stored.json !== undefined;
      });
      for (const { type, id, entries, contained } of present) {
        entriesOf.set(`${type}/${id}`, placeEntries({ type, id }, contained)(entries));
        putMembers(current.get(`${type}/${id}`)!, contained);
      }
      return present.length;
    },
    async amend({ type, id, version, isCurrent, before, body, entries, contained }) {
      const at = versions.findIndex((each) => each.type === type && each.id === id && each.version === version);
      const old = versions[at];
      if (old === undefined || old.json !== before) return false;
      if (isCurrent === true && current.get(`${type}/${id}`) !== old) return false;
      const amended = { ...old, amended: (old.amended ?? 0) + 1, json: stampBody(body, version, old.lastUpdated) };
      versions[at] = amended;
      if (current.get(`${type}/${id}`) !== old) return true;
      current.set(`${type}/${id}`, amended);
      entriesOf.set(`${type}/${id}`, placeEntries({ type, id }, contained)(entries));
      putMembers(amended, contained);
      return true;
    },
    async expunge({ type, id, version, deleted, previous, current: whole, limit, report }) {
      const isDeleted = (each: StoredVersion) => current.get(`${each.type}/${each.id}`)?.json === undefined;
      const isCurrent = (each: StoredVersion) => current.get(`${each.type}/${each.id}`) === each;
      const asked = versions.filter((each) => (type ?? each.type) === each.type && (id ?? each.id) === each.id);
      const dead = asked.filter(isDeleted);
      const living = asked.filter((each) => !isDeleted(each));
      const inOrder = (list: StoredVersion[]) => [...list].sort((a, b) => compareText(`${a.type}/${a.id}`, `${b.type}/${b.id}`) || a.version - b.version); // prettier-ignore
      const chosen =
        version !== undefined
          ? asked.filter((each) => each.version === version && !isCurrent(each))
          : [
              ...(deleted ? inOrder(dead) : []),
              ...(previous ? (id === undefined ? living : asked).filter((each) => !isCurrent(each)) : []),
              ...(whole ? inOrder(living) : []),
            ];
      const removed = [...new Set(chosen)].slice(0, limit);
      for (const each of removed) {
        const key = `${each.type}/${each.id}`;
        versions.splice(versions.indexOf(each), 1);
        if (!isCurrent(each)) continue;
        putMembers(each, []);
        current.delete(key);
        entriesOf.delete(key);
      }
      return { count: removed.length, reported: removed.filter((each) => each.type === report) };
    },
    async write(changes, guards = [], steps = []) {
      for (const guard of guards) {
        const sorted = { type: guard.type, where: guard.where, sort: [], count: Infinity, total: 'none' } as const;
        const found = find(across(sorted)).versions.map(({ id }) => id);
        if (found.join() !== [...guard.found].sort().join()) throw new PreconditionConflict(guard);
      }
      check(changes);
      if (steps.some(({ map, key, expected }) => maps.get(map)?.get(key) !== expected)) throw new StepConflict();
      if (!hasReferenceChecks(changes)) {
        takeSteps(steps);
        return changes.map(apply);
      }
      const before = [
        versions.length,
        new Map(current),
        new Map(entriesOf),
        new Map(membersOf),
        logged.length,
      ] as const;
      const written = changes.map(apply);
      try {
        checkReferences(changes);
      } catch (error) {
        versions.length = before[0];
        refill(current, before[1]);
        refill(entriesOf, before[2]);
        refill(membersOf, before[3]);
        logged.length = before[4];
        throw error;
      }
      takeSteps(steps);
      return written;
    },
    async scan(after = '0', limit) {
      const page = versions.slice(Number(after), Number(after) + limit).map((stored) => ({
        ...stored,
        isCurrent: current.get(`${stored.type}/${stored.id}`) === stored,
      }));
      return page.length === 0 ? { versions: page } : { versions: page, next: `${Number(after) + page.length}` };
    },
    async restore(restored) {
      for (const { content: _content, entries, contained, ...stored } of restored) {
        versions.push(stored);
        note(stored, current.get(`${stored.type}/${stored.id}`));
        current.set(`${stored.type}/${stored.id}`, stored);
        entriesOf.set(`${stored.type}/${stored.id}`, placeEntries(stored, contained)(entries ?? []));
        if (stored.json === undefined) entriesOf.delete(`${stored.type}/${stored.id}`);
        putMembers(stored, contained);
        clock = stored.lastUpdated;
      }
      return restored.length;
    },
    async counts() {
      const counts = new Map<string, number>();
      for (const { type, json } of current.values()) {
        if (json !== undefined && !isContainedType(type)) counts.set(type, (counts.get(type) ?? 0) + 1);
      }
      return counts;
    },
    blobs: {
      async put(key, content, limit) {
        const chunks: Buffer[] = [];
        let size = 0;
        for await (const chunk of content) {
          size += chunk.length;
          if (size > limit) throw new FhirError('body-too-large');
          chunks.push(Buffer.from(chunk));
        }
        const bytes = Buffer.concat(chunks);
        contents.set(key, bytes);
        return { size, sha256: sha256Of(bytes) };
      },
      async get(key, range) {
        const bytes = contents.get(key);
        if (bytes === undefined) return undefined;
        const part = range === undefined ? bytes : bytes.subarray(range.from, range.to + 1);
        return { size: bytes.length, stream: pieces(part) };
      },
      delete: async (key) => void contents.delete(key),
      list: async (prefix) =>
        [...contents].flatMap(([key, bytes]) =>
          key.startsWith(prefix) ? [{ key, put: 0, size: bytes.length, sha256: sha256Of(bytes) }] : [],
        ),
    },
    maps: {
      get: async (map, key) => mapOf(map).get(key),
      entries: async (map) => new Map(mapOf(map)),
      async swap(map, key, expected, value) {
        if (mapOf(map).get(key) !== expected) return false;
        mapOf(map).set(key, value);
        return true;
      },
      async swapAll(steps) {
        if (steps.some(({ map, key, expected }) => mapOf(map).get(key) !== expected)) return false;
        takeSteps(steps);
        return true;
      },
      async range(map, after, limit) {
        const keys = [...mapOf(map).keys()].filter((key) => key > after).sort();
        return new Map(keys.slice(0, limit).map((key) => [key, mapOf(map).get(key)!]));
      },
      delete: async (map, key) => void mapOf(map).delete(key),
      async scan(after = '0', limit) {
        const all = [...maps].flatMap(([map, entries]) => [...entries].map(([key, value]) => ({ map, key, value })));
        const entries = all.slice(Number(after), Number(after) + limit);
        return entries.length === 0 ? { entries } : { entries, next: `${Number(after) + entries.length}` };
      },
    },
    log: {
      end: async () => logged.length,
      async read(after, limit) {
        if (after > logged.length) return undefined;
        const isThere = (each: LoggedVersion) => versions.some(({ type, id, version, lastUpdated }) => type === each.type && id === each.id && version === each.version && lastUpdated === each.updated); // prettier-ignore
        return logged.slice(after).filter(isThere).slice(0, limit);
      },
      async placeAt(instant) {
        const first = logged.findIndex(({ updated }) => updated >= instant - COMMIT_DELAY);
        return first < 0 ? logged.length : first;
      },
      watch(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      trim: async () => {},
    },
    check: async () => ({ ok: true }),
    close: async () => {},
  };
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** In pieces of an odd size, so that nobody can rely on whole ones. */
async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1001) yield bytes.subarray(at, at + 1001);
}
