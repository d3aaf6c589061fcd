import type { Database } from 'better-sqlite3';

import type { HistoryPage, HistoryQuery, StoredVersion } from '../../store.js';
import type { Dictionary } from '../write/dictionary.js';
import { completeAfter } from '../file/clock.js';
import type { QueryInterrupt } from '../file/query-interrupt.js';
import { openStatements } from '../query/compile/statements.js';
import { rememberTotals } from './history-totals.js';
import { openLastBefore, type VersionPlace } from './last-before.js';
import { readHistoryCursor, writeHistoryCursor, type HistoryCursor } from './history-cursor.js';

/** Bytes of bodies after which a page ends early, for it is held in memory and crosses between threads. */
export const MAX_PAGE = 16 * 1024 * 1024;

type HistoryRow = readonly [
  seq: number,
  type: string,
  id: string,
  version: number,
  updated: number,
  body: string | null,
];

/** Which versions are asked for: of a resource by its key, of a type by its number. */
interface OneScope {
  readonly name: 'system' | 'type' | 'instance';
  readonly key: number;
}

/** The versions of several types by their numbers, or one of the others. */
type Scope = OneScope | { readonly name: 'types'; readonly keys: readonly number[] };

/**
 * Reads pages of history. Times never fall along `seq`, so every bound of time becomes one of `seq`, found by bisection,
 * and newest first is simply `seq` downwards. `next` is the version that followed: none of those may be from before the
 * interval. Inside a transaction.
 */
