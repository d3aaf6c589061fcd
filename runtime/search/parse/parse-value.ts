import type { ComponentRow, SearchRow, SearchType } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import { isId } from '../../fhir/id.js';
import type { OwnBases } from '../../path/own-bases.js';
import { readReference } from '../../path/reference-text.js';
import { dateInterval } from '../../indexing/values/date-interval.js';
import { foldString } from '../../indexing/values/fold.js';
import { canonicalUnit, toCanonical } from '../../fhir/ucum/canonical.js';
import { toFinite } from '../../indexing/values/next-double.js';
import { UCUM } from '../../fhir/ucum/system.js';
import type { Zone } from '../../indexing/values/zone.js';
import { asciiLower } from '../query/ascii-lower.js';
import {
  aroundValue,
  dateEnds,
  mapEnds,
  numberEnds,
  PREFIXES,
  readPrecise,
  splitPrefix,
  type Precise,
} from '../query/intervals.js';
import type { PlainType } from '../../indexing/parameter-kinds.js';
import type { SystemTest, TokenTest, ValueTest } from '../query/query.js';
import { invalidParameter } from '../../fhir/catalog/invalid-parameter.js';
import { quote } from '../../fhir/quote.js';

/** Context in which values are read. */
export interface ValueContext {
  readonly isResourceType: (name: string) => boolean;
  /** Where dates without an offset are read. */
  readonly zone: Zone;
  /** Milliseconds since the epoch, for `ap` of dates. */
  readonly now: number;
  /** By which references lead to resources here. */
  readonly own: OwnBases;
}

/** Reads one value. @throws FhirError `parameter-invalid`, `prefix-unknown` for what cannot be one */
export function readValue<T>(name: string, text: string, read: () => T): T {
  if (text === '') throw invalidParameter(name, 'has an empty value between its commas');
  try {
    return read();
  } catch (error) {
    if (error instanceof PrefixError) {
      throw new FhirError('prefix-unknown', `The parameter ${quote(name)} ${error.message}; it has ${quote(text)}`);
    }
    if (error instanceof ValueError) throw invalidParameter(name, `${error.message}; it has ${quote(text)}`);
    throw error;
  }
}

/**
 * Splits a value at a separator that no backslash takes the meaning from. Escapes stay, so that the parts can be split
 * further; `unescape` ends that. https://hl7.org/fhir/R5/search.html#escaping
 */
