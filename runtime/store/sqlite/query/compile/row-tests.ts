import type {
  Ends,
  QuantityTest,
  ReferenceTest,
  SystemTest,
  TokenCaseTest,
  ValueTest,
} from '../../../../search/query/query.js';
import { separatorsOf, urisAbove } from '../../../../search/query/uri.js';
import { foldingsOf } from '../../../../indexing/values/fold.js';
import type { Index, RowTest } from './shape.js';
import type { Value } from './sql.js';
import {
  intervalTest,
  other,
  rowTest,
  type BoundComparison,
  type Comparison,
  type OtherTest,
  type Terms,
} from './terms.js';

/** Numbers of the dictionary that tests of a parameter, or of a part of a composite, need. */
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
  const one = (index: Index, terms: Terms): readonly RowTest[] => [rowTest(index, param, terms)];
  const string = (terms: Terms): readonly RowTest[] => one('string_by_value', terms);
  const uri = (...range: readonly Comparison[]): readonly RowTest[] => one('uri_by_value', { range });
  switch (test.is) {
    case 'token': {
      const { code } = test;
      const system = test.system === undefined ? undefined : systemNumber(test.system, names);
      if (code === '' || (test.system !== undefined && system === undefined)) return [];
      const ofSystem = equal('system', system);
      return one(
        'token_by_value',
        code === undefined ? { rest: ofSystem } : { range: [...equal('code', code), ...ofSystem] },
      );
    }
    case 'token-code-begins':
      // An absent code is stored as an empty text, and begins with nothing.
      if (test.lower === '') return one('token_by_value', { range: [['code', '>', '']] });
      return spelled(test.lower).flatMap((found) =>
        one('token_by_value', { found, rest: [other`instr(lower($.code), ${test.lower}) = 1`] }),
      );
    case 'token-any-case':
    case 'token-other':
      return anyCaseTests(test, names, one);
    case 'of-type': {
      const system = test.system === undefined ? undefined : systemNumber(test.system, names);
      if (test.value === '' || (test.system !== undefined && system === undefined)) return [];
      return one('token_by_value', { range: equal('code', test.value), rest: [isOfType(test.code, system)] });
    }
    case 'string-begins':
      return string({ range: beginsWith('folded', test.folded) });
    case 'string-contains':
      return string({ rest: test.folded === '' ? [] : [other`instr($.folded, ${test.folded}) > 0`] });
    case 'string-ends':
      return string({ rest: test.folded === '' ? [] : [endsWith(test.folded)] });
    case 'string-range':
      return string({
        range: test.gte !== undefined && test.gte === test.lte ? equal('folded', test.gte) : bounds('folded', test),
      });
    case 'string-equals':
      // Few texts that differ are folded to the same.
      return foldingsOf(test.text).flatMap((folded) =>
        string({ found: equal('folded', folded), rest: equal('text', test.text) }),
      );
    case 'date':
    case 'number':
      return [intervalTest(test.is, param, boundsOf(test))];
    case 'quantity':
      return quantityTests(test, names, param);
    case 'reference':
      return referenceTests(test, names, param);
    case 'identifier': {
      const system = test.system === undefined ? undefined : systemNumber(test.system, names);
      if (test.value === '' || (test.system !== undefined && system === undefined)) return [];
      const asked = [...equal('identifier', test.value), ...equal('identifier_system', system)];
      return [referenceTest(param, asked, test.value === undefined ? [other`$.identifier <> ''`] : [])];
    }
    case 'uri-equals':
      return uri(['value', '=', test.value]);
    case 'uri-below': {
      const { value } = test;
      if (value.endsWith('/') || value === '') return uri(...beginsWith('value', value));
      const below = [...separatorsOf(value)].flatMap((separator) => uri(...beginsWith('value', value + separator)));
      return [...uri(['value', '=', value]), ...below];
    }
    case 'uri-above':
      return urisAbove(test.value).flatMap((value) => uri(['value', '=', value]));
  }
}

/** A column equals a value, where there is one. */
function equal(name: string, value: Value | undefined): readonly Comparison[] {
  return value === undefined ? [] : [[name, '=', value]];
}

/** A column begins with a text: it lies between two bounds, or where nothing follows from one on. */
export function beginsWith(name: string, prefix: string): readonly Comparison[] {
  if (prefix === '') return [];
  const after = afterPrefix(prefix);
  return [[name, '>=', prefix], ...(after === undefined ? [] : [[name, '<', after] as const])];
}

/**
 * The least text, by code points, that is greater than all that begin with this; undefined where there is none. Texts in
 * between are exactly those that begin so.
 */
function afterPrefix(prefix: string): string | undefined {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? 0;
    // Surrogates are no characters.
    if (point < 0x10ffff) return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
  }
  return undefined;
}

/** Stands for any system: none has a negative number. */
const ANY = -1;

/** An identifier is of a type. */
function isOfType(code: string, system = ANY): OtherTest {
  return other`EXISTS (SELECT 1 FROM token_of_type typed WHERE typed.resource = $.resource AND typed.param = $.param
    AND typed.part_group = $.part_group AND typed.n = $.n AND typed.code = ${code} AND ${system} IN (-1, typed.system))`;
}

/** A folded text ends with another. Of texts with a null character SQLite counts what is before it, of blobs all. */
function endsWith(end: string): OtherTest {
  return other`substr(CAST($.folded AS BLOB), -length(CAST(${end} AS BLOB))) = CAST(${end} AS BLOB)`;
}