export function openHistory(
  db: Database,
  dictionary: Dictionary,
  interrupt: QueryInterrupt,
): (query: HistoryQuery) => HistoryPage {
  const clock = db.prepare<[], VersionPlace & { readonly removals: number }>(
    'SELECT seq, updated, removals FROM clock',
  );
  const totals = rememberTotals();
  const lastBefore = openLastBefore(db);
  const resourceKey = db
    .prepare<[number, string], number>('SELECT key FROM resource WHERE type = ? AND id = ?')
    .pluck();

  const isNotFollowed = `NOT EXISTS (SELECT 1 FROM version f
    WHERE f.resource = v.resource AND f.version = v.version + 1 AND f.seq <= $from)`;
  const inScope = { system: '', type: 'AND v.type = $key', instance: 'AND v.resource = $key' };
  /** An index that holds all that is asked: bodies are not touched by counting, nor by skipping. */
  const index = {
    system: 'NOT INDEXED',
    type: 'INDEXED BY version_of_type',
    instance: 'INDEXED BY version_of_resource',
  };
  const order = { system: 'v.seq', type: 'v.seq', instance: 'v.version' };

  const columns = 'v.seq, t.text, r.id, v.version, v.updated, v.body';
  const names = 'CROSS JOIN resource r ON r.key = v.resource CROSS JOIN term t ON t.id = v.type';
  const where = (scope: OneScope['name'], isInterval: boolean): string =>
    `v.seq < $last AND v.seq > $floor ${inScope[scope]} AND ${interrupt.sql('v.seq')}
     ${isInterval ? `AND (v.seq > $from OR ${isNotFollowed})` : ''}`;

  const statements = openStatements(db);
  const select = (scope: OneScope['name'], isInterval: boolean) =>
    statements<HistoryRow>(
      `SELECT ${columns} FROM version v ${index[scope]} ${names}
       WHERE ${where(scope, isInterval)} ORDER BY ${order[scope]} DESC`,
    );
  const selectPlaces = (isInterval: boolean) =>
    statements<readonly [number]>(
      `SELECT v.seq FROM version v ${index.type} WHERE ${where('type', isInterval)} ORDER BY v.seq DESC LIMIT $most`,
    );
  const selectRow = db.prepare<[number], HistoryRow>(`SELECT ${columns} FROM version v ${names} WHERE v.seq = ?`).raw();

  function count(scope: OneScope['name'], isInterval: boolean) {
    // For all types the versions are counted type by type, because no smaller index has them in their order.
    const perType = scope === 'system' ? 'term t CROSS JOIN version v INDEXED BY version_of_type ON v.type = t.id' : '';
    const plain = `SELECT count(*) FROM ${perType || `version v ${index[scope]}`}
      WHERE v.seq < $last AND v.seq > $floor ${inScope[scope]} AND ${interrupt.sql('v.seq')}`;
    const perResource = `SELECT count(*) FROM resource r CROSS JOIN version v INDEXED BY version_of_resource ON v.resource = r.key
      WHERE ${scope === 'type' ? 'r.type = $key AND' : scope === 'instance' ? 'r.key = $key AND' : ''}
      v.seq < $last AND v.seq > $floor AND ${interrupt.sql('v.seq')} AND (v.seq > $from OR ${isNotFollowed})`;
    return statements<readonly [number]>(isInterval ? perResource : plain);
  }

  function findScope({ type, id, types }: HistoryQuery): Scope | undefined {
    if (type === undefined && types !== undefined) {
      return { name: 'types', keys: [...new Set(types)].flatMap((each) => dictionary.findTerm(each) ?? []) };
    }
    if (type === undefined) return { name: 'system', key: 0 };
    const term = dictionary.findTerm(type);
    if (term === undefined) return undefined;
    if (id === undefined) return { name: 'type', key: term };
    const key = resourceKey.get(term, id);
    return key === undefined ? undefined : { name: 'instance', key };
  }

  function begin({ since, at }: HistoryQuery, scope: Scope): HistoryCursor {
    const newest = clock.get() ?? { seq: 0, updated: 0, removals: 0 };
    // What an instance has not got yet it never had: its versions come in the same order.
    const last = at === undefined ? newest.seq + 1 : lastBefore(at.to + 1, newest.seq) + 1;
    const floor = since === undefined ? 0 : lastBefore(since, newest.seq);
    // One that is replaced at the very instant `from` is not current then any more.
    const from = at === undefined ? 0 : lastBefore(at.from + 1, newest.seq);
    const bounds = { last, floor, from };
    const countAfter = ({ name, key }: OneScope, after: number): number =>
      count(name, at !== undefined).get({ ...bounds, floor: after, key })![0];
    const isWhole = since === undefined && at === undefined;
    // There are as many instances as anybody cares to ask for, and few versions of each.
    const countOne = (one: OneScope): number =>
      isWhole && one.name !== 'instance'
        ? totals.total(`${one.name} ${one.key}`, newest, (after) => countAfter(one, after))
        : countAfter(one, floor);
    const total =
      scope.name === 'types'
        ? scope.keys.reduce((sum, key) => sum + countOne({ name: 'type', key }), 0)
        : countOne(scope);
    return { last, floor, from, total, complete: completeAfter(newest.updated) };
  }

  /** At most so many, newest first. */
  function* rowsOf(
    scope: Scope,
    isInterval: boolean,
    { last, floor, from }: HistoryCursor,
    most: number,
  ): Iterable<HistoryRow> {
    const bounds = { last, floor, from };
    if (scope.name !== 'types') {
      yield* select(scope.name, isInterval).iterate({ ...bounds, key: scope.key });
      return;
    }
    // Of each type as many as there may be: between two versions of a rare one there may be all others.
    const places = selectPlaces(isInterval);
    const found = scope.keys.flatMap((key) => places.all({ ...bounds, key, most })).sort(([a], [b]) => b - a);
    for (const [seq] of found.slice(0, most)) yield selectRow.get(seq)!;
  }

  return (query) => {
    const scope = findScope(query);
    if (scope === undefined) return { versions: [], total: 0, complete: completeAfter(clock.get()?.updated) };
    const cursor = query.after === undefined ? begin(query, scope) : readHistoryCursor(query.after);
    const { total, complete } = cursor;
    if (query.count === 0) return { versions: [], total, complete };

    const versions: StoredVersion[] = [];
    let size = 0;
    let last = cursor.last;
    for (const [seq, type, id, version, lastUpdated, body] of rowsOf(
      scope,
      query.at !== undefined,
      cursor,
      query.count + 1,
    )) {
      if (versions.length === query.count || size >= MAX_PAGE) {
        return { versions, total, complete, next: writeHistoryCursor({ ...cursor, last }) };
      }
      versions.push({ type, id, version, lastUpdated, ...(body !== null && { json: body }) });
      size += body?.length ?? 0;
      last = seq;
    }
    return { versions, total, complete };
  };
}
