import { createRequire } from 'node:module';

import type { ComponentRow, SearchRow } from '../../../runtime/contract/index.js';
import { isPlace } from './search-oracle-places.js';
import {
  placeOf,
  spanOfDate,
  type TokenItem,
  type Item,
  type QuantityItem,
  type ReferenceItem,
} from './search-oracle-values.js';

/** What the rules are applied with. */
export interface OracleContext {
  readonly resourceTypes: ReadonlySet<string>;
  readonly baseUrl: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Splits at a separator that is not escaped; escapes stay. */
export function parts(text: string, separator: ',' | '|' | '$'): string[] {
  const found: string[] = [''];
  for (const [piece] of text.matchAll(/\\[^]|[^]/g)) {
    if (piece === separator) found.push('');
    else found[found.length - 1] += piece;
  }
  return found;
}

const plain = (text: string): string => text.replace(/\\([,|$\\])/g, '$1');

/** Whether one item fulfils one alternative of a value. https://hl7.org/fhir/R5/search.html */
export function fulfils(
  item: Item,
  modifier: string,
  text: string,
  row: Pick<SearchRow, 'targets'> | ComponentRow,
  context: OracleContext,
): boolean {
  switch (item.is) {
    case 'token':
      return isToken(item, modifier, text);
    case 'string':
      return isString(item.text, modifier, plain(text));
    case 'uri':
      return isUri(item.text, modifier, plain(text));
    case 'position':
    case 'region':
      return isPlace(item, text);
    case 'date':
      return isDate(item, plain(text), context.now);
    case 'number':
      return isNumber({ low: item.value, high: item.value }, plain(text));
    case 'quantity':
      return isQuantity(item, text);
    case 'reference':
      return modifier === 'identifier'
        ? item.identifier !== undefined && isToken({ is: 'token', ...item.identifier }, '', text)
        : isReference(
            item,
            text,
            modifier !== '' && modifier !== 'not' ? [modifier] : 'targets' in row ? row.targets : undefined,
            context,
          );
  }
}

function isToken({ system, code, types, isString }: TokenItem, modifier: string, text: string): boolean {
  const [first = '', second, third] = parts(text, '|').map(plain);
  if (modifier === 'code-text') return code !== undefined && lowerAscii(code).startsWith(lowerAscii(plain(text)));
  if (modifier === 'of-type') {
    return (
      code === third && (types ?? []).some((type) => type.code === second && (first === '' || type.system === first))
    );
  }
  const isCode = (asked: string): boolean =>
    isString === true && code !== undefined ? lowerAscii(code) === lowerAscii(asked) : code === asked;
  if (second === undefined) return isCode(first);
  if (first === '') return system === undefined && isCode(second);
  return system === first && (second === '' || isCode(second));
}

const lowerAscii = (text: string): string =>
  text.replace(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32));

/** Without case, accents, punctuation, and differences of white space. */
export function normal(text: string): string {
  return spaced(spaced(text).replace(/\p{P}/gu, ''));
}

