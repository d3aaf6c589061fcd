import type { Database } from 'better-sqlite3';

import type { CanonicalTarget } from '../../../include-steps.js';
import type { ResourceKey } from '../../../store.js';
import { isPlain } from '../../write/contained-resources.js';
import type { FindParts } from '../run.js';

/** Finds what a canonical names: of each type as many as are wanted. Inside a transaction. */
export type CanonicalFinder = (target: CanonicalTarget, limit: number) => readonly ResourceKey[];

interface UrlParam {
  readonly type: number;
  readonly name: string;
  readonly param: number;
}

/** Prepares the statements. */
export function openNamed(db: Database, { dictionary, interrupt }: FindParts): CanonicalFinder {
  const selectParams = db.prepare<[], UrlParam>(
    `SELECT p.type, t.text AS name, p.id AS param FROM param p CROSS JOIN term t ON t.id = p.type
     WHERE p.code = 'url' AND p.part = 0 AND ${isPlain('t.text')}`,
  );
  const selectNamed = db.prepare<[number, string], { readonly key: number; readonly id: string }>(
    `SELECT r.key, r.id FROM uri u INDEXED BY uri_by_value CROSS JOIN resource r ON r.key = u.resource
     WHERE u.param = ? AND u.value = ? ORDER BY u.resource`,
  );
  const selectVersion = db.prepare<[number, number, string], number>(
    `SELECT 1 FROM token INDEXED BY sqlite_autoindex_token_1 WHERE resource = ? AND param = ? AND code = ?`,
  );

  function paramsOf(types: readonly string[] | undefined): readonly UrlParam[] {
    if (types === undefined) return selectParams.all();
    return types.flatMap((name) => {
      const type = dictionary.findTerm(name);
      const param = type === undefined ? undefined : dictionary.findParam(type, 'url', 0);
      return type === undefined || param === undefined ? [] : [{ type, name, param }];
    });
  }

  return ({ types, url, version }, limit) =>
    paramsOf(types).flatMap(({ type, name, param }) => {
      const versionParam = dictionary.findParam(type, 'version', 0) ?? 0;
      const found: ResourceKey[] = [];
      for (const { key, id } of selectNamed.iterate(param, url)) {
        interrupt.step();
        if (version !== undefined && selectVersion.get(key, versionParam, version) === undefined) continue;
        found.push({ type: name, id });
        if (found.length >= limit) break;
      }
      return found;
    });
}
