import type { SearchRow, SearchType } from '../../contract/search.js';
import { dateInterval } from '../../indexing/values/date-interval.js';
import { hasPrefix } from '../query/intervals.js';
import type { FilterOperator } from '../parse/link-step.js';
import type { CodeModifier } from '../parse/parse-codes.js';
import {
  anyCase,
  folded,
  tokenTest,
  plainParser,
  VALUE_PARSERS,
  ValueError,
  type ValueContext,
  type ValueParser,
  unescape,
} from '../parse/parse-value.js';
import type { ValueTest } from '../query/query.js';
import { UCUM } from '../../fhir/ucum/system.js';

/** Reads the value that an operator compares with: tests of which an entry has to fulfil some. @throws ValueError */
export type OperatorReader = (value: string, row: SearchRow, context: ValueContext) => readonly ValueTest[];

type Readers = Readonly<Partial<Record<FilterOperator, OperatorReader>>>;

/** Operators of which searches have prefixes of the same name and meaning. */
const PREFIXES = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'ap', 'sa', 'eb'] as const;

/** Whether an operator is one of these. */
export function isPrefix(operator: FilterOperator): boolean {
  return (PREFIXES as readonly string[]).includes(operator);
}

/**
 * Operators by the type of the parameter, each with what it does. A missing operator is refused. `pr`, which all types
 * have, and composites are elsewhere. https://hl7.org/fhir/R5/search_filter.html#ops
 */
export const OPERATORS: Readonly<Partial<Record<SearchType, Readers>>> = {
  string: {
    eq: equalString,
    ne: (value) => [within(value, (lt) => ({ lt })), within(value, (gt) => ({ gt }))],
    co: (value) => [{ is: 'string-contains', folded: folded(value) }],
    sw: (value) => [{ is: 'string-begins', folded: folded(value) }],
    ew: (value) => [{ is: 'string-ends', folded: folded(value) }],
    gt: (value) => [within(value, (gt) => ({ gt }))],
    lt: (value) => [within(value, (lt) => ({ lt }))],
    ge: (value) => [within(value, (gte) => ({ gte }))],
    le: (value) => [within(value, (lte) => ({ lte }))],
  },
  number: prefixed('number'),
  quantity: prefixed('quantity'),
  date: { ...prefixed('date'), co: containing, po: overlapping },
  token: {
    eq: equalToken,
    ne: (value) => [anyCase('token-other', tokenTest(withSystem(value)))],
  },
  reference: { re: referenceTests, eq: referenceTests },
  uri: { eq: (value) => [{ is: 'uri-equals', value }], re: (value) => [{ is: 'uri-equals', value }] },
};

/** Reads a part of a composite as `eq` reads its type. Numbers, quantities and dates may have prefixes, as in other searches. */
export function partParser(type: SearchType): ValueParser | undefined {
  if (type === 'string') return (text) => equalString(unescape(text));
  return type === 'token' ? equalToken : plainParser(type);
}

/**
 * Operators of tokens that ask for sets of codes, and the modifiers of the same meaning. `ss`: the value subsumes a code of the resource;
 * `sb`: it is subsumed by one. https://hl7.org/fhir/R5/search_filter.html#ops
 */
export const CODE_OPERATORS: Readonly<Partial<Record<FilterOperator, CodeModifier>>> = {
  in: 'in',
  ni: 'not-in',
  ss: 'below',
  sb: 'above',
};

/** Operators that the specification has for a type, and why they are refused here. */
export const LATER_OPERATORS: Readonly<Partial<Record<SearchType, Readonly<Partial<Record<FilterOperator, string>>>>>> =
  {
    number: { co: 'of numbers the value alone is kept, not how precise it was; compare with ge and lt' },
  };

/** Operators that a parameter of a type takes. */
export function operatorsOf(type: SearchType): readonly string[] {
  if (type === 'special') return ['pr'];
  const codes = type === 'token' ? Object.keys(CODE_OPERATORS) : [];
  return [...(type === 'composite' ? ['eq'] : Object.keys(OPERATORS[type] ?? {})), ...codes, 'pr'];
}

/** Names that may stand for systems. https://hl7.org/fhir/R5/search_filter.html#ops */
const SYSTEMS: Readonly<Record<string, string>> = {
  loinc: 'http://loinc.org',
  snomed: 'http://snomed.info/sct',
  rxnorm: 'http://www.nlm.nih.gov/research/umls/rxnorm',
  ucum: UCUM,
};

/** `loinc|1234-5`, `5.4|ucum|mg`: the name before the last bar as the system that it stands for. */
export function withSystem(value: string): string {
  return value.replace(
    /^((?:[^|]*\|)?)(loinc|snomed|rxnorm|ucum)\|/,
    (_all, number: string, name: string) => `${number}${SYSTEMS[name]}|`,
  );
}

function equalString(value: string): readonly ValueTest[] {
  return [within(value, (folded) => ({ gte: folded, lte: folded }))];
}

function equalToken(value: string): readonly ValueTest[] {
  return [anyCase('token-any-case', tokenTest(withSystem(value)))];
}

function within(
  value: string,
  bounds: (folded: string) => { gt?: string; gte?: string; lt?: string; lte?: string },
): ValueTest {
  return { is: 'string-range', ...bounds(folded(value)) };
}

/** As searches compare. */
function prefixed(type: 'number' | 'quantity' | 'date'): Readers {
  const reader =
    (prefix: string): OperatorReader =>
    (value, row, context) => {
      if (hasPrefix(value)) throw new ValueError('begins with a digit or a sign; the operator says how it is compared');
      return plain(type)(`${prefix}${withSystem(value)}`, row, context);
    };
  return Object.fromEntries(PREFIXES.map((prefix) => [prefix, reader(prefix)]));
}

/** The interval of an entry holds that of the value. */
function containing(value: string, _row: SearchRow, { zone }: ValueContext): readonly ValueTest[] {
  const { low, high } = readInterval(value, zone);
  return [{ is: 'date', low: { lte: low }, high: { gte: high } }];
}

/** Both intervals have something in common. */
function overlapping(value: string, _row: SearchRow, { zone }: ValueContext): readonly ValueTest[] {
  const { low, high } = readInterval(value, zone);
  return [{ is: 'date', low: { lte: high }, high: { gte: low } }];
}

function readInterval(value: string, zone: ValueContext['zone']) {
  const interval = dateInterval(value, zone);
  if (interval === undefined) throw new ValueError('is no date: YYYY, YYYY-MM, YYYY-MM-DD, or that with a time');
  return interval;
}

/** As searches read them, but that the case of the code does not count. */
function referenceTests(value: string, row: SearchRow, context: ValueContext): readonly ValueTest[] {
  return plain('reference')(value, row, context);
}

/** How searches read values of a type without a modifier. */
function plain(type: 'number' | 'quantity' | 'date' | 'reference'): ValueParser {
  return VALUE_PARSERS[type]![''] as ValueParser;
}