/** The same with punctuation. */
export function spaced(text: string): string {
  const bare = text.toLowerCase().toUpperCase().normalize('NFKD').replace(/\p{M}/gu, '').toUpperCase().toLowerCase();
  return bare
    .replaceAll('ς', 'σ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

function isString(value: string, modifier: string, text: string): boolean {
  if (modifier === 'exact') return value === text && spaced(value) !== '';
  return modifier === 'contains' ? normal(value).includes(normal(text)) : normal(value).startsWith(normal(text));
}

function isUri(value: string, modifier: string, text: string): boolean {
  const isBelow = (low: string, high: string): boolean => {
    if (low === high) return true;
    const separators = /^urn:oid:/i.test(high) ? ['.'] : /^urn:/i.test(high) ? [':', '/'] : ['/'];
    return low.startsWith(high) && (high.endsWith('/') || separators.includes(low[high.length] ?? ''));
  };
  if (modifier === 'below') return isBelow(value, text);
  return modifier === 'above' ? isBelow(text, value) : value === text;
}

function prefixed(text: string): { prefix: string; rest: string } {
  const [, prefix, rest = ''] = /^(eq|ne|gt|lt|ge|le|sa|eb|ap)?(.*)$/s.exec(text) ?? [];
  return { prefix: prefix ?? 'eq', rest };
}

function isDate({ low, high }: { low: number; high: number }, text: string, now: number): boolean {
  const { prefix, rest } = prefixed(text);
  const span = spanOfDate(rest)!;
  const isContained = span.low <= low && high <= span.high;
  switch (prefix) {
    case 'ne':
      return !isContained;
    case 'gt':
      return high > span.high;
    case 'lt':
      return low < span.low;
    case 'ge':
      return high > span.high || isContained;
    case 'le':
      return low < span.low || isContained;
    case 'sa':
      return low > span.high;
    case 'eb':
      return high < span.low;
    case 'ap': {
      const slack = Math.floor(Math.abs(now - (span.low + span.high) / 2) / 10);
      return low <= span.high + slack && high >= span.low - slack;
    }
    default:
      return isContained;
  }
}

/** Rounded, so that units that were converted are equal where their decimals are. */
const round = (value: number): number => (Number.isFinite(value) ? Number(value.toPrecision(11)) : value);

function isNumber(
  item: { low: number; high: number; isWithout?: boolean },
  text: string,
  convert = (x: number) => x,
): boolean {
  const { prefix, rest } = prefixed(text);
  const [, mantissa = '', exponent = '0'] = /^([^eE]*)(?:[eE](.*))?$/.exec(rest) ?? [];
  const half = 0.5 * 10 ** (Number(exponent) - (mantissa.split('.')[1]?.length ?? 0));
  const value = Number(rest);
  const at = (x: number): number => round(convert(x));
  const [low, high] = [round(item.low), round(item.high)];
  // The value lies at an end that is no part of the interval.
  const isLow = item.isWithout === true && low === at(value);
  const isHigh = item.isWithout === true && high === at(value);
  const isEqual = low >= at(value - half) && high < at(value + half);
  switch (prefix) {
    case 'ne':
      return !isEqual;
    case 'gt':
      return high > at(value);
    case 'lt':
      return low < at(value);
    case 'ge':
      return high >= at(value) && !isHigh;
    case 'le':
      return low <= at(value) && !isLow;
    case 'sa':
      return low > at(value) || isLow;
    case 'eb':
      return high < at(value) || isHigh;
    case 'ap': {
      const slack = Math.max(half, Math.abs(value) / 10);
      const [from, to] = [at(value - slack), at(value + slack)];
      // An end that is no part of the interval touches nothing.
      if (item.isWithout === true) return low < to && high > from;
      return low <= to && high >= from;
    }
    default:
      return isEqual;
  }
}

const UCUM = 'http://unitsofmeasure.org';
const require = createRequire(createRequire(import.meta.url).resolve('fhirpath/package.json'));
interface Converter {
  getSpecifiedUnit(code: string, use: 'validate'): { readonly unit: { readonly moleExp_: number } | null };
  convertUnitTo(from: string, value: number, to: string): { readonly status: string; readonly toVal: number | null };
}
const { UcumLhcUtils } = require('@lhncbc/ucum-lhc') as { UcumLhcUtils: { getInstance(): Converter } };
const conversions = new Map<string, ((value: number) => number) | undefined>();

/**
 * How values of a unit are told in another; undefined: they are not comparable. By the library, on two points of a line. An
 * amount of substance is no count here, though UCUM has the mole as a number: cells are not counted in moles.
 */
export function conversion(from: string, to: string): ((value: number) => number) | undefined {
  const key = `${from} ${to}`;
  if (!conversions.has(key)) {
    const at = (value: number) => UcumLhcUtils.getInstance().convertUnitTo(from, value, to);
    const moles = (code: string) => UcumLhcUtils.getInstance().getSpecifiedUnit(code, 'validate').unit?.moleExp_;
    const [zero, one] = [at(0), at(1)];
    const isKnown =
      moles(from) === moles(to) &&
      zero.status === 'succeeded' &&
      one.status === 'succeeded' &&
      zero.toVal !== null &&
      one.toVal !== null;
    conversions.set(key, isKnown ? (value) => zero.toVal! + value * (one.toVal! - zero.toVal!) : undefined);
  }
  return conversions.get(key);
}

function isQuantity(item: QuantityItem, text: string): boolean {
  const [number = '', system = '', unit = ''] = parts(text, '|').map(plain);
  if (system === UCUM && unit !== '') {
    if (item.system !== UCUM || item.code === undefined) return false;
    if (item.code === unit) return isNumber(item, number);
    const convert = conversion(unit, item.code);
    return convert !== undefined && isNumber(item, number, convert);
  }
  if (system !== '' && item.system !== system) return false;
  if (unit !== '' && item.code !== unit && (system !== '' || item.unit !== unit)) return false;
  return isNumber(item, number);
}

function isReference(
  item: ReferenceItem,
  text: string,
  targets: readonly string[] | undefined,
  context: OracleContext,
): boolean {
  const [named = '', canonicalVersion] = parts(text, '|').map(plain);
  const isHere = item.base === undefined || item.base === context.baseUrl;
  if (canonicalVersion === undefined && /^[A-Za-z0-9.-]{1,64}$/.test(named)) {
    return item.id === named && isHere && (targets === undefined || targets.includes(item.type ?? ''));
  }
  const place = canonicalVersion === undefined ? placeOf(named, context.resourceTypes) : undefined;
  const [url, ofUrl] = named.split('#', 2);
  const [wantedVersion, ofVersion] = (canonicalVersion ?? '').split('#', 2);
  const fragment = ofVersion ?? ofUrl;
  const isNamed =
    item.url !== undefined && item.url === url && (!wantedVersion || item.version === wantedVersion) && (!fragment || item.fragment === fragment); // prettier-ignore
  if (place === undefined) return isNamed;
  const isWhere = place.base === undefined || place.base === context.baseUrl ? isHere : item.base === place.base;
  const isPlace = item.type === place.type && item.id === place.id && isWhere && (place.version === undefined || item.version === place.version); // prettier-ignore
  return isPlace || (place.base !== undefined && place.base !== context.baseUrl && isNamed);
}
