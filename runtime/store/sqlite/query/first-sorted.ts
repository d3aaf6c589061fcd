import type { Condition } from '../../../search/query/query.js';
import type { SortValue } from '../../../search/query/sort.js';
import { CHEAP_TOTAL } from '../../store.js';
import { selectDriven } from './by-key.js';
import type { Driver } from './compile/index-range.js';
import { keyOf, raw, sql, type Sql } from './compile/sql.js';
import type { Hit } from './hit.js';
import { takeFrom, type Stretch } from './known-orders.js';
import type { Run } from './run.js';
import { valueOf, type SortedBy } from './sort-values.js';

type Row = readonly [key: number, value: string | number | null, total?: number];

/** Matches that are read at once where a further page is asked for: the client likely goes on. */
const AHEAD = 200;

/**
 * The first matches in the order of one sort key, from a place on: SQLite keeps the few that are first while it reads the values of
 * all. To hand every match over and to sort them here takes three times as long.
 *
 * @param where what is left to be asked of what the driver finds
 * @returns undefined where the order is not so simple; `total` is undefined where `countMatches` counts in less time
 */
export function firstSorted(
  run: Run,
  driver: Driver,
  where: Condition,
  after: Hit | undefined,
  wanted: number,
): { readonly hits: readonly Hit[]; readonly total: number | undefined } | undefined {
  const [first, ...others] = run.sort;
  if (first === undefined || others.length > 0 || !run.isOrdered || wanted === 0) return undefined;
  const by = valueOf(run, first);
  const keys = selectDriven(run, driver, where);
  if (by === undefined || keys === undefined) return undefined;
  const isAll = 'all' in where && where.all.length === 0;
  const isFirst = after === undefined;
  const isCounted = isFirst && run.query.total !== 'none' && !(isAll && driver.count <= CHEAP_TOTAL.matches);

  // The numbers of lists are given anew to each search, and an explanation is to see what a search does.
  const isKept = run.trace === undefined && !keys.text.includes('kiln_list');
  const name = keyOf([
    keys.text,
    ...keys.values,
    first.param,
    first.by,
    `${first.isDescending} ${isFirst} ${isCounted}`,
  ]);
  const known = isKept ? run.orders.get(name) : undefined;
  const taken = known && takeFrom(run.sort, known, after, wanted);
  if (taken !== undefined) return { hits: taken, total: known!.total };

  const limit = isFirst ? wanted : Math.max(wanted, AHEAD);
  const rows = run.table<Row>(isCounted ? counted(keys, by, limit) : uncounted(keys, by, after, limit));
  const hits = rows.map(([key, value]) => ({ key, values: [value === null ? null : ([value] as SortValue)] }));
  const total = isCounted ? (rows[0]?.[2] ?? 0) : undefined;
  const stretch: Stretch = { after, hits, isEnd: hits.length < limit, total };
  if (isKept) run.orders.keep(name, stretch);
  return { hits: hits.slice(0, wanted), total };
}

/** Each match once, with the best of its values. */
function valued(keys: Sql, { join, best }: SortedBy): Sql {
  return sql`SELECT k.key AS key, ${best} AS value FROM (${keys}) k LEFT JOIN ${join(raw('k.key'))} GROUP BY k.key`;
}

function inOrder({ isDescending }: SortedBy, limit: number): Sql {
  return sql`ORDER BY 2 ${raw(isDescending ? 'DESC' : 'ASC')} NULLS LAST, 1 LIMIT ${limit}`;
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
  return sql`HAVING ${best} ${raw(isDescending ? '<' : '>')} ${value} OR ${best} IS NULL
    OR ${best} = ${value} AND k.key > ${after.key}`;
}
