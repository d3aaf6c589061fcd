import { append } from '../../../../fhir/lists.js';
import {
  INDEXES,
  isIn,
  TABLES,
  type Access,
  type Bound,
  type Index,
  type RowTest,
  type Shape,
  type Values,
} from './shape.js';
import { and, join, raw, sql, type Sql, type Value } from './sql.js';

/** A comparison of a column with a value. */
export type Comparison = readonly [column: string, sign: '=' | Bound['sign'], value: Value];

/** Any other test of a row: SQL around values, in which the row is `$`. */
export interface OtherTest {
  readonly texts: readonly string[];
  readonly values: readonly Value[];
}

/** A template of SQL in which the row is `$`: of a list all values are bound. */
export function other(strings: TemplateStringsArray, ...parts: readonly (Value | readonly Value[])[]): OtherTest {
  const lists = parts.map((part) => (typeof part === 'object' ? part : [part]));
  const texts = lists.flatMap((list, i) => [...list.slice(1).map(() => ', '), strings[i + 1]!]);
  return { texts: [strings[0]!, ...texts], values: lists.flat() };
}

/** Comparison with a bound of an interval. */
export type BoundComparison = readonly [column: Bound['column'], sign: Bound['sign'], value: number];

/** All that a test asks of a row. */
export interface Terms {
  /** Says where rows are in the index; a row that is known need not be asked for it. */
  readonly found?: readonly Comparison[];
  /** Is a range of the index. */
  readonly range?: readonly Comparison[];
  /** Is asked of each row of the range. */
  readonly rest?: readonly (Comparison | OtherTest)[];
}

/** Shapes by their names: one search may have thousands of tests of few shapes. */
const shapes = new Map<string, Shape>();

/** The test of a row that an index finds. */
export function rowTest(index: Index, param: number, { found = [], range = [], rest = [] }: Terms): RowTest {
  return shaped(`${index} ${found.length} ${range.length}`, param, [...found, ...range, ...rest], (terms) => {
    const asked = terms.slice(found.length);
    const equal = asked.flatMap(({ column, sign }) => (sign === '=' ? column! : []));
    return {
      table: INDEXES[index].table,
      finding: found.length,
      ...(asked.length > 0 && { predicate: allOf(asked) }),
      ...(asked.length > 0 && asked.length === equal.length && { equal }),
      accesses: [
        accessOf(index, terms.slice(0, found.length + range.length), terms.slice(found.length + range.length)),
      ],
    };
  });
}

/**
 * The test of a row that has an interval, found by either end.
 *
 * @param also what is asked besides the interval: of a quantity its unit
 */
export function intervalTest(
  name: 'date' | 'number' | 'resource',
  param: number,
  bounds: readonly BoundComparison[],
  also: Terms['rest'] = [],
): RowTest {
  return shaped(`${name} ${bounds.length}`, param, [...bounds, ...also], (terms) => {
    const limits = terms.slice(0, bounds.length) as readonly (Placed & Bound)[];
    const range = (end: Bound['column'], at = end): readonly Placed[] =>
      limits
        .filter((limit) => limit.column === end || isImplied(limit, end))
        .map((limit) => ({ ...limit, column: at }));
    // The range itself is all that is asked.
    const isWhole = (end: Bound['column']): boolean =>
      also.length === 0 && limits.every((limit) => limit.column === end);
    const access = (end: Bound['column']): Access => {
      const rest = isWhole(end) ? [] : terms;
      if (name === 'resource') return accessOf('resource_by_time', range(end), rest);
      if (name === 'date' || end === 'low') return accessOf(`${name}_by_${end as 'low' | 'high'}`, range(end), rest);
      // The high end of a point is its low end, and an index of high ends has only the others.
      const ofPoints = limits.every(({ sign }) => sign.startsWith('>')) ? rest : terms;
      return {
        ...accessOf('number_by_low', range('high', 'low'), ofPoints),
        beside: accessOf('number_by_high', range('high'), rest),
      };
    };
    const all = name === 'resource' ? (['updated'] as const) : (['low', 'high'] as const);
    const ends = all.filter((end) => range(end).length > 0);
    return {
      table: TABLES[name],
      finding: 0,
      bounds: limits,
      predicate: allOf(terms),
      accesses: (ends.length === 0 ? [all[0]] : ends).map(access),
    };
  });
}

/** The low end is never above the high one: a bound from above of the high end is one of the low end too. */
function isImplied({ sign }: Bound, end: Bound['column']): boolean {
  return end === 'updated' ? false : sign.startsWith(end === 'low' ? '<' : '>');
}

/** A term whose values begin at a place of the test. */
interface Placed {
  /** Of a comparison. */
  readonly column?: string;
  readonly sign?: Comparison[1];
  readonly at: number;
  /** Of any other. */
  readonly texts?: readonly string[];
}

function shaped(
  kind: string,
  param: number,
  terms: readonly (Comparison | OtherTest)[],
  make: (placed: readonly Placed[]) => Omit<Shape, 'name'>,
): RowTest {
  const values: Value[] = [param];
  let name = kind;
  const placed = terms.map((term): Placed => {
    const at = values.length;
    if ('texts' in term) {
      name += ` ${term.texts.join('?')}`;
      append(values, term.values);
      return { at, texts: term.texts };
    }
    const [column, sign, value] = term;
    name += ` ${column}${sign}`;
    values.push(value);
    return { at, column, sign };
  });
  let shape = shapes.get(name);
  if (shape === undefined) shapes.set(name, (shape = { name, ...make(placed) }));
  return { shape, values };
}

function print({ column: name, sign, at, texts }: Placed, row: Sql, values: Values): Sql {
  if (texts !== undefined) {
    const pieces = texts.map((text) => raw(text.replaceAll('$', row.text)));
    return join(
      pieces.flatMap((piece, i) => (i === 0 ? [piece] : [values(at + i - 1), piece])),
      '',
    );
  }
  return sql`${raw(`${row.text}.${name} ${sign}`)} ${values(at)}`;
}

function allOf(terms: readonly Placed[]): NonNullable<Shape['predicate']> {
  return (row, values) => and(terms.map((term) => print(term, row, values)));
}

function accessOf(index: Index, range: readonly Placed[], rest: readonly Placed[]): Access {
  const seek =
    (within: readonly Placed[]): Access['seek'] =>
    (row, values) =>
      and([...isIn(index, row, values(0)), ...within.map((term) => print(term, row, values))]);
  const isBound = range.some(({ sign }) => sign !== '=');
  return {
    index,
    order: INDEXES[index].columns.slice(range.filter(({ sign }) => sign === '=').length),
    seek: seek(range),
    ...(isBound && { open: seek(range.filter(({ sign }) => !sign?.startsWith('>'))) }),
    ...(rest.length > 0 && { rest: allOf(rest) }),
  };
}
