import type { Driver, Single } from './compile/index-range.js';
import type { Direction } from './by-key.js';
import type { Hit } from './hit.js';
import type { Run } from './run.js';
import { raw, sql } from './compile/sql.js';

/**
 * The first matches in the order of keys and their number, where one range has each match once: SQLite keeps the few that are
 * first while it reads them all, and counts by index alone. To hand every key over and sort them takes three times as long.
 *
 * @returns undefined where a resource may be there twice, or all fit the page
 */
export function firstOfSingle(
  run: Run,
  driver: Driver,
  { isDescending, after }: Direction,
  wanted: number,
): { readonly hits: readonly Hit[]; readonly total: number | undefined } | undefined {
  const { count } = driver;
  const single = count <= wanted ? undefined : singleRange(run, driver);
  if (single === undefined) return undefined;
  const { key, rows } = single;
  const isCounted = after === undefined && run.query.total !== 'none';
  const [total] = isCounted ? run.column<number>(sql`SELECT count(*) ${rows}`) : [];
  run.trace?.read(isCounted ? 2 * count : count);
  const later = after === undefined ? sql`` : sql` AND ${key} ${raw(isDescending ? '<' : '>')} ${after.key}`;
  const order = raw(isDescending ? 'DESC' : 'ASC');
  const keys = run.column<number>(sql`SELECT ${key} ${rows}${later} ORDER BY 1 ${order} LIMIT ${wanted}`);
  return { hits: keys.map((each) => ({ key: each, values: [] })), total };
}

/** The range in which each match of a driver is once; undefined: a resource may be there twice. */
export function singleRange(run: Run, { single }: Driver): Single | undefined {
  if (single === undefined) return undefined;
  const irregular = sql`SELECT 1 FROM irregular INDEXED BY irregular_by_param WHERE param = ${single.param} LIMIT 1`;
  return run.column(irregular).length > 0 ? undefined : single;
}
