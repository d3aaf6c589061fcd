import type { Database } from 'better-sqlite3';

import { compareText } from '../../../../search/query/compare-text.js';
import type { IncludeStep } from '../../../include-steps.js';
import type { ResourceKey } from '../../../store.js';
import type { FindParts } from '../run.js';

/** Finds what refers to resources, each once. Inside a transaction. */
export type Referring = (step: IncludeStep & { readonly ask: 'sources' }) => readonly ResourceKey[];

/** Prepares the statements. */
export function openReferring(db: Database, { dictionary, interrupt }: FindParts): Referring {
  const byIds = db
    .prepare<[string, number, number, number], number>(
      `SELECT f.resource FROM json_each(?) k CROSS JOIN reference f INDEXED BY reference_by_target
       WHERE f.target_id = k.value AND f.target_id <> '' AND f.param = ? AND f.target_type = ? AND f.base = 0
       AND ${interrupt.sql('f.resource')} LIMIT ?`,
    )
    .pluck();
  const go = interrupt.sql('resource');
  const byId = db
    .prepare<[string, number, number, number, number], number>(
      `SELECT DISTINCT resource FROM reference INDEXED BY reference_by_target
       WHERE target_id = ? AND target_id <> '' AND param = ? AND resource < ? AND target_type = ? AND base = 0 AND ${go}
       ORDER BY resource LIMIT ?`,
    )
    .pluck();
  const byUrl = db
    .prepare<[string, number, number, number, number, number, number], number>(
      `SELECT DISTINCT resource FROM reference f INDEXED BY reference_by_url
       WHERE url = ? AND url <> '' AND param = ? AND resource < ? AND target_type IN (0, ?) AND ${go}
       AND (target_version = '' OR EXISTS (SELECT 1 FROM token v INDEXED BY sqlite_autoindex_token_1
         WHERE v.resource = ? AND v.param = ? AND v.code = f.target_version))
       ORDER BY resource LIMIT ?`,
    )
    .pluck();
  const selectKey = db
    .prepare<[number, string], number>('SELECT key FROM resource WHERE type = ? AND id = ? AND deleted = 0')
    .pluck();
  const selectUrls = db
    .prepare<[number, number], string>(
      'SELECT value FROM uri INDEXED BY sqlite_autoindex_uri_1 WHERE resource = ? AND param = ?',
    )
    .pluck();
  const selectIds = db
    .prepare<[string], string>(
      'SELECT r.id FROM json_each(?) k CROSS JOIN resource r NOT INDEXED WHERE r.key = k.value',
    )
    .pluck();

  return ({ type, params, of, limit }) => {
    const source = dictionary.findTerm(type);
    if (source === undefined) return [];
    const numbers = params.flatMap((code) => dictionary.findParam(source, code, 0) ?? []);
    const first = openFirst(limit);
    /** Mostly few refer to all of them together; else each is asked for those that come first. */
    function addByIds(ids: readonly string[], target: number, param: number): void {
      interrupt.step();
      const all = byIds.all(JSON.stringify(ids), param, target, limit + 1);
      if (all.length <= limit) return first.add(all);
      for (const id of ids) first.add(byId.all(id, param, first.below, target, limit));
    }

    for (const [name, ids] of byType(of)) {
      const target = dictionary.findTerm(name);
      if (target === undefined) continue;
      for (const param of numbers) addByIds(ids, target, param);
      const url = dictionary.findParam(target, 'url', 0);
      const version = dictionary.findParam(target, 'version', 0) ?? 0;
      for (const id of url === undefined ? [] : ids) {
        interrupt.step();
        const key = selectKey.get(target, id);
        for (const each of key === undefined ? [] : selectUrls.all(key, url!)) {
          for (const param of numbers) first.add(byUrl.all(each, param, first.below, target, key!, version, limit));
        }
      }
    }
    const keys = first.keys();
    const ids = keys.length === 0 ? [] : selectIds.all(JSON.stringify(keys));
    return ids.sort(compareText).map((id) => ({ type, id }));
  };
}

function byType(of: readonly ResourceKey[]): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>();
  for (const { type, id } of of) {
    const same = ids.get(type);
    if (same === undefined) ids.set(type, [id]);
    else same.push(id);
  }
  return ids;
}

/** The least of many keys. @param limit how many */
function openFirst(limit: number) {
  let kept = new Set<number>();
  let below = Number.MAX_SAFE_INTEGER;
  function cut(): void {
    const keys = [...kept].sort((a, b) => a - b).slice(0, limit);
    kept = new Set(keys);
    if (keys.length === limit) below = keys.at(-1)!;
  }
  return {
    /** Keys from here on are not needed any more. */
    get below() {
      return below;
    },
    add(keys: readonly number[]) {
      for (const key of keys) kept.add(key);
      if (kept.size >= (below === Number.MAX_SAFE_INTEGER ? limit : 2 * limit)) cut();
    },
    keys() {
      cut();
      return [...kept];
    },
  };
}
