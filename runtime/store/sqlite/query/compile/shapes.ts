import { and, sql, type Sql } from './sql.js';
import {
  column,
  equals,
  listedOf,
  orderIn,
  TABLES,
  type Access,
  type Bound,
  type Shape,
  type Table,
  type Values,
} from './shape.js';

/** Columns that equal the values, in an index of parameter, these and the resource. */
function equality(table: Table, columns: readonly string[], index: string): Shape {
  return {
    name: `${table.name} ${columns.join()}`,
    table,
    predicate: (row, values) => and(equals(row, columns, values)),
    equal: columns,
    accesses: [
      {
        index,
        order: orderIn(index, columns.length),
        seek: (row, values) => and([listedOf(table, row, values), ...equals(row, columns, values)]),
      },
    ],
  };
}

/** Some row of the parameter is there, found by an index that begins with it. */
function presence(table: Table, index: string): Shape {
  return {
    name: `${table.name} present`,
    table,
    accesses: [{ index, order: orderIn(index), seek: (row, values) => listedOf(table, row, values) }],
  };
}

/** A text from value 1 on, and below value 2 where it has one. */
function textRange(table: Table, name: string, index: string, isBounded: boolean): Shape {
  const below = (row: Sql, values: Values): Sql => sql`${column(row, name)} < ${values(2)}`;
  const range = (row: Sql, values: Values): Sql => {
    const from = sql`${column(row, name)} >= ${values(1)}`;
    return isBounded ? sql`${from} AND ${below(row, values)}` : from;
  };
  return {
    name: `${table.name} ${name} range ${isBounded}`,
    table,
    predicate: range,
    accesses: [
      {
        index,
        order: orderIn(index),
        seek: (row, values) => sql`${listedOf(table, row, values)} AND ${range(row, values)}`,
        open: (row, values) => and([listedOf(table, row, values), ...(isBounded ? [below(row, values)] : [])]),
      },
    ],
  };
}

/** By an index of nothing but the parameter, all else asked of each row. */
function wholeParam(table: Table, index: string, rest: NonNullable<Access['rest']>): Access {
  return { index, order: orderIn(index), seek: (row, values) => listedOf(table, row, values), rest };
}

const { token, string, date, number, reference, uri, position, region, words, beginning, resource } = TABLES;

/** Shapes that need no more than a name. */
export const PRESENT = {
  token: presence(token, 'token_by_value'),
  string: presence(string, 'string_by_value'),
  date: presence(date, 'date_by_low'),
  number: presence(number, 'number_by_low'),
  quantity: presence(number, 'number_by_low'),
  reference: presence(reference, 'reference_by_text'),
  uri: presence(uri, 'uri_by_value'),
  position: presence(position, 'position_by_cell'),
  region: presence(region, 'region_by_cell'),
} as const;

/** A code, with whatever system. */
export const TOKEN_CODE = equality(token, ['code'], 'token_by_value');

/** A code and its system, or that it has none (0). */
export const TOKEN_BOTH = equality(token, ['code', 'system'], 'token_by_value');

/** Any code of a system. */
export const TOKEN_SYSTEM: Shape = (() => {
  const predicate = (row: Sql, values: Values): Sql => and(equals(row, ['system'], values));
  const access = wholeParam(token, 'token_by_value', predicate);
  return { name: 'token system', table: token, predicate, equal: ['system'], accesses: [access] };
})();

/**
 * A code that begins with the last value when A to Z are in lower case: it is found from value 1 on and, where that is
 * bounded, below value 2.
 */
export function tokenBegins(isBounded: boolean): Shape {
  const range = textRange(token, 'code', 'token_by_value', isBounded);
  const begins = (row: Sql, values: Values): Sql =>
    sql`instr(lower(${column(row, 'code')}), ${values(isBounded ? 3 : 2)}) = 1`;
  return {
    name: `token begins ${isBounded}`,
    table: token,
    predicate: (row, values) => and([range.predicate!(row, values), begins(row, values)]),
    accesses: range.accesses.map((access) => ({ ...access, rest: begins })),
  };
}

