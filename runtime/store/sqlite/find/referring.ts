import type { Database } from 'better-sqlite3';

import { compareText } from '../../../search/query/compare-text.js';
import type { IncludeStep } from '../../includes.js';
import type { ResourceKey } from '../../store.js';
import type { FindParts } from './run.js';

/** Finds what refers to resources, each once, the first by id. Inside a transaction. @param base as in `PageQuery` */
export type Referring = (
  step: IncludeStep & { readonly ask: 'sources' },
  base: string | undefined,
) => readonly ResourceKey[];

/** Prepares the statements. */
export function openReferring(db: Database, { dictionary, guard, isUnordered }: FindParts): Referring {
  const go = guard.sql('resource');
  const byId = db
    .prepare<[string, number, number, number, number, number], number>(
      `SELECT DISTINCT resource FROM reference INDEXED BY reference_by_target
       WHERE target_id = ? AND target_id <> '' AND param = ? AND resource < ? AND target_type = ? AND base IN (0, ?) AND ${go}
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
  const selectId = db.prepare<[number], string>('SELECT id FROM resource WHERE key = ?').pluck();

  return ({ type, params, of, limit }, base) => {
    const source = dictionary.findTerm(type);
    if (source === undefined) return [];
    const numbers = params.flatMap((code) => dictionary.findParam(source, code, 0) ?? []);
    const own = (base === undefined ? undefined : dictionary.findTerm(base)) ?? 0;
    const isOrdered = !isUnordered(source);
    const first = openFirst(isOrdered ? limit : Infinity);
    // As many rows at a time as there may be.
    const most = isOrdered ? limit : -1;
    for (const target of of) {
      const targetType = dictionary.findTerm(target.type);
      if (targetType === undefined) continue;
      const url = dictionary.findParam(targetType, 'url', 0);
      const key = url === undefined ? undefined : selectKey.get(targetType, target.id);
      const version = dictionary.findParam(targetType, 'version', 0) ?? 0;
      const urls = url === undefined || key === undefined ? [] : selectUrls.all(key, url);
      for (const param of numbers) {
        guard.step();
        first.add(byId.all(target.id, param, first.below, targetType, own, most));
        for (const each of urls) first.add(byUrl.all(each, param, first.below, targetType, key!, version, most));
      }
    }
    const found = first.keys().map((key) => ({ type, id: selectId.get(key)! }));
    return found.sort((a, b) => compareText(a.id, b.id)).slice(0, limit);
  };
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
    keys: () => [...kept],
  };
}
