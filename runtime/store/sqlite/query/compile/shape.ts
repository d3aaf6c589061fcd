import { raw, sql, type Sql, type Value } from './sql.js';

/** The value at a place of a test: bound to the statement, or a column of a list that is. */
export type Values = (place: number) => Sql;

/** A table that conditions are about. */
export interface Table {
  readonly name: string;
  /** Column of the resource's key. */
  readonly key: 'resource' | 'key' | 'rowid';
  /** Column that the first value of each test is compared with: the parameter, or the type. */
  readonly param: 'param' | 'type';
  /** Makes a row be found by its resource, whatever the planner thinks. */
  readonly byKey: Sql;
}

/** A range of an index that holds all rows that fulfil a test, with those `beside` it. */
export interface Access {
  readonly index: Index;
  /** Columns of the index in whose order the rows of the range come; the last is the resource's key. */
  readonly order: readonly string[];
  /** The range itself, the parameter included. */
  readonly seek: (row: Sql, values: Values) => Sql;
  /** The same without where it begins; absent: it is what all its rows have alike. */
  readonly open?: (row: Sql, values: Values) => Sql;
  /** What is to be asked of a row of the range besides; absent: nothing. */
  readonly rest?: (row: Sql, values: Values) => Sql;
  /** Has the rows that the range lacks; absent: it lacks none. */
  readonly beside?: Access;
}

/**
 * A test without its values. Tests of one shape differ in values alone, so that one statement serves many of them. The
 * value at place 0 is the number of the parameter.
 */
export interface Shape {
  /** No two shapes have the same. */
  readonly name: string;
  readonly table: Table;
  /** Values, from place 1 on, that say where rows are found and nothing that they have to fulfil. */
  readonly finding: number;
  /** What a row has to fulfil that is of the parameter already; absent: nothing. */
  readonly predicate?: (row: Sql, values: Values) => Sql;
  /** Columns that have to equal the values after those of `finding`, and nothing else has to be; absent: it is not so simple. */
  readonly equal?: readonly string[];
  /** Bounds of the ends of intervals, by the values from place 1 on. */
  readonly bounds?: readonly Bound[];
  readonly accesses: readonly Access[];
}

/** Comparison of one end of an interval. */
export interface Bound {
  readonly column: 'low' | 'high' | 'updated';
  readonly sign: '<' | '<=' | '>' | '>=';
}

/** A test of one row. */
export interface RowTest {
  readonly shape: Shape;
  readonly values: readonly Value[];
}

function table(name: string): Table {
  return { name, key: 'resource', param: 'param', byKey: raw(`INDEXED BY sqlite_autoindex_${name}_1`) };
}

/** The tables of index entries, and the resources themselves. */
export const TABLES = {
  token: table('token'),
  string: table('string'),
  date: table('date'),
  number: table('number'),
  reference: table('reference'),
  uri: table('uri'),
  position: table('position'),
  region: table('region'),
  beginning: table('beginning'),
  words: { name: 'words', key: 'rowid', param: 'param', byKey: raw('') },
  resource: { name: 'resource', key: 'key', param: 'type', byKey: raw('NOT INDEXED') },
} as const satisfies Readonly<Record<string, Table>>;

interface IndexShape {
  readonly table: Table;
  /** Columns besides the parameter, as far as rows come in their order. */
  readonly columns: readonly string[];
  /** What all rows of a partial index fulfil, word for word: SQLite asks for it. Rows of composites that other parameters cover are in none. */
  readonly partial: readonly string[];
}

function index(name: keyof typeof TABLES, columns: readonly string[], ...partial: readonly string[]): IndexShape {
  return { table: TABLES[name], columns, partial };
}

/** Indexes by value; `words` is the full text, which is its own. */
export const INDEXES = {
  token_by_value: index('token', ['code', 'system', 'resource'], 'part_group >= 0'),
  string_by_value: index('string', ['folded', 'resource']),
  date_by_low: index('date', ['low', 'high', 'resource']),
  date_by_high: index('date', ['high', 'low', 'resource']),
  number_by_low: index('number', ['low', 'high', 'resource'], 'part_group >= 0'),
  number_by_high: index('number', ['high', 'low', 'resource'], 'part_group >= 0', 'high <> low'),
  reference_by_text: index('reference', ['target', 'resource']),
  reference_by_target: index('reference', ['target_id', 'resource'], "target_id <> ''"),
  reference_by_url: index('reference', ['url', 'resource'], "url <> ''"),
  reference_by_identifier: index('reference', ['identifier', 'resource'], "identifier <> ''"),
  uri_by_value: index('uri', ['value', 'resource']),
  position_by_cell: index('position', ['cell', 'x', 'y', 'z', 'resource']),
  region_by_cell: index('region', ['cell', 'south', 'north', 'resource']),
  beginning_by_text: index('beginning', ['text', 'resource']),
  words: index('words', ['rowid']),
  resource_by_id: index('resource', ['id', 'key'], 'deleted = 0'),
  resource_by_time: index('resource', ['updated', 'key'], 'deleted = 0'),
} as const;

/** Name of an index. */
export type Index = keyof typeof INDEXES;

/** Makes rows be found by an index. */
export function indexedBy(index: Index): Sql {
  return raw(index === 'words' ? '' : `INDEXED BY ${index}`);
}

/** A column of a row. */
export function column(row: Sql, name: string): Sql {
  return raw(`${row.text}.${name}`);
}

/** The row is of the parameter, and in an index: all of these. */
export function isIn(index: Index, row: Sql, param: Sql): readonly Sql[] {
  const { table, partial } = INDEXES[index];
  return [ofParam(table, row, param), ...partial.map((condition) => column(row, condition))];
}

/** The row is of the parameter. */
export function ofParam(table: Table, row: Sql, param: Sql): Sql {
  return sql`${column(row, table.param)} = ${param}`;
}
