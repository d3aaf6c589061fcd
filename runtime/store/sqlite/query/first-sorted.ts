import type { Condition } from '../../../search/query/query.js';
import type { SortValue } from '../../../search/query/sort.js';
import { selectDriven } from './by-key.js';
import type { Driver } from './compile/index-range.js';
import { raw, sql, type Sql } from './compile/sql.js';
import type { Hit } from './hit.js';
import type { Run } from './run.js';
import { valueOf, type SortedBy } from './sort-values.js';

type Row = readonly [key: number, value: string | number | null, total?: number];

/**
 * The first matches in the order of one sort key from a place on: SQLite keeps the few that are first while it reads the
 * values of all. To hand every match over and to sort them here takes three times as long.
 *
 * @param where what is left to be asked of what the driver finds
 * @param isCounted whether all matches are counted, too
 * @returns undefined where the order is not so simple
 */
export function firstSorted(
  run: Run,
  driver: Driver,
  where: Condition,
  after: Hit | undefined,
  wanted: number,
  isCounted: boolean,
): { readonly hits: readonly Hit[]; readonly total: number | undefined } | undefined {
  const [first, ...others] = run.sort;
  const by = first === undefined || others.length > 0 ? undefined : valueOf(run, first);
  if (by === undefined || wanted === 0) return undefined;
  const keys = selectDriven(run, driver, where);
  if (keys === undefined) return undefined;
  const rows = run.table<Row>(isCounted ? counted(keys, by, wanted) : uncounted(keys, by, after, wanted));
  const hits = rows.map(([key, value]): Hit => ({ key, values: [value === null ? null : ([value] as SortValue)] }));
  return { hits, total: isCounted ? (rows[0]?.[2] ?? 0) : undefined };
}

/** Each match once, with the best of its values. */
function valued(keys: Sql, { join, best }: SortedBy): Sql {
  return sql`SELECT k.key AS key, ${best} AS value FROM (${keys}) k LEFT JOIN ${join(raw('k.key'))} GROUP BY k.key`;
}

function inOrder({ isDescending }: SortedBy, limit: number): Sql {
  return sql`ORDER BY 2 ${raw(isDescending ? 'DESC' : 'ASC')} NULLS LAST, key LIMIT ${limit}`;
}

function uncounted(keys: Sql, by: SortedBy, after: Hit | undefined, limit: number): Sql {
  return sql`${valued(keys, by)} ${later(by, after)} ${inOrder(by, limit)}`;
}

function counted(keys: Sql, by: SortedBy, limit: number): Sql {
  return sql`WITH found AS MATERIALIZED (${valued(keys, by)})
    SELECT key, value, (SELECT count(*) FROM found) FROM found ${inOrder(by, limit)}`;
}

/** What comes after a place. */
function later({ best, isDescending }: SortedBy, after: Hit | undefined): Sql {
  if (after === undefined) return sql``;
  const [value] = after.values[0] ?? [];
  if (value === undefined) return sql`HAVING ${best} IS NULL AND k.key > ${after.key}`;
  const beyond = raw(isDescending ? '<' : '>');
  return sql`HAVING ${best} ${beyond} ${value} OR ${best} IS NULL OR ${best} = ${value} AND k.key > ${after.key}`;
}
