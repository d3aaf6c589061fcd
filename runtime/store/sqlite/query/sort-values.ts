import { valuedBy, type SortKey } from '../../../search/query/query.js';
import type { SortValue } from '../../../search/query/sort.js';
import type { Hit } from './hit.js';
import type { SearchRun } from './run.js';
import { and, join, or, raw, sql, type Sql, type Value } from './compile/sql.js';

/** Where the best value of a resource is simply one of a column. */
function columnOf({ by, isDescending }: SortKey): readonly [table: string, column: string] | undefined {
  switch (by) {
    case 'string':
      return ['string', 'folded'];
    case 'token':
      return ['token', 'code'];
    case 'date':
      return ['date', isDescending ? 'high' : 'low'];
    case 'number':
      return ['number', 'value'];
    case 'reference':
      return ['reference', 'target'];
    case 'uri':
      return ['uri', 'value'];
    default:
      return undefined;
  }
}

/** The row `s` is of one of these parameters. */
function isOfSome(params: readonly number[], row = 's'): Sql {
  return sql`${raw(row)}.param IN (${join(params.map((each) => sql`${each}`), ', ')})`; // prettier-ignore
}

/** The row `s` of a table is of the resource with a key. */
function ofResource(table: string, key: Sql, { look }: SearchRun): Sql {
  return sql`${raw(table)} s INDEXED BY ${raw(`sqlite_autoindex_${table}_1`)}
    WHERE s.resource = ${key} AND ${look(raw('s'), 'param')}`;
}

/** Returns the best value of the resource with a key. NULL: it has none. */
function bestOf(run: SearchRun, sortKey: SortKey, key: Sql): Sql {
  const { by, isDescending } = sortKey;
  const { dictionary, type } = run;
  const best = raw(isDescending ? 'max' : 'min');
  if (by === 'updated' || by === 'id') {
    return sql`(SELECT s.${raw(by)} FROM resource s NOT INDEXED WHERE s.key = ${key} AND ${run.look(raw('s'), 'key')})`;
  }
  const codes = valuedBy(sortKey);
  const params = codes.flatMap((code) => dictionary.findParam(type, code, 0) ?? []);
  const [table, column] = columnOf(sortKey) ?? [];
  if (table !== undefined) {
    return sql`(SELECT ${best}(s.${raw(column!)}) FROM ${ofResource(table, key, run)} AND ${isOfSome(params)})`;
  }
  const canonical = codes.flatMap((code) => dictionary.paramsBetween(type, `${code}{`, `${code}|`));
  const value = isDescending
    ? sql`CASE s.high WHEN 9e999 THEN s.value ELSE s.high END`
    : sql`CASE s.low WHEN -9e999 THEN s.value ELSE s.low END`;
  // Of an entry that has a canonical value only that one counts.
  const hasCanonical = sql`EXISTS (SELECT 1 FROM number c INDEXED BY sqlite_autoindex_number_1
    WHERE c.resource = s.resource AND ${isOfSome(canonical, 'c')} AND c.part_group = s.part_group AND c.n = s.n)`;
  return sql`(SELECT ${best}(${value}) FROM ${ofResource('number', key, run)}
      AND (${isOfSome(canonical)} OR ${isOfSome(params)} AND NOT ${hasCanonical}))`;
}

/** A column by which rows are in order: the value of one sort key. */
interface Column {
  readonly name: Sql;
  readonly best: Sql;
  readonly isDescending: boolean;
}

function columnsOf(run: SearchRun, sort: readonly SortKey[], key: Sql): readonly Column[] {
  return sort.map((sortKey, place) => {
    return { name: raw(`v${place}`), best: bestOf(run, sortKey, key), isDescending: sortKey.isDescending };
  });
}

/** Values of sort keys as columns of a statement. */
export interface SortColumns {
  /** Each begins with a comma. @param key column of a resource's key */
  select(key: Sql): Sql;
  /** What a row has in them. */
  read(columns: readonly unknown[]): readonly (SortValue | null)[];
}

/** The columns of some keys. */
export function sortColumns(run: SearchRun, sort: readonly SortKey[]): SortColumns {
  return {
    select: (key) =>
      join(
        columnsOf(run, sort, key).map(({ name, best }) => sql`, ${best} AS ${name}`),
        '',
      ),
    read: (columns) => columns.map((value) => (value === null ? null : [value as Value])),
  };
}

/**
 * Resources in the order of sort keys, those that are alike in that of their own keys; and, from the beginning on, how many there are.
 *
 * @param keys a statement of the keys of resources; one may come several times
 * @param after begins behind this place
 * @param wanted absent: all
 */
export function inOrderOf(
  run: SearchRun,
  sort: readonly SortKey[],
  keys: Sql,
  after: Hit | undefined,
  wanted = -1,
): { readonly hits: readonly Hit[]; readonly total: number } {
  const columns = columnsOf(run, sort, raw('k.key'));
  const { select, read } = sortColumns(run, sort);
  const order = columns.map(({ name, isDescending }) => sql`${name} ${raw(isDescending ? 'DESC' : 'ASC')} NULLS LAST`);
  // What a later page is behind is asked of each resource as it comes: no count wants all of them kept.
  const [kept, total] = after === undefined ? ['MATERIALIZED', '(SELECT count(*) FROM found)'] : ['', '0'];
  const statement = sql`WITH found AS ${raw(kept)} (
      SELECT k.key AS key ${select(raw('k.key'))} FROM (SELECT DISTINCT key FROM (${keys})) k LIMIT -1)
    SELECT ${raw(total)}, * FROM found
    WHERE ${after === undefined ? raw('1') : isBehind(columns, after)}
    ORDER BY ${join([...order, raw('key')], ', ')} LIMIT ${wanted}`;
  const rows = run.table<readonly [number, number, ...unknown[]]>(statement);
  return { total: rows[0]?.[0] ?? 0, hits: rows.map(([, key, ...columns]) => ({ key, values: read(columns) })) };
}

/** A row is alike in some columns, and beyond the place in the next one; or alike in all, with a greater key. */
function isBehind(columns: readonly Column[], { key, values }: Hit): Sql {
  const alike: Sql[] = [];
  const ways: Sql[] = [];
  for (const [place, { name, isDescending }] of columns.entries()) {
    const value = values[place]?.[0];
    if (value !== undefined) {
      const isBeyond = sql`(${name} ${raw(isDescending ? '<' : '>')} ${value} OR ${name} IS NULL)`;
      ways.push(and([...alike, isBeyond]));
    }
    alike.push(value === undefined ? sql`${name} IS NULL` : sql`${name} = ${value}`);
  }
  return or([...ways, and([...alike, sql`key > ${key}`])]);
}