export function splitAt(text: string, separator: ',' | '|' | '$'): string[] {
  if (!text.includes(separator)) return [text];
  const parts: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (c === '\\') i++;
    else if (c === separator) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** Resolves `\,`, `\|`, `\$` and `\\`; a backslash before anything else stands for itself. */
export function unescape(text: string): string {
  return text.includes('\\') ? text.replace(/\\([,|$\\])/g, '$1') : text;
}

/** Escapes a text so that it is one part of a value: what `unescape` undoes. */
export function escapeValue(text: string): string {
  return text.replace(/[\\,|$]/g, String.raw`\$&`);
}

/** A value that cannot be one; says what would be. */
export class ValueError extends Error {}

/** A value that begins with what looks like a prefix, and is none. */
export class PrefixError extends ValueError {
  constructor(prefix: string) {
    super(`takes the prefixes ${PREFIXES.join(', ')}, not ${JSON.stringify(prefix)}`);
  }
}

/** @throws PrefixError where two letters are before what could be a value */
function checkPrefix(text: string): void {
  const [, prefix] = /^([A-Za-z]{2})[0-9+.-]/.exec(text) ?? [];
  if (prefix !== undefined) throw new PrefixError(prefix);
}

/** The parameter, or the part of a composite, that a value is for. */
export type ValueRow = Pick<SearchRow, 'type' | 'targets' | 'paths'> | ComponentRow;

/** Reads one alternative of a value, escapes still in it: tests of which an entry has to fulfil some. */
export type ValueParser = (text: string, row: ValueRow, context: ValueContext) => readonly ValueTest[];

/** Parsers by modifier. */
type Parsers = Readonly<Record<string, ValueParser>>;

/**
 * How values are read, by search type and modifier (`''`: none; `[type]`: the name of a resource type). A modifier that
 * is missing here does not exist for the type, or is refused by name (`LATER`).
 */
export const VALUE_PARSERS: Readonly<Record<PlainType, Parsers>> & Readonly<Partial<Record<SearchType, Parsers>>> = {
  token: {
    '': (text, row) => [inAnyCase(tokenTest(text), row)],
    not: (text, row) => [inAnyCase(tokenTest(text), row)],
    'code-text': (text) => [{ is: 'token-code-begins', lower: asciiLower(unescape(text)) }],
    'of-type': (text) => [ofTypeTest(text)],
  },
  string: {
    '': (text) => [{ is: 'string-begins', folded: folded(unescape(text)) }],
    exact: (text) => [{ is: 'string-equals', text: unescape(text) }],
    contains: (text) => [{ is: 'string-contains', folded: folded(unescape(text)) }],
  },
  uri: {
    '': (text) => [{ is: 'uri-equals', value: unescape(text) }],
    not: (text) => [{ is: 'uri-equals', value: unescape(text) }],
    below: (text) => [{ is: 'uri-below', value: unescape(text) }],
    above: (text) => [{ is: 'uri-above', value: unescape(text) }],
  },
  date: { '': dateTests },
  number: { '': numberTests },
  quantity: { '': quantityTests },
  reference: {
    '': referenceTests,
    '[type]': typedReferenceTests,
    not: referenceTests,
    identifier: (text) => [identifierTest(text)],
  },
};

/** How values of a type are read without a modifier; undefined: it has no such values. */
export function plainParser(type: SearchType): ValueParser | undefined {
  return VALUE_PARSERS[type]?.[''];
}

/** A text as strings are compared, without escapes. @throws ValueError where nothing of it is */
export function folded(text: string): string {
  const plain = foldString(text);
  if (plain === '') throw new ValueError('has nothing to compare: letters or digits are needed');
  return plain;
}

/** `code`, `system|code`, `|code`, `system|`. https://hl7.org/fhir/R5/search.html#token */
export function tokenTest(text: string): TokenTest {
  const parts = splitAt(text, '|').map(unescape);
  const [first = '', second] = parts;
  if (parts.length > 2) throw new ValueError('is a code, or system|code; a | within them is written \\|');
  if (second === undefined) return { is: 'token', code: first };
  if (first === '' && second === '') throw new ValueError('has neither a system nor a code');
  if (first === '') return { is: 'token', system: null, code: second };
  return second === '' ? { is: 'token', system: first } : { is: 'token', system: first, code: second };
}

/** Types whose values are mere strings: `version`, `lot-number`, and the value of a ContactPoint. */
const TEXTS: ReadonlySet<string> = new Set(['string', 'ContactPoint']);

/**
 * A mere string is compared without case; codes and identifiers keep theirs: "if the underlying datatype is string then the
 * search is not case sensitive". https://hl7.org/fhir/R5/search.html#token
 */
function inAnyCase(test: TokenTest, { paths }: ValueRow): ValueTest {
  const types = paths.flatMap((path) => path.types);
  if (!test.code || types.length === 0 || types.some((type) => !TEXTS.has(type))) return test;
  return anyCase('token-any-case', test);
}

/** The test without the case of its code. */
export function anyCase(is: 'token-any-case' | 'token-other', test: TokenTest): ValueTest {
  const { system, code }: { system?: SystemTest; code?: string } = test;
  // An index has them in the order of ids, which it has not where the case may differ.
  if (is === 'token-any-case' && (code === undefined || !/[A-Za-z]/.test(code))) return test;
  return { is, ...(system !== undefined && { system }), ...(code !== undefined && { lower: asciiLower(code) }) };
}

function ofTypeTest(text: string): ValueTest {
  const parts = splitAt(text, '|').map(unescape);
  const [system = '', code = '', value = ''] = parts;
  if (parts.length !== 3 || code === '' || value === '') {
    throw new ValueError('is system|code|value: a coding of the type, and the value of the identifier');
  }
  return { is: 'of-type', ...(system !== '' && { system }), code, value };
}

function identifierTest(text: string): ValueTest {
  const test = tokenTest(text);
  const { system, code: value }: { system?: SystemTest; code?: string } = test;
  return { is: 'identifier', ...(system !== undefined && { system }), ...(value !== undefined && { value }) };
}

function dateTests(text: string, _row: ValueRow, { zone, now }: ValueContext): readonly ValueTest[] {
  const { prefix, rest } = splitPrefix(unescape(text));
  // A plus that was not escaped in the URL arrives as a space.
  const interval = dateInterval(rest.replace(/ (\d\d:\d\d)$/, '+$1'), zone);
  if (interval === undefined) {
    checkPrefix(rest);
    throw new ValueError('is no date: YYYY, YYYY-MM, YYYY-MM-DD, or that with Thh:mm[:ss[.fff]] and Z or +hh:mm');
  }
  return dateEnds(prefix, interval, now).map((ends) => ({ is: 'date' as const, ...ends }));
}

function numberTests(text: string): readonly ValueTest[] {
  const { prefix, rest } = splitPrefix(unescape(text));
  return numberEnds(prefix, precise(rest)).map((ends) => ({ is: 'number' as const, ...ends }));
}

function precise(text: string): Precise {
  const read = readPrecise(text);
  if (read === undefined) {
    checkPrefix(text);
    throw new ValueError('is no number');
  }
  return read;
}

/** `number`, `number|system|code`, `number||code`. https://hl7.org/fhir/R5/search.html#quantity */
function quantityTests(text: string): readonly ValueTest[] {
  const parts = splitAt(text, '|').map(unescape);
  const [first = '', system = '', unit = ''] = parts;
  if (parts.length === 2 || parts.length > 3) throw new ValueError('is a number, number|system|code or number||unit');
  const { prefix, rest } = splitPrefix(first);
  const number = precise(rest);
  const inUnit = (): readonly ValueTest[] => {
    const units = { ...(system !== '' && { system }), ...(unit !== '' && { unit }) };
    return numberEnds(prefix, number).map((ends) => ({ is: 'quantity' as const, ...units, ...ends }));
  };
  const canonical = system === UCUM && unit !== '' ? canonicalUnit(unit) : undefined;
  if (canonical !== undefined) {
    const convert = (value: number): number => toFinite(toCanonical(value, canonical));
    const converted = { value: convert(number.value), low: convert(number.low), high: convert(number.high) };
    // A tenth of a temperature depends on its scale, so it is converted when all is reckoned.
    const ends =
      prefix === 'ap'
        ? numberEnds(prefix, number).map((each) => mapEnds(each, convert))
        : numberEnds(prefix, aroundValue(converted));
    const tests = ends.map((each) => ({ is: 'quantity' as const, canonical: canonical.unit, ...each }));
    // Beyond the doubles canonical values are all alike; values in the same unit are not.
    const isBeyond = Math.abs(converted.value) === Number.MAX_VALUE || (converted.value === 0 && number.value !== 0);
    return isBeyond ? [...tests, ...inUnit()] : tests;
  }
  return inUnit();
}

/**
 * `id`, `Type/id`, with `/_history/version` behind, a URL, `canonical|version#fragment`.
 * https://hl7.org/fhir/R5/search.html#reference
 */
function referenceTests(text: string, row: ValueRow, { isResourceType, own }: ValueContext): readonly ValueTest[] {
  const targets = 'targets' in row ? row.targets : undefined;
  const [named = '', canonicalVersion, ...more] = splitAt(text, '|').map(unescape);
  if (more.length > 0) throw new ValueError('is a reference, or canonical|version');
  if (canonicalVersion === undefined && isId(named)) {
    return [{ is: 'reference', id: named, ...(targets !== undefined && { types: targets }) }];
  }
  const read = canonicalVersion === undefined ? own.read(named) : undefined;
  if (read === undefined || !isResourceType(read.type)) return [canonicalTest(named, canonicalVersion)];
  const { type, ...place } = read;
  const test = { is: 'reference', types: [type], ...place } as const;
  // A canonical may have the form of an address.
  return place.base === undefined ? [test] : [test, canonicalTest(named, undefined)];
}

/** Whether a parameter holds canonicals alone, whose versions `:below` compares. */
export function isCanonical({ type, paths }: Pick<SearchRow, 'type' | 'paths'>): boolean {
  const types = paths.flatMap((path) => path.types);
  return type === 'reference' && types.length > 0 && types.every((each) => each === 'canonical' || each === 'uri');
}

/**
 * `:below` on a canonical: `url|1` is found as `url|1`, `url|1.2` and so on; a URL without version is found with all.
 * https://hl7.org/fhir/R5/search.html#versions
 */
export function canonicalBelow(text: string): readonly ValueTest[] {
  const [url = '', version = '', ...more] = splitAt(text, '|').map(unescape);
  if (url === '' || more.length > 0) throw new ValueError('is a canonical URL, perhaps with |version');
  const test = { is: 'reference', url } as const;
  return version === ''
    ? [test]
    : [
        { ...test, version },
        { ...test, versionPrefix: `${version}.` },
      ];
}

/** The same with the type as modifier, which the value may repeat. `row.targets` has that type alone. */
function typedReferenceTests(text: string, row: ValueRow, context: ValueContext): readonly ValueTest[] {
  const [type] = ('targets' in row ? row.targets : undefined) ?? [];
  const named = readReference(unescape(text))?.type;
  if (named !== undefined && named !== type && context.isResourceType(named)) {
    throw new ValueError(`is of type ${type} by its modifier, and of type ${named} by its value`);
  }
  return referenceTests(text, row, context);
}

/** A fragment is at the end: behind the version where there is one. */
function canonicalTest(text: string, versioned: string | undefined): ValueTest {
  const [url = '', ofUrl] = text.split('#', 2);
  const [version, ofVersion] = versioned?.split('#', 2) ?? [];
  const fragment = ofVersion ?? ofUrl;
  if (url === '') throw new ValueError('is an id, Type/id, a URL, or canonical|version');
  return {
    is: 'reference',
    url,
    ...(version !== undefined && version !== '' && { version }),
    ...(fragment !== undefined && fragment !== '' && { fragment }),
  };
}