/** A code that is value 2 or 3 when A to Z are in lower case, found as by `tokenBegins`; and a system, the last value. */
export function tokenAnyCase(isBounded: boolean, hasSystem: boolean): Shape {
  const range = textRange(token, 'code', 'token_by_value', isBounded);
  const at = isBounded ? 3 : 2;
  const rest = (row: Sql, values: Values): Sql =>
    and([
      sql`lower(${column(row, 'code')}) = ${values(at)}`,
      ...(hasSystem ? equals(row, ['system'], values, at + 1) : []),
    ]);
  return {
    name: `token any case ${isBounded} ${hasSystem}`,
    table: token,
    predicate: (row, values) => and([range.predicate!(row, values), rest(row, values)]),
    accesses: range.accesses.map((access) => ({ ...access, rest })),
  };
}

/** Not that system and that code, whatever the case of the code: whichever of both is given. */
export function tokenOther(hasSystem: boolean, hasCode: boolean): Shape {
  const rest = (row: Sql, values: Values): Sql => {
    const system = hasSystem ? equals(row, ['system'], values) : [];
    const code = hasCode ? [sql`lower(${column(row, 'code')}) = ${values(hasSystem ? 2 : 1)}`] : [];
    return sql`NOT (${and([...system, ...code])})`;
  };
  const access = wholeParam(token, 'token_by_value', rest);
  return { name: `token other ${hasSystem} ${hasCode}`, table: token, predicate: rest, accesses: [access] };
}

/** A value, of an identifier whose type is a code (value 2) and, where it is given, a system (value 3). */
export function ofType(hasSystem: boolean): Shape {
  const typed = (row: Sql, values: Values): Sql =>
    sql`EXISTS (SELECT 1 FROM token_of_type typed WHERE typed.resource = ${column(row, 'resource')}
      AND typed.param = ${column(row, 'param')} AND typed.part_group = ${column(row, 'part_group')}
      AND typed.n = ${column(row, 'n')}
      AND typed.code = ${values(2)}${hasSystem ? sql` AND typed.system = ${values(3)}` : sql``})`;
  return {
    name: `of type ${hasSystem}`,
    table: token,
    predicate: (row, values) => and([...equals(row, ['code'], values), typed(row, values)]),
    accesses: TOKEN_CODE.accesses.map((access) => ({ ...access, rest: typed })),
  };
}

/** What begins with value 1: all up to value 2. */
export const STRING_BEGINS = textRange(string, 'folded', 'string_by_value', true);
/** The same where nothing follows what begins so. */
export const STRING_FROM = textRange(string, 'folded', 'string_by_value', false);

/** Value 1 is a part of the folded text. */
export const STRING_CONTAINS: Shape = (() => {
  const contains = (row: Sql, values: Values): Sql => sql`instr(${column(row, 'folded')}, ${values(1)}) > 0`;
  const access = wholeParam(string, 'string_by_value', contains);
  return { name: 'string contains', table: string, predicate: contains, accesses: [access] };
})();

/** The folded text ends with value 1. Of texts with a null character SQLite counts what is before it, of blobs all. */
export const STRING_ENDS: Shape = (() => {
  const ends = (row: Sql, values: Values): Sql => {
    const end = sql`CAST(${values(1)} AS BLOB)`;
    return sql`substr(CAST(${column(row, 'folded')} AS BLOB), -length(${end})) = ${end}`;
  };
  const access = wholeParam(string, 'string_by_value', ends);
  return { name: 'string ends', table: string, predicate: ends, accesses: [access] };
})();

/** The folded text is value 1. */
export const STRING_FOLDED = equality(string, ['folded'], 'string_by_value');