function anyCaseTests(
  { is, system, lower }: TokenCaseTest,
  names: Names,
  one: (index: Index, terms: Terms) => readonly RowTest[],
): readonly RowTest[] {
  const number = system === undefined ? undefined : systemNumber(system, names);
  const isNowhere = system !== undefined && number === undefined;
  const ofSystem = equal('system', number);
  if (is === 'token-other') {
    if (system === undefined && lower === undefined) return [];
    return one('token_by_value', { rest: isNowhere ? [] : [isOther(number, lower)] });
  }
  if (isNowhere) return [];
  if (lower === undefined) return one('token_by_value', { rest: ofSystem });
  return spelled(lower).flatMap((found) =>
    one('token_by_value', { found, rest: [other`lower($.code) = ${lower}`, ...ofSystem] }),
  );
}

/** Not that system and that code, whatever the case of the code: whichever of both is given. */
function isOther(system: number | undefined, lower: string | undefined): OtherTest {
  if (system === undefined) return other`lower($.code) <> ${lower ?? ''}`;
  if (lower === undefined) return other`$.system <> ${system}`;
  return other`NOT ($.system = ${system} AND lower($.code) = ${lower})`;
}

/** The number of a system; 0 stands for none. */
function systemNumber(system: SystemTest, { term }: Names): number | undefined {
  return system === null ? 0 : term(system);
}

/** How often letters are spelt in both cases at the beginning of a code: each doubles what is looked for. */
const SPELT = 3;

/** Where codes are that begin with a text in lower case: each spelling of its beginning by itself. */
function spelled(lower: string): readonly (readonly Comparison[])[] {
  let begins = [''];
  let letters = 0;
  for (const point of lower) {
    const isLetter = point >= 'a' && point <= 'z';
    if (isLetter && ++letters > SPELT) break;
    begins = begins.flatMap((begin) => (isLetter ? [begin + point.toUpperCase(), begin + point] : [begin + point]));
  }
  return begins.map((begin) => beginsWith('code', begin));
}

const SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** A column lies within bounds. */
function bounds<C extends string, V extends Value>(
  name: C,
  given: Readonly<Partial<Record<keyof typeof SIGNS, V>>> = {},
): readonly (readonly [C, BoundComparison[1], V])[] {
  return (Object.keys(SIGNS) as (keyof typeof SIGNS)[]).flatMap((key) => {
    const value = given[key];
    return value === undefined ? [] : [[name, SIGNS[key], value] as const];
  });
}

function boundsOf({ low, high }: Ends): readonly BoundComparison[] {
  return [...bounds('low', low), ...bounds('high', high)];
}

/** `meta.lastUpdated`, whose ends are alike. */
export function updatedTest({ low, high }: Ends, type: number): RowTest {
  return intervalTest('resource', type, [...bounds('updated', low), ...bounds('updated', high)]);
}

function quantityTests(test: QuantityTest, { term }: Names, param: number): readonly RowTest[] {
  const { system, unit, canonical } = test;
  const within = (also: Terms['rest']): readonly RowTest[] => [intervalTest('number', param, boundsOf(test), also)];
  if (canonical !== undefined || (system === undefined && unit === undefined)) return within([]);
  const number = system === undefined ? undefined : term(system);
  if (unit === '' || (system !== undefined && number === undefined)) return [];
  return within(
    number === undefined
      ? [other`${unit ?? ''} IN ($.code, $.unit)`]
      : [...equal('system', number), ...equal('code', unit)],
  );
}

function referenceTests(test: ReferenceTest, { term }: Names, param: number): readonly RowTest[] {
  const { types, id, base, version, versionPrefix, url, fragment } = test;
  const baseNumber = base === undefined ? 0 : term(base);
  if (id !== undefined && baseNumber === undefined) return [];
  // What is absent is stored as an empty text.
  if (id === '' || version === '' || url === '' || fragment === '') return [];
  const numbers = types?.map(term).filter((number) => number !== undefined) ?? [];
  if (types !== undefined && numbers.length === 0) return [];
  const ofType = numbers.length > 1 ? [other`$.target_type IN (${numbers})`] : equal('target_type', numbers[0]);
  // Most are of this kind, and a search may have thousands of them.
  const byId = id === undefined ? [] : [...equal('target_id', id), ...equal('base', baseNumber)];
  const asked = [...byId, ...equal('url', url), ...equal('target_version', version), ...equal('fragment', fragment)];
  const begins =
    versionPrefix === undefined
      ? []
      : [other`substr($.target_version, 1, length(${versionPrefix})) = ${versionPrefix}`];
  return [referenceTest(param, asked, [...ofType, ...begins])];
}

/** The first of these that is asked for finds references. */
const INDEXED = new Map<string, Index>([
  ['target_id', 'reference_by_target'],
  ['url', 'reference_by_url'],
  ['identifier', 'reference_by_identifier'],
]);

function referenceTest(param: number, asked: readonly Comparison[], more: NonNullable<Terms['rest']>): RowTest {
  const [first, ...others] = asked;
  const index = first === undefined ? undefined : INDEXED.get(first[0]);
  if (index === undefined) return rowTest('reference_by_text', param, { rest: [...asked, ...more] });
  return rowTest(index, param, { range: [first!], rest: [...others, ...more] });
}
