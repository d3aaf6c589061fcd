import type { Database } from 'better-sqlite3';

import {
  findDangling,
  hasReferenceChecks,
  openExceptions,
  ReferencesBroken,
  type ReferringChange,
} from '../../references.js';
import type { RequiredTarget, ResourceKey, Unreferred } from '../../store.js';
import type { Dictionary } from './dictionary.js';

/**
 * Checks inside a write transaction, after its changes, that what they refer to is there, and that nothing refers to what they delete.
 *
 * @throws ReferencesBroken
 */
export type ReferenceCheck = (changes: readonly ReferringChange[]) => void;

/** Each target is one look-up by key: within the process, one statement for all of them takes longer. */
export function openReferenceCheck(db: Database, dictionary: Dictionary): ReferenceCheck {
  let check: ReferenceCheck | undefined;
  return (changes) => {
    if (hasReferenceChecks(changes)) (check ??= prepare(db, dictionary))(changes);
  };
}

interface ReferrerRow {
  readonly type: number;
  readonly id: string;
  readonly version: number;
  readonly param: number;
}

function prepare(db: Database, dictionary: Dictionary): ReferenceCheck {
  const selectLive = db.prepare<[number, string]>('SELECT 1 FROM resource WHERE type = ? AND id = ? AND deleted = 0');
  const selectVersion = db.prepare<[number, string, number]>(
    'SELECT 1 FROM resource r JOIN version v ON v.resource = r.key ' +
      'WHERE r.type = ? AND r.id = ? AND v.version = ? AND v.body IS NOT NULL',
  );
  // The index has no rows without an id, which SQLite has to see.
  const selectReferrers = db.prepare<[string, number], ReferrerRow>(
    'SELECT r.type, r.id, r.version, f.param FROM reference f INDEXED BY reference_by_target ' +
      'CROSS JOIN resource r ON r.key = f.resource ' +
      "WHERE f.target_id = ? AND f.target_id <> '' AND f.target_type = ? AND f.base = 0 AND f.target_version = ''",
  );

  function isThere({ type, id, version }: RequiredTarget): boolean {
    const term = dictionary.findTerm(type);
    if (term === undefined) return false;
    return (version === undefined ? selectLive.get(term, id) : selectVersion.get(term, id, version)) !== undefined;
  }

  function isReferred({ type, id }: ResourceKey, unreferred: Unreferred): boolean {
    const target = dictionary.findTerm(type);
    if (target === undefined) return false;
    const types = new Map(unreferred.types.map((name) => [dictionary.findTerm(name), name]));
    const isException = openExceptions(unreferred);
    const known = new Map<number, ReadonlySet<number | undefined>>();
    const paramsOf = (term: number): ReadonlySet<number | undefined> => {
      const params = known.get(term) ?? new Set(unreferred.params.map((param) => dictionary.findParam(term, param, 0)));
      known.set(term, params);
      return params;
    };
    for (const row of selectReferrers.iterate(id, target)) {
      const name = types.get(row.type);
      if (name === undefined || !paramsOf(row.type).has(row.param)) continue;
      if (!isException({ type: name, id: row.id, version: row.version })) return true;
    }
    return false;
  }

  return (changes) => {
    const dangling = findDangling(changes, isThere);
    if (dangling.length > 0) throw new ReferencesBroken({ dangling });
    const referred = changes.findIndex(
      (change) => change.unreferred !== undefined && isReferred(change, change.unreferred),
    );
    if (referred >= 0) throw new ReferencesBroken({ dangling, referred });
  };
}
