import type {
  Interval,
  Ends,
  QuantityTest,
  ReferenceTest,
  SystemTest,
  TokenCaseTest,
  ValueTest,
} from '../../../../search/query/query.js';
import { separatorsOf, urisAbove } from '../../../../search/query/uri.js';
import { foldingsOf } from '../../../../search/values/fold.js';
import { identifierShape, referenceShape, versionPrefixShape } from '../links/reference-shape.js';
import type { Bound, RowTest, Shape } from './shape.js';
import * as shapes from './shapes.js';
import type { Sql, Value } from './sql.js';
import { sql } from './sql.js';
import { column, equals } from './shape.js';
import { afterPrefix } from './text-range.js';

/** What the dictionary knows of a parameter, or of a part of a composite. */
export interface Names {
  /** The number of the parameter; with a unit, that of its canonical values in it. Undefined: nothing has a value. */
  param(unit?: string): number | undefined;
  /** The number of a text; undefined: nothing has it. */
  term(text: string): number | undefined;
}

/** A test as tests of one row each, of which a row has to fulfil some; none: nothing can. */
export function toRowTests(test: ValueTest, names: Names): readonly RowTest[] {
  const param = names.param(test.is === 'quantity' ? test.canonical : undefined);
  if (param === undefined) return [];
  const one = (shape: Shape, ...values: readonly Value[]): readonly RowTest[] => [
    { shape, values: [param, ...values] },
  ];
  switch (test.is) {
    case 'token': {
      if (test.system === undefined) {
        if (test.code === undefined) return one(shapes.PRESENT.token);
        return test.code === '' ? [] : one(shapes.TOKEN_CODE, test.code);
      }
      const system = systemNumber(test.system, names);
      if (system === undefined || test.code === '') return [];
      return test.code === undefined ? one(shapes.TOKEN_SYSTEM, system) : one(shapes.TOKEN_BOTH, test.code, system);
    }
    case 'token-code-begins':
      // An absent code is stored as an empty text, and begins with nothing.
      if (test.lower === '') return one(shapes.tokenBegins(false), FIRST_TEXT, '');
      return spelled(shapes.tokenBegins, test.lower, one);
    case 'token-any-case':
    case 'token-other':
      return anyCaseTests(test, names, one);
    case 'of-type': {
      const system = test.system === undefined ? [] : [systemNumber(test.system, names)];
      if (!system.every((each) => each !== undefined) || test.value === '') return [];
      return one(shapes.ofType(system.length > 0), test.value, test.code, ...system);
    }
    case 'string-begins':
      return test.folded === ''
        ? one(shapes.PRESENT.string)
        : prefixed(test.folded, shapes.STRING_BEGINS, shapes.STRING_FROM, one);
    case 'string-contains':
      return test.folded === '' ? one(shapes.PRESENT.string) : one(shapes.STRING_CONTAINS, test.folded);
    case 'string-ends':
      return test.folded === '' ? one(shapes.PRESENT.string) : one(shapes.STRING_ENDS, test.folded);
    case 'string-range': {
      if (test.gte !== undefined && test.gte === test.lte) return one(shapes.STRING_FOLDED, test.gte);
      const signs = SIGN_NAMES.filter((name) => test[name] !== undefined);
      const texts = signs.map((name) => test[name] ?? '');
      return one(shapes.stringRange(signs.map((name) => BOUND_SIGNS[name])), ...texts);
    }
    case 'string-equals':
      return foldingsOf(test.text).flatMap((folded) => one(shapes.STRING_EQUALS, folded, test.text));
    case 'date':
    case 'number': {
      const { bounds, values } = boundsOf(test);
      return one(shapes.interval(test.is === 'date' ? shapes.DATE : shapes.NUMBER, bounds), ...values);
    }
    case 'quantity':
      return quantityTests(test, names, one);
    case 'reference':
      return referenceTests(test, names, one);
    case 'identifier':
      return identifierTests(test, names, one);
    case 'uri-equals':
      return one(shapes.URI_EQUALS, test.value);
    case 'uri-below': {
      const { value } = test;
      if (value.endsWith('/') || value === '') return prefixed(value, shapes.URI_BEGINS, shapes.URI_FROM, one);
      const below = [...separatorsOf(value)].flatMap((separator) =>
        prefixed(value + separator, shapes.URI_BEGINS, shapes.URI_FROM, one),
      );
      return [...one(shapes.URI_EQUALS, value), ...below];
    }
    case 'uri-above':
      return urisAbove(test.value).flatMap((value) => one(shapes.URI_EQUALS, value));
  }
}

/** A test of the parameter. */
export type One = (shape: Shape, ...values: readonly Value[]) => readonly RowTest[];

/** The tests of one of two shapes for a text that begins so: between two bounds, or where nothing follows from one on. */
export function prefixed(
  prefix: string,
  bounded: Shape,
  open: Shape,
  one: One,
  ...more: readonly Value[]
): readonly RowTest[] {
  const after = afterPrefix(prefix);
  return after === undefined ? one(open, prefix, ...more) : one(bounded, prefix, after, ...more);
}

/** Of codes that begin with a text in lower case, each spelling of its beginning by itself. */
function spelled(
  shape: (isBounded: boolean) => Shape,
  lower: string,
  one: One,
  ...more: readonly Value[]
): readonly RowTest[] {
  return spellings(lower).flatMap((begin) => prefixed(begin, shape(true), shape(false), one, lower, ...more));
}

