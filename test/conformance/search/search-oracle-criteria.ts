import type { SearchRow, SearchType } from '../../../runtime/contract/index.js';
import type { Random } from '../../contract/random.js';
import { placeText, randomPlaceText } from './search-oracle-places.js';
import { normal } from './search-oracle-rules.js';
import type { Item, QuantityItem, ReferenceItem } from './search-oracle-values.js';

/** A criterion without the parameter's name. */
export interface Criterion {
  /** Empty: none. */
  readonly modifier: string;
  readonly text: string;
}

/** Text as a part of a value. */
export const escaped = (text: string): string => text.replace(/[\\,|$]/g, '\\$&');

const only = (text: string | undefined, modifier = ''): Criterion | undefined =>
  text === undefined ? undefined : { modifier, text };

/** A criterion that finds an item by what it is; undefined: nothing does. */
export function criterionFor(item: Item): Criterion | undefined {
  switch (item.is) {
    case 'token':
      return only(tokenText(item));
    case 'string':
      return only(normal(item.text) === '' ? undefined : escaped(item.text));
    case 'date':
      return only(dateText(item));
    case 'number':
      return only(String(item.value));
    case 'quantity':
      return only(quantityText(item));
    case 'position':
    case 'region':
      return only(placeText(item));
    case 'uri':
      return only(escaped(item.text));
    case 'reference':
      if (item.type === undefined || item.id === undefined) {
        if (item.url === undefined) return item.identifier && only(tokenText({ ...item.identifier }), 'identifier');
        // A reference that lacks its type: in a search that is an id.
        if (/^[A-Za-z0-9.-]{1,64}$/.test(item.url)) return undefined;
      }
      return only(referenceText(item));
  }
}

function tokenText({ system, code }: { readonly system?: string; readonly code?: string }): string {
  return code === undefined ? `${escaped(system ?? '')}|` : `${escaped(system ?? '')}|${escaped(code)}`;
}

/** An instant as searches write it. */
export const iso = (time: number): string => new Date(time).toISOString();

function dateText({ low, high }: { readonly low: number; readonly high: number }): string {
  if (low === -Infinity) return `gt${iso(high - 1)}`;
  if (high === Infinity) return `lt${iso(low + 1)}`;
  const [from, to] = [iso(low), iso(high)];
  for (const length of [10, 7, 4]) if (from.slice(0, length) === to.slice(0, length)) return from.slice(0, length);
  return `lt${iso(low + 1)}`;
}

function quantityText(item: QuantityItem): string {
  const { low, high, system, code, unit, isWithout } = item;
  const units =
    code === undefined ? '' : `|${escaped(system ?? '')}|${escaped(system === undefined ? (unit ?? code) : code)}`;
  if (low === high) return `${low}${units}`;
  if (low === -Infinity) return `${isWithout ? 'lt' : 'le'}${high}${units}`;
  return `${isWithout ? 'gt' : 'ge'}${low}${units}`;
}

function referenceText({ type, id, base, version, url, fragment }: ReferenceItem): string {
  if (type !== undefined && id !== undefined) {
    return `${base === undefined ? '' : `${escaped(base)}/`}${type}/${id}${version === undefined ? '' : `/_history/${version}`}`;
  }
  return `${escaped(url ?? '')}${version === undefined ? '' : `|${escaped(version)}`}${fragment === undefined ? '' : `#${escaped(fragment)}`}`;
}

/** Values that no resource has. */
export const IMPOSSIBLE: Readonly<Record<Exclude<SearchType, 'composite'>, string>> = {
  token: 'urn:impossible|impossible',
  string: 'qqq impossible qqq',
  date: '1066-10-14',
  number: '987654321.5',
  quantity: '987654321.5',
  reference: 'impossible-1066',
  uri: 'urn:impossible:1066',
  special: '-48.8767|-123.3933',
};

const PREFIXES = ['', '', '', 'eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'];