/** The folded text lies within bounds, which are the values. */
export function stringRange(signs: readonly Bound['sign'][]): Shape {
  const bounds = (row: Sql, values: Values): readonly (readonly [Bound['sign'], Sql])[] =>
    signs.map((sign, i) => [sign, sql`${column(row, 'folded')} ${SIGNS[sign]} ${values(i + 1)}`]);
  const within = (row: Sql, values: Values): Sql => and(bounds(row, values).map(([, bound]) => bound));
  return {
    name: `string range ${signs.join()}`,
    table: string,
    predicate: within,
    accesses: [
      {
        index: 'string_by_value',
        order: orderIn('string_by_value'),
        seek: (row, values) => and([listedOf(string, row, values), within(row, values)]),
        open: (row, values) =>
          and([
            listedOf(string, row, values),
            ...bounds(row, values).flatMap(([sign, bound]) => (isUpper(sign) ? [bound] : [])),
          ]),
      },
    ],
  };
}

/** The very text, value 2: found by what it is folded to, value 1, for few texts that differ are folded to the same. */
export const STRING_EQUALS: Shape = (() => {
  const predicate = (row: Sql, values: Values): Sql => and(equals(row, ['text'], values, 2));
  const accesses = STRING_FOLDED.accesses.map((access) => ({ ...access, rest: predicate }));
  return { name: 'string text', table: string, finding: 1, predicate, equal: ['text'], accesses };
})();

/** The very URI. */
export const URI_EQUALS = equality(uri, ['value'], 'uri_by_value');
/** What begins with value 1: all up to value 2. */
export const URI_BEGINS = textRange(uri, 'value', 'uri_by_value', true);
/** The same where nothing follows what begins so. */
export const URI_FROM = textRange(uri, 'value', 'uri_by_value', false);

/** Words, as the full text of SQLite is asked for them: value 1. */
export const WORDS: Shape = {
  name: 'words',
  table: words,
  accesses: [
    {
      index: words.name,
      order: orderIn('words'),
      seek: (row, values) => sql`${column(row, 'words')} MATCH ${values(1)}`,
    },
  ],
};

/** A value of words that begins with value 1: all up to value 2. */
export const WORDS_BEGIN = textRange(beginning, 'text', 'beginning_by_text', true);
/** The same where nothing follows what begins so. */
export const WORDS_FROM = textRange(beginning, 'text', 'beginning_by_text', false);

/** The id of a resource that is there. */
export const RESOURCE_ID: Shape = {
  name: 'id',
  table: resource,
  predicate: (row, values) => and(equals(row, ['id'], values)),
  equal: ['id'],
  accesses: [
    {
      index: 'resource_by_id',
      order: orderIn('resource_by_id'),
      seek: (row, values) => and([listedOf(resource, row, values), ...equals(row, ['id'], values)]),
      rest: (row) => sql`${column(row, 'deleted')} = 0`,
    },
  ],
};