function anyCaseTests({ is, system, lower }: TokenCaseTest, names: Names, one: One): readonly RowTest[] {
  const number = system === undefined ? undefined : systemNumber(system, names);
  const isNowhere = system !== undefined && number === undefined;
  const systems = number === undefined ? [] : [number];
  const hasSystem = systems.length > 0;
  if (is === 'token-other') {
    if (isNowhere) return one(shapes.PRESENT.token);
    const codes = lower === undefined ? [] : [lower];
    return one(shapes.tokenOther(hasSystem, codes.length > 0), ...systems, ...codes);
  }
  if (isNowhere) return [];
  if (lower === undefined) return one(shapes.TOKEN_SYSTEM, ...systems);
  return spelled((isBounded) => shapes.tokenAnyCase(isBounded, hasSystem), lower, one, ...systems);
}

/** The number of a system; 0 stands for none. */
function systemNumber(system: SystemTest, { term }: Names): number | undefined {
  return system === null ? 0 : term(system);
}

/** How often letters are spelt in both cases at the beginning of a code: each doubles what is looked for. */
const SPELT = 3;

/** Beginnings of codes that are this in lower case, or the beginning of it. */
function spellings(lower: string): readonly string[] {
  let begins = [''];
  let letters = 0;
  for (const point of lower) {
    const isLetter = point >= 'a' && point <= 'z';
    if (isLetter && ++letters > SPELT) break;
    begins = begins.flatMap((begin) => (isLetter ? [begin + point.toUpperCase(), begin + point] : [begin + point]));
  }
  return begins;
}

/** The least text that is not empty. */
const FIRST_TEXT = '\u0000';

const SIGN_NAMES = ['gt', 'gte', 'lt', 'lte'] as const;
const BOUND_SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function boundsOf({ low, high }: Ends): {
  readonly bounds: readonly Bound[];
  readonly values: readonly number[];
} {
  const listed = [...listBounds('low', low), ...listBounds('high', high)];
  return { bounds: listed.map(({ bound }) => bound), values: listed.map(({ value }) => value) };
}

function listBounds(name: Bound['column'], bounds: Interval = {}) {
  return (Object.keys(BOUND_SIGNS) as (keyof Interval)[]).flatMap((key) => {
    const value = bounds[key];
    return value === undefined ? [] : [{ bound: { column: name, sign: BOUND_SIGNS[key] }, value }];
  });
}

/** `meta.lastUpdated`, whose ends are alike. */
export function updatedTest({ low, high }: Ends, type: number): RowTest {
  const listed = [...listBounds('updated', low), ...listBounds('updated', high)];
  const shape = shapes.updatedShape(listed.map(({ bound }) => bound));
  return { shape, values: [type, ...listed.map(({ value }) => value)] };
}

function quantityTests(test: QuantityTest, { term }: Names, one: One): readonly RowTest[] {
  const { bounds, values } = boundsOf(test);
  const { system, unit, canonical } = test;
  if (canonical !== undefined || (system === undefined && unit === undefined)) {
    return one(shapes.interval(shapes.NUMBER, bounds), ...values);
  }
  const number = system === undefined ? undefined : term(system);
  if (unit === '' || (system !== undefined && number === undefined)) return [];
  if (number !== undefined) {
    const columns = unit === undefined ? ['system'] : ['system', 'code'];
    const also = { name: columns.join(), test: (row: Sql, v: (i: number) => Sql) => equals(row, columns, v, 0) };
    return one(shapes.interval(shapes.NUMBER, bounds, also), ...values, number, ...(unit === undefined ? [] : [unit]));
  }
  const also = {
    name: 'code or unit',
    test: (row: Sql, v: (i: number) => Sql) => [sql`${v(0)} IN (${column(row, 'code')}, ${column(row, 'unit')})`],
  };
  return one(shapes.interval(shapes.NUMBER, bounds, also), ...values, unit ?? '');
}

const BY_ID = ['target_id', 'base'];

function referenceTests(test: ReferenceTest, { term }: Names, one: One): readonly RowTest[] {
  const { types, id, base, version, versionPrefix, url, fragment } = test;
  const baseNumber = base === undefined ? 0 : term(base);
  if (id !== undefined && baseNumber === undefined) return [];
  // What is absent is stored as an empty text.
  if (id === '' || version === '' || url === '' || fragment === '') return [];
  const numbers = types?.map(term).filter((number) => number !== undefined) ?? [];
  if (types !== undefined && numbers.length === 0) return [];
  const isPlain = version === undefined && versionPrefix === undefined && url === undefined && fragment === undefined;
  // Most are of this kind, and a search may have thousands of them.
  if (isPlain && id !== undefined) return one(referenceShape(BY_ID, numbers.length), id, baseNumber!, ...numbers);
  const asked: [string, Value | undefined][] = [
    ['target_id', id],
    ['base', id === undefined ? undefined : baseNumber],
    ['url', url],
    ['target_version', version],
    ['fragment', fragment],
  ];
  const given = asked.filter((each): each is [string, Value] => each[1] !== undefined);
  const columns = given.map(([name]) => name);
  const values = [...given.map(([, value]) => value), ...numbers];
  if (versionPrefix !== undefined) return one(versionPrefixShape(columns, numbers.length), ...values, versionPrefix);
  return one(referenceShape(columns, numbers.length), ...values);
}

function identifierTests(
  { system, value }: { readonly system?: SystemTest; readonly value?: string },
  names: Names,
  one: One,
): readonly RowTest[] {
  const number = system === undefined ? undefined : systemNumber(system, names);
  if (value === '' || (system !== undefined && number === undefined)) return [];
  const columns = [
    ...(value === undefined ? [] : ['identifier']),
    ...(number === undefined ? [] : ['identifier_system']),
  ];
  const values = [value, number].filter((each) => each !== undefined);
  return one(identifierShape(columns), ...values);
}
