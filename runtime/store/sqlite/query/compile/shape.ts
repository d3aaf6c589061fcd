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
  /** Which rows are in the indexes by value; absent: all. */
  readonly listed?: (row: Sql) => Sql;
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
  readonly finding?: number;
  /** What a row has to fulfil that is of the parameter already; absent: nothing. */
  readonly predicate?: (row: Sql, values: Values) => Sql;
  /** Columns that have to equal the values after those of `finding`, and nothing else has to be; absent: it is not so simple. */
  readonly equal?: readonly string[];
  /** Bounds of the ends of intervals, by the values from place 1 on. */
  readonly bounds?: readonly Bound[];
  readonly accesses: readonly Access[];
}

/** Name of an index; `words`: the full text, which is its own. */
export type Index = string;

/** Columns of the indexes behind those that every range has alike. */
const COLUMNS: Readonly<Record<Index, readonly string[]>> = {
  token_by_value: ['code', 'system', 'resource'],
  string_by_value: ['folded', 'resource'],
  date_by_low: ['low', 'high', 'resource'],
  date_by_high: ['high', 'low', 'resource'],
  number_by_low: ['low', 'high', 'resource'],
  number_by_high: ['high', 'low', 'resource'],
  reference_by_text: ['target', 'resource'],
  reference_by_target: ['resource'],
  reference_by_url: ['resource'],
  reference_by_identifier: ['resource'],
  uri_by_value: ['value', 'resource'],
  position_by_cell: ['cell', 'x', 'y', 'z', 'resource'],
  region_by_cell: ['cell', 'south', 'north', 'resource'],
  beginning_by_text: ['text', 'resource'],
  words: ['rowid'],
  resource_by_id: ['key'],
  resource_by_time: ['updated', 'key'],
};

/** The order of a range in which so many further columns are alike. */
export function orderIn(index: Index, alike = 0): readonly string[] {
  return COLUMNS[index]!.slice(alike);
}

/** Makes rows be found by an index. */
export function indexedBy(index: Index): Sql {
  return raw(index === TABLES.words.name ? '' : `INDEXED BY ${index}`);
}

/** What an end of an interval is compared with. */
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

/** Without those of composites that other parameters cover. The condition of the indexes, word for word: SQLite asks for it. */
function partlyListed(name: string): Table {
  return { ...table(name), listed: (row) => sql`${column(row, 'part_group')} >= 0` };
}

/** The tables of index entries, and the resources themselves. */
export const TABLES = {
  token: partlyListed('token'),
  string: table('string'),
  date: table('date'),
  number: partlyListed('number'),
  reference: table('reference'),
  uri: table('uri'),
  position: table('position'),
  region: table('region'),
  beginning: table('beginning'),
  words: { name: 'words', key: 'rowid', param: 'param', byKey: raw('') },
  resource: { name: 'resource', key: 'key', param: 'type', byKey: raw('NOT INDEXED') } satisfies Table,
} as const;

/** A column of a row. */
export function column(row: Sql, name: string): Sql {
  return raw(`${row.text}.${name}`);
}

/** The columns of a row equal the values from `first` on. */
export function equals(row: Sql, names: readonly string[], values: Values, first = 1): Sql[] {
  return names.map((name, i) => sql`${column(row, name)} = ${values(first + i)}`);
}

/** The row is of the parameter, and in the indexes by value. */
export function listedOf(table: Table, row: Sql, values: Values): Sql {
  const { listed } = table;
  return listed === undefined ? ofParam(table, row, values) : sql`${ofParam(table, row, values)} AND ${listed(row)}`;
}

/** The row is of the parameter. */
export function ofParam({ param }: Table, row: Sql, values: Values): Sql {
  return sql`${column(row, param)} = ${values(0)}`;
}