/** Two tables have intervals. */
export function interval(table: Table, bounds: readonly Bound[], also: Also = NOTHING_ELSE): Shape {
  const within = (row: Sql, values: Values, end?: 'low' | 'high', at = end, isAsked = isAny): Sql[] =>
    bounds.flatMap(({ column: name, sign }, i) => {
      if (!isAsked(sign)) return [];
      // The low end is never above the high one: a bound from above of the high end is one of the low end too.
      const isImplied = end === 'low' ? sign.startsWith('<') : sign.startsWith('>');
      if (end !== undefined && name !== end && !isImplied) return [];
      return [sql`${column(row, at ?? name)} ${SIGNS[sign]} ${values(i + 1)}`];
    });
  const asked = (row: Sql, values: Values): Sql =>
    and([...within(row, values), ...also.test(row, (i) => values(i + 1 + bounds.length))]);
  const seek =
    (end: 'low' | 'high', at: 'low' | 'high' = end) =>
    (row: Sql, values: Values): Sql =>
      and([listedOf(table, row, values), ...within(row, values, end, at)]);
  const open =
    (end: 'low' | 'high', at: 'low' | 'high' = end) =>
    (row: Sql, values: Values): Sql =>
      and([listedOf(table, row, values), ...within(row, values, end, at, isUpper)]);
  // The range itself is all that is asked.
  const isWhole = (end: 'low' | 'high'): boolean =>
    bounds.length === 1 && bounds[0]!.column === end && also === NOTHING_ELSE;
  const asIs = (end: 'low' | 'high'): Access => ({
    index: `${table.name}_by_${end}`,
    order: orderIn(`${table.name}_by_${end}`),
    seek: seek(end),
    open: open(end),
    ...(!isWhole(end) && { rest: asked }),
  });
  // The high end of a point is its low end, and an index of high ends has only the others.
  const byHighEnd = (): Access => ({
    index: 'number_by_low',
    order: orderIn('number_by_low'),
    seek: seek('high', 'low'),
    open: open('high', 'low'),
    ...(!(isWhole('high') && bounds[0]!.sign.startsWith('>')) && { rest: asked }),
    beside: {
      index: 'number_by_high',
      order: orderIn('number_by_high'),
      seek: (row, values) => and([sql`${column(row, 'high')} <> ${column(row, 'low')}`, seek('high')(row, values)]),
      open: (row, values) => and([sql`${column(row, 'high')} <> ${column(row, 'low')}`, open('high')(row, values)]),
      ...(!isWhole('high') && { rest: asked }),
    },
  });
  const ends = (['low', 'high'] as const).filter((end) => bounds.some((bound) => isUsable(bound, end)));
  return {
    name: `${table.name} ${bounds.map(({ column: name, sign }) => name + sign).join()} ${also.name}`,
    table,
    bounds,
    predicate: asked,
    accesses: (ends.length === 0 ? ['low' as const] : ends).map((end) =>
      table === number && end === 'high' ? byHighEnd() : asIs(end),
    ),
  };
}

/** What is asked besides the interval: of a quantity its unit. */
export interface Also {
  readonly name: string;
  readonly test: (row: Sql, values: Values) => readonly Sql[];
}

/** Only the interval is asked for. */
export const NOTHING_ELSE: Also = { name: '', test: () => [] };

const SIGNS = { '<': sql`<`, '<=': sql`<=`, '>': sql`>`, '>=': sql`>=` } as const;

/** Whether a range ends there. */
function isUpper(sign: Bound['sign']): boolean {
  return sign.startsWith('<');
}

const isAny = (_sign: Bound['sign']): boolean => true;

function isUsable({ column: name, sign }: Bound, end: 'low' | 'high'): boolean {
  return name === end || (end === 'low' ? sign.startsWith('<') : sign.startsWith('>'));
}

/** `meta.lastUpdated` of a resource that is there. */
export function updatedShape(bounds: readonly Bound[]): Shape {
  const within = (row: Sql, values: Values, isAsked = isAny): Sql =>
    and(
      bounds.flatMap(({ column: name, sign }, i) =>
        isAsked(sign) ? [sql`${column(row, name)} ${SIGNS[sign]} ${values(i + 1)}`] : [],
      ),
    );
  return {
    name: `updated ${bounds.map(({ sign }) => sign).join()}`,
    table: resource,
    bounds,
    predicate: (row, values) => within(row, values),
    accesses: [
      {
        index: 'resource_by_time',
        order: orderIn('resource_by_time'),
        // The index is a partial one.
        seek: (row, values) =>
          and([listedOf(resource, row, values), sql`${column(row, 'deleted')} = 0`, within(row, values)]),
        open: (row, values) =>
          and([listedOf(resource, row, values), sql`${column(row, 'deleted')} = 0`, within(row, values, isUpper)]),
      },
    ],
  };
}

export { date as DATE, number as NUMBER };
