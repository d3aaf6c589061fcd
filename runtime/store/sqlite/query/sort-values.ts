import { valuedBy, type SortKey } from '../../../search/query/query.js';
import type { SortValue } from '../../../search/query/sort.js';
import type { Run } from './run.js';
import { join, raw, sql, type Sql } from './compile/sql.js';

/** Reads what sorts the resource with a key; undefined: it has no value. */
export type SortReader = (key: number) => SortValue | undefined;

interface ValueRow {
  readonly a: string | number;
  readonly b?: string;
}

/** Where the best value of a resource is simply one of a column. */
function columnOf({ by, isDescending }: SortKey): readonly [table: string, column: string] | undefined {
  switch (by) {
    case 'string':
      return ['string', 'folded'];
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

/** How resources are sorted by the values of one column. */
export interface SortedBy {
  readonly isDescending: boolean;
  /** What has the values, named `s`, joined with a key: `TABLE s … ON …`. */
  join(key: Sql): Sql;
  /** The best value of the rows of a resource. */
  readonly best: Sql;
}

/** The numbers of the parameters that have the values of a key; those of which nothing has a value are left out. */
function numbersOf(key: SortKey, dictionary: Run['dictionary'], type: number): readonly number[] {
  return valuedBy(key).flatMap((code) => dictionary.findParam(type, code, 0) ?? []);
}

/** The row `s` is of one of these parameters. */
function isOfSome(params: readonly number[]): Sql {
  return sql`s.param IN (${join(params.map((each) => sql`${each}`), ', ')})`; // prettier-ignore
}

/** The values of a key as one column; undefined: they are not so simple. */
export function valueOf({ dictionary, type, look }: Run, sortKey: SortKey): SortedBy | undefined {
  const { by, isDescending } = sortKey;
  const best = (column: string): Sql => raw(`${isDescending ? 'max' : 'min'}(s.${column})`);
  if (by === 'updated' || by === 'id') {
    const join = (key: Sql): Sql => sql`resource s NOT INDEXED ON s.key = ${key} AND ${look(raw('s'), 'key')}`;
    return { isDescending, join, best: best(by) };
  }
  const [table, column] = columnOf(sortKey) ?? [];
  if (table === undefined || column === undefined) return undefined;
  const isOf = isOfSome(numbersOf(sortKey, dictionary, type));
  const join = (key: Sql): Sql => sql`${raw(`${table} s INDEXED BY sqlite_autoindex_${table}_1`)}
    ON s.resource = ${key} AND ${isOf} AND ${look(raw('s'), 'param')}`;
  return { isDescending, join, best: best(column) };
}

/** Best value of a resource, ascending and descending: columns `a` and, of tokens, `b`. */
function bestOf(key: SortKey, look: string, plain: number, canonical: number): string {
  const { by, isDescending } = key;
  const order = isDescending ? 'DESC' : 'ASC';
  const marks = (count: number): string => Array.from({ length: count }, () => '?').join();
  const params = `param IN (${marks(plain)})`;
  const [table, column] = columnOf(key) ?? [];
  if (table !== undefined) {
    return `SELECT ${column} AS a FROM ${table} t INDEXED BY sqlite_autoindex_${table}_1
     WHERE resource = ? AND ${params} AND ${look} ORDER BY 1 ${order} LIMIT 1`;
  }
  switch (by) {
    case 'token':
      return `SELECT t.code AS a, coalesce(s.text, '') AS b
        FROM token t INDEXED BY sqlite_autoindex_token_1 LEFT JOIN term s ON s.id = t.system
        WHERE resource = ? AND ${params} AND ${look} ORDER BY 1 ${order}, 2 ${order} LIMIT 1`;
    case 'quantity': {
      const value = isDescending
        ? 'CASE high WHEN 9e999 THEN value ELSE high END'
        : 'CASE low WHEN -9e999 THEN value ELSE low END';
      const numbers = marks(canonical);
      // Of an entry that has a canonical value only that one counts.
      return `SELECT ${value} AS a FROM number t INDEXED BY sqlite_autoindex_number_1
        WHERE resource = ? AND (param IN (${numbers}) OR ${params} AND NOT EXISTS (
          SELECT 1 FROM number c INDEXED BY sqlite_autoindex_number_1
          WHERE c.resource = t.resource AND c.param IN (${numbers}) AND c.part_group = t.part_group AND c.n = t.n))
        AND ${look} ORDER BY 1 ${order} LIMIT 1`;
    }
    case 'id':
      return 'SELECT id AS a FROM resource WHERE key = ?';
    default:
      return 'SELECT updated AS a FROM resource WHERE key = ?';
  }
}

/** The readers of all keys of a search. */
export function sortReaders(run: Run): readonly SortReader[] {
  return run.sort.map((key) => openSortReader(run, key));
}

function openSortReader(run: Run, sortKey: SortKey): SortReader {
  const { by } = sortKey;
  const { dictionary, statements, interrupt, trace, type } = run;
  const isHead = by === 'updated' || by === 'id';
  const params = isHead ? [] : numbersOf(sortKey, dictionary, type);
  if (!isHead && params.length === 0) return () => undefined;
  const canonical =
    by === 'quantity'
      ? valuedBy(sortKey).flatMap((code) => dictionary.paramsBetween(type, `${code}{`, `${code}|`))
      : [];
  const look = trace === undefined ? '1' : interrupt.look('t.param');
  const statement = statements.prepare<ValueRow>(bestOf(sortKey, look, params.length, canonical.length));
  const values = [...canonical, ...params, ...canonical];
  return (key) => {
    if (isHead) trace?.read(1);
    const row = statement.get(key, ...values);
    if (row === undefined) return undefined;
    return row.b === undefined ? [row.a] : [row.a, row.b];
  };
}
