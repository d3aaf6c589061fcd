import type { Condition } from '../../../search/query/query.js';
import type { SortValue } from '../../../search/query/sort.js';
import { selectDriven } from './by-key.js';
import type { Driver } from './compile/index-range.js';
import { raw, sql, type Sql } from './compile/sql.js';
import type { Hit } from './hit.js';
import type { Run } from './run.js';
import { valueOf } from './sort-values.js';

type Row = readonly [key: number, value: string | number | null, id: string | null, total?: number];

/** What a page is sorted by, as columns. */
interface OrderColumns {
  /** Joined with the keys `k`. */
  readonly join: Sql;
  /** The best value of a match; NULL: the order is that of ids. */
  readonly best: Sql;
  /** Its id; NULL where keys are in the order of ids. */
  readonly id: Sql;
  /** What matches are sorted by where they have the same value. */
  readonly last: Sql;
  readonly isDescending: boolean;
}

/**
 * The first matches in the order of one sort key, or of ids, from a place on: SQLite keeps the few that are first while it reads the
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
  const by = orderColumns(run);
  if (by === undefined || wanted === 0) return undefined;
  const keys = selectDriven(run, driver, where);
  if (keys === undefined) return undefined;
  const rows = run.table<Row>(isCounted ? counted(keys, by, wanted) : uncounted(keys, by, after, wanted));
  const isValued = run.sort.length > 0;
  const hits = rows.map(([key, value, id]): Hit => ({
    key,
    ...(id !== null && { id }),
    values: isValued ? [value === null ? null : ([value] as SortValue)] : [],
  }));
  if (by.id !== NULL) run.trace?.read(driver.count);
  return { hits, total: isCounted ? (rows[0]?.[3] ?? 0) : undefined };
}

const NULL = sql`NULL`;

function orderColumns(run: Run): OrderColumns | undefined {
  const [first, ...others] = run.sort;
  if (others.length > 0) return undefined;
  const [id, last] = run.isOrdered ? [NULL, sql`key`] : [sql`r.id`, sql`id`];
  const join = run.isOrdered ? sql`` : sql`CROSS JOIN resource r NOT INDEXED ON r.key = k.key`;
  if (first === undefined) return { join, best: NULL, id, last, isDescending: run.isDescending };
  const by = valueOf(run, first);
  if (by === undefined) return undefined;
  return {
    join: sql`${join} LEFT JOIN ${by.join(raw('k.key'))}`,
    best: by.best,
    id,
    last,
    isDescending: by.isDescending,
  };
}

/** Each match once, with the best of its values. */
function valued(keys: Sql, { join, best, id }: OrderColumns): Sql {
  return sql`SELECT k.key AS key, ${best} AS value, ${id} AS id FROM (${keys}) k ${join} GROUP BY k.key`;
}

function inOrder({ best, last, isDescending }: OrderColumns, limit: number): Sql {
  const direction = raw(isDescending ? 'DESC' : 'ASC');
  if (best === NULL) return sql`ORDER BY ${last} ${direction} LIMIT ${limit}`;
  return sql`ORDER BY 2 ${direction} NULLS LAST, ${last} LIMIT ${limit}`;
}

function uncounted(keys: Sql, by: OrderColumns, after: Hit | undefined, limit: number): Sql {
  return sql`${valued(keys, by)} ${later(by, after)} ${inOrder(by, limit)}`;
}

function counted(keys: Sql, by: OrderColumns, limit: number): Sql {
  return sql`WITH found AS MATERIALIZED (${valued(keys, by)})
    SELECT key, value, id, (SELECT count(*) FROM found) FROM found ${inOrder(by, limit)}`;
}

/** What comes after a place. */
function later({ best, id, isDescending }: OrderColumns, after: Hit | undefined): Sql {
  if (after === undefined) return sql``;
  const beyond = raw(isDescending ? '<' : '>');
  const [own, place] = id === NULL ? [sql`k.key`, after.key] : [id, after.id ?? ''];
  if (best === NULL) return sql`HAVING ${own} ${beyond} ${place}`;
  const [value] = after.values[0] ?? [];
  if (value === undefined) return sql`HAVING ${best} IS NULL AND ${own} > ${place}`;
  return sql`HAVING ${best} ${beyond} ${value} OR ${best} IS NULL OR ${best} = ${value} AND ${own} > ${place}`;
}
