import { and, sql, type Sql } from '../compile/sql.js';
import { column, equals, ofParam, orderIn, TABLES, type Access, type Shape, type Values } from '../compile/shape.js';

const table = TABLES.reference;

/**
 * References that equal the values in these columns, from place 1 on, and have one of so many types of target, whose
 * numbers follow (0: any). An id, a URL or an identifier finds them by an index.
 */
export function referenceShape(columns: readonly string[], types: number): Shape {
  const name = `reference ${columns.join()} ${types}`;
  let shape = shapes.get(name);
  if (shape === undefined) shapes.set(name, (shape = makeShape(name, columns, types)));
  return shape;
}

/** One search may have thousands of tests of few shapes. */
const shapes = new Map<string, Shape>();

function makeShape(name: string, columns: readonly string[], types: number): Shape {
  const typed = (row: Sql, values: Values): Sql[] => {
    if (types === 0) return [];
    const numbers = Array.from({ length: types }, (_, i) => values(1 + columns.length + i));
    const listed = numbers.slice(1).reduce((list, number) => sql`${list}, ${number}`, numbers[0]!);
    return [sql`${column(row, 'target_type')} IN (${listed})`];
  };
  const predicate = (row: Sql, values: Values): Sql => and([...equals(row, columns, values), ...typed(row, values)]);
  const found = INDEXES.find(({ by }) => columns.includes(by));
  const access: Access =
    found === undefined
      ? {
          index: 'reference_by_text',
          order: orderIn('reference_by_text'),
          seek: (row, values) => ofParam(table, row, values),
          rest: predicate,
        }
      : {
          index: found.index,
          order: orderIn(found.index),
          // The index is a partial one.
          seek: (row, values) =>
            sql`${column(row, found.by)} = ${values(1 + columns.indexOf(found.by))} AND ${column(row, found.by)} <> ''
              AND ${ofParam(table, row, values)}`,
          rest: predicate,
        };
  const shape = { name, table, predicate, accesses: [access] };
  return types > 1 ? shape : { ...shape, equal: types === 0 ? columns : [...columns, 'target_type'] };
}

/** The same, whose version begins with a text: the last value, after the types. */
export function versionPrefixShape(columns: readonly string[], types: number): Shape {
  const { name, predicate, accesses, table: of } = referenceShape(columns, types);
  const place = 1 + columns.length + types;
  const begins =
    (test: (row: Sql, values: Values) => Sql) =>
    (row: Sql, values: Values): Sql =>
      sql`${test(row, values)} AND substr(${column(row, 'target_version')}, 1, length(${values(place)})) = ${values(place)}`;
  return {
    name: `${name} of versions`,
    table: of,
    predicate: begins(predicate!),
    accesses: accesses.map((access) => ({ ...access, rest: begins(access.rest!) })),
  };
}

/** By the first of these that is asked for. */
const INDEXES = [
  { by: 'target_id', index: 'reference_by_target' },
  { by: 'url', index: 'reference_by_url' },
  { by: 'identifier', index: 'reference_by_identifier' },
];

/** Logical references: those with an identifier. */
export function identifierShape(columns: readonly string[]): Shape {
  if (columns.includes('identifier')) return referenceShape(columns, 0);
  const predicate = (row: Sql, values: Values): Sql =>
    sql`${and(equals(row, columns, values))} AND ${column(row, 'identifier')} <> ''`;
  return {
    name: `identifier ${columns.join()}`,
    table,
    predicate,
    accesses: [
      {
        index: 'reference_by_text',
        order: orderIn('reference_by_text'),
        seek: (row, values) => ofParam(table, row, values),
        rest: predicate,
      },
    ],
  };
}
