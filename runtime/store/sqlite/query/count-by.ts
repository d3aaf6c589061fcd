import type { CountQuery, CountRow, ElementPath } from '../../store.js';
import { simplify } from './compile/simplify.js';
import { join, raw, sql } from './compile/sql.js';
import { beginRun, withoutAbsent, type FindParts } from './run.js';
import { allMatches } from './total.js';

/** Counts resources by texts in them. Inside a transaction. @returns undefined: there are more rows than wanted */
export function countBy(parts: FindParts, { type, where, by, most }: CountQuery): readonly CountRow[] | undefined {
  const query = { type, where, sort: [], count: 0, total: 'accurate' } as const;
  const run = beginRun(parts, query);
  if (run === undefined) return [];
  const keys = allMatches(run, simplify(withoutAbsent(run, where)));
  const texts = by.map((path) => sql`json_extract(v.body, ${jsonPath(path)})`);
  const columns = join([...texts, sql`count(*)`], ', ');
  const groups = raw(by.map((_, i) => String(i + 1)).join(', '));
  const rows = run.table<readonly (string | number | null)[]>(
    sql`WITH found(key) AS (${keys}) SELECT ${columns} FROM found CROSS JOIN resource r NOT INDEXED ON r.key = found.key
    CROSS JOIN version v ON v.seq = r.seq GROUP BY ${groups} LIMIT ${most + 1}`,
  );
  if (rows.length > most) return undefined;
  return rows.map((row) => ({
    values: row.slice(0, -1).map((value) => (value === null ? undefined : String(value))),
    count: Number(row.at(-1)),
  }));
}

/** https://www.sqlite.org/json1.html#path_arguments */
function jsonPath(path: ElementPath): string {
  return `$${path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${JSON.stringify(step)}`)).join('')}`;
}