/** A random criterion about a value like this one, or near it; undefined: the drawn one makes no sense. */
export function randomCriterion(random: Random, item: Item): Criterion | undefined {
  const { pick, chance, below } = random;
  switch (item.is) {
    case 'token': {
      const { system, code, types } = item;
      if (code === undefined) return only(tokenText(item), pick(['', 'not']));
      const type = types === undefined ? undefined : pick(types);
      if (type !== undefined && chance(0.4)) {
        return only(
          `${chance(0.8) ? escaped(type.system ?? '') : ''}|${escaped(type.code ?? '')}|${escaped(code)}`,
          'of-type',
        );
      }
      if (chance(0.2)) {
        const begin = code.slice(0, 1 + below(code.length));
        return only(escaped(chance(0.5) ? begin.toUpperCase() : begin), 'code-text');
      }
      const otherCase = code === code.toUpperCase() ? code.toLowerCase() : code.toUpperCase();
      const forms = [
        escaped(code),
        escaped(code),
        escaped(otherCase),
        tokenText(item),
        `|${escaped(code)}`,
        ...(system === undefined ? [] : [`${escaped(system)}|`]),
      ];
      return only(pick(forms), chance(0.25) ? 'not' : '');
    }
    case 'string': {
      const { text } = item;
      const from = chance(0.4) ? below(text.length) : 0;
      const piece = text.slice(from, from + 1 + below(Math.min(12, text.length - from)));
      const cased = chance(0.3)
        ? piece.toUpperCase()
        : pick([
            piece,
            piece,
            piece.normalize('NFD'),
            piece.normalize('NFD').replace(/\p{M}/gu, ''),
            piece.replace(/[aeiou]/g, '$&\u0301'),
          ]);
      const modifier = pick(['', '', 'contains', 'exact']);
      if (modifier === 'exact') return only(escaped(chance(0.7) ? text : cased), modifier);
      return normal(cased) === '' || /\p{Surrogate}/u.test(cased) ? undefined : only(escaped(cased), modifier);
    }
    case 'position':
    case 'region':
      return only(randomPlaceText(random, item));
    case 'uri': {
      const { text } = item;
      const ends = [...text.matchAll(/[/:.]/g)].map(({ index }) => index);
      const cut = ends.length === 0 ? text : text.slice(0, pick(ends) + below(2));
      const form = pick(['', 'not', 'below', 'above'] as const);
      const asked =
        form === 'below'
          ? pick([text, cut])
          : form === 'above'
            ? pick([text, `${text}/x`, `${text}.7`, `${text}x`])
            : pick([text, text, cut]);
      return asked === '' ? undefined : only(escaped(asked), form);
    }
    case 'date': {
      const end = pick([item.low, item.high].filter((time) => Number.isFinite(time)));
      const time = end + pick([0, 0, 1, -1, 1000, 86_400_000, -86_400_000, 40 * 86_400_000, -400 * 86_400_000]);
      const whole = iso(time);
      if (!/^\d{4}-/.test(whole) || whole.startsWith('0000')) return undefined;
      const length = pick([4, 7, 10, 10, 16, 19, 24]);
      const zone = length > 10 && length < 24 ? pick(['Z', '', '+02:00', '-11:30']) : '';
      return only(`${pick(PREFIXES)}${whole.slice(0, length)}${zone}`);
    }
    case 'number':
      return only(`${pick(PREFIXES)}${near(random, item.value)}`);
    case 'quantity': {
      const value = pick([item.low, item.high].filter((end) => Number.isFinite(end)));
      const { system, code, unit } = item;
      const forms = [
        '',
        ...(code === undefined ? [] : [`||${escaped(code)}`, `|${escaped(system ?? '')}|${escaped(code)}`]),
        ...(unit === undefined ? [] : [`||${escaped(unit)}`]),
      ];
      const scaled =
        code === undefined || system !== 'http://unitsofmeasure.org'
          ? undefined
          : pick([...(SCALES[code] ?? []), undefined]);
      if (scaled !== undefined) {
        return only(`${pick(PREFIXES)}${near(random, value * scaled[1])}|${system}|${escaped(scaled[0])}`);
      }
      return only(`${pick(PREFIXES)}${near(random, value)}${pick(forms)}`);
    }
    case 'reference': {
      const { type, id, url, identifier } = item;
      if (identifier !== undefined && chance(0.5)) {
        return only(pick([tokenText(identifier), escaped(identifier.code ?? '')]), 'identifier');
      }
      if (type !== undefined && id !== undefined) {
        const place = `${type}/${id}`;
        const forms = [
          id,
          place,
          `http://here/fhir/${place}`,
          referenceText(item),
          `http://there/fhir/${place}`,
          `${place}/_history/1`,
        ];
        return only(escaped(pick(forms)), chance(0.15) ? 'not' : '');
      }
      if (url === undefined) return undefined;
      const forms = [escaped(url), referenceText(item), `${escaped(url)}|9.9`, `${escaped(url)}#x`];
      return only(pick(forms), chance(0.15) ? 'not' : '');
    }
  }
}

/** Other units, and by how much values are multiplied for them. */
const SCALES: Readonly<Record<string, readonly (readonly [unit: string, factor: number])[]>> = {
  mg: [['g', 0.001], ['ug', 1000], ['kg', 1e-6]], // prettier-ignore
  g: [['mg', 1000], ['kg', 0.001]], // prettier-ignore
  kg: [['g', 1000]],
  mL: [['L', 0.001], ['dL', 0.01], ['cm3', 1]], // prettier-ignore
  'mm[Hg]': [['cm[Hg]', 0.1]],
  cm: [['m', 0.01], ['mm', 10]], // prettier-ignore
  '/min': [['/s', 1 / 60]],
  'mmol/L': [['mol/L', 0.001], ['umol/mL', 1]], // prettier-ignore
  'g/dL': [['g/L', 10]],
  h: [['min', 60], ['d', 1 / 24]], // prettier-ignore
};

/** What the oracle tells apart: it rounds to eleven digits, and a precision of as many is nothing to it. */
const short = (value: number): number => Number(value.toPrecision(9));

/** A number, or one near it, with more or fewer digits. */
function near({ pick, below }: Random, exact: number): string {
  const value = short(exact);
  const moved = short(pick([value, value, value, value + 1, value - 1, value * 1.05, value / 2, 0]));
  const text = pick([String(moved), moved.toFixed(below(4)), moved.toPrecision(1 + below(6))]);
  return /^[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/.test(text) ? text : String(value);
}

/** One criterion of a composite's values, or alternatives of several of one modifier. */
export function joined(criteria: readonly (Criterion | undefined)[], separator: ',' | '$'): Criterion | undefined {
  const [first, ...rest] = criteria;
  if (first === undefined || rest.some((each) => each?.modifier !== first.modifier)) return undefined;
  return { modifier: first.modifier, text: criteria.map((each) => each!.text).join(separator) };
}

/** The name of a parameter with a modifier. */
export function nameOf({ code }: Pick<SearchRow, 'code'>, { modifier }: Criterion): string {
  return modifier === '' ? code : `${code}:${modifier}`;
}
