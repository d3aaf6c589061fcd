import type { SearchType } from '../../../runtime/contract/index.js';
import { placesIn, type PlaceItem } from './search-oracle-places.js';

/**
 * What a value of a resource is to a search, read off its JSON plainly and without any of the server's code. One end of an
 * interval that is open is infinite; `isWithout` says that the ends of a quantity are not part of it (`<5`).
 */
export type Item =
  | TokenItem
  | { readonly is: 'string'; readonly text: string }
  | { readonly is: 'date'; readonly low: number; readonly high: number }
  | { readonly is: 'number'; readonly value: number }
  | QuantityItem
  | ReferenceItem
  | { readonly is: 'uri'; readonly text: string }
  | PlaceItem;

/** `isString`: no code of any system, but a text whose case does not count. */
export interface TokenItem extends Coded {
  readonly is: 'token';
  readonly types?: readonly Coded[];
  readonly isString?: boolean;
}

export interface Coded {
  readonly system?: string;
  readonly code?: string;
}

export interface QuantityItem {
  readonly is: 'quantity';
  readonly low: number;
  readonly high: number;
  readonly isWithout?: boolean;
  readonly system?: string;
  readonly code?: string;
  readonly unit?: string;
}

export interface ReferenceItem {
  readonly is: 'reference';
  readonly type?: string;
  readonly id?: string;
  readonly base?: string;
  readonly version?: string;
  readonly url?: string;
  readonly fragment?: string;
  readonly identifier?: Coded;
}

/* eslint-disable @typescript-eslint/no-explicit-any -- JSON of any type is taken apart here, as it comes. */
type Any = any;

/** The items of one value, by the table of the specification. https://hl7.org/fhir/R5/search.html#table */
export function itemsOf(
  search: SearchType,
  value: Any,
  type: string,
  system: string | undefined,
  resourceTypes: ReadonlySet<string>,
): Item[] {
  if (value === null || value === undefined || value === '') return [];
  switch (search) {
    case 'token':
      return tokens(value, type, system).filter(({ system: s, code }) => s !== undefined || code !== undefined);
    case 'string':
      return strings(value, type)
        .filter((text) => typeof text === 'string')
        .map((text) => ({ is: 'string', text }));
    case 'date':
      return dates(value, type);
    case 'number':
      return [{ is: 'number', value: Number(value) }];
    case 'quantity':
      return quantities(value, type);
    case 'reference':
      return references(value, type, resourceTypes);
    case 'uri':
      return [{ is: 'uri', text: value }];
    case 'special':
      return placesIn(value);
    default:
      return [];
  }
}

const text = (value: Any): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const many = (value: Any): Any[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);

function tokens(value: Any, type: string, system: string | undefined): TokenItem[] {
  const coding = (one: Any): TokenItem => ({ is: 'token', ...coded(one?.system, one?.code) });
  switch (type) {
    case 'Coding':
      return [coding(value)];
    case 'CodeableConcept':
      return many(value.coding).map(coding);
    case 'CodeableReference':
      return many(value.concept?.coding).map(coding);
    case 'Identifier': {
      const types = many(value.type?.coding).filter(({ code }) => text(code) !== undefined);
      const isTyped = types.length > 0 && text(value.value) !== undefined;
      return [{ is: 'token', ...coded(value.system, value.value), ...(isTyped && { types }) }];
    }
    case 'ContactPoint':
      return [{ is: 'token', ...coded(undefined, value.value), isString: true }];
    default:
      return typeof value === 'object'
        ? []
        : [
            {
              is: 'token',
              ...coded(type === 'code' ? system : undefined, String(value)),
              ...(type === 'string' && { isString: true }),
            },
          ];
  }
}

function coded(system: Any, code: Any): Coded {
  const [s, c] = [text(system), text(code)];
  return { ...(s !== undefined && { system: s }), ...(c !== undefined && { code: c }) };
}

function strings(value: Any, type: string): Any[] {
  switch (type) {
    case 'HumanName':
      return [value.text, value.family, ...many(value.given), ...many(value.prefix), ...many(value.suffix)];
    case 'Address':
      return [
        value.text,
        ...many(value.line),
        value.city,
        value.district,
        value.state,
        value.postalCode,
        value.country,
      ];
    case 'CodeableConcept':
      return [value.text, ...many(value.coding).map((coding) => coding.display)];
    case 'CodeableReference':
      return value.concept === undefined ? [] : strings(value.concept, 'CodeableConcept');
    case 'Coding':
      return [value.display];
    case 'Identifier':
    case 'ContactPoint':
      return [value.value];
    case 'Annotation':
      return [value.text];
    default:
      return [value];
  }
}

/** From the first to the last millisecond of what a date tells. UTC where it tells no offset. */
export function spanOfDate(value: string): { low: number; high: number } | undefined {
  const form = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/;
  const parts = form.exec(value);
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, offset] = parts;
  const at = (y: number, m: number, d: number, h = 0, min = 0, s = 0): number => {
    const date = new Date(0);
    date.setUTCFullYear(y, m - 1, d);
    date.setUTCHours(h, min, s, 0);
    return date.getTime();
  };
  const [y, m, d] = [Number(year), Number(month ?? 1), Number(day ?? 1)];
  if (month === undefined) return { low: at(y, 1, 1), high: at(y + 1, 1, 1) - 1 };
  if (day === undefined) return { low: at(y, m, 1), high: at(y, m + 1, 1) - 1 };
  if (hour === undefined) return { low: at(y, m, d), high: at(y, m, d + 1) - 1 };
  const sign = offset?.startsWith('-') ? -1 : 1;
  const minutes =
    offset === undefined || offset === 'Z' ? 0 : sign * (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4)));
  const whole = at(y, m, d, Number(hour), Number(minute), Number(second ?? 0)) - minutes * 60_000;
  if (second === undefined) return { low: whole, high: whole + 59_999 };
  if (fraction === undefined) return { low: whole, high: whole + 999 };
  const digits = fraction.slice(0, 3);
  const low = whole + Number(digits.padEnd(3, '0'));
  return { low, high: low + 10 ** (3 - digits.length) - 1 };
}

function dates(value: Any, type: string): Item[] {
  const spans: { low: number; high: number }[] = [];
  const period = ({ start, end }: Any): void => {
    if (start === undefined && end === undefined) return;
    const low = start === undefined ? -Infinity : spanOfDate(start)?.low;
    const high = end === undefined ? Infinity : spanOfDate(end)?.high;
    if (low === undefined || high === undefined) return;
    if (low <= high) spans.push({ low, high });
    // The time between the two, whichever way round they stand.
    else spans.push({ low: spanOfDate(end)!.low, high: spanOfDate(start)!.high });
  };
  if (type === 'Period') period(value);
  else if (type === 'Timing') {
    for (const event of many(value.event)) spans.push(...many(spanOfDate(event)));
    if (value.repeat?.boundsPeriod !== undefined) period(value.repeat.boundsPeriod);
  } else if (typeof value === 'string') {
    const span = spanOfDate(value);
    // An instant has no width.
    if (span !== undefined) spans.push(type === 'instant' ? { low: span.low, high: span.low } : span);
  }
  if (spans.length === 0) return [];
  // Of a Timing only the outer limits matter.
  return [
    { is: 'date', low: Math.min(...spans.map(({ low }) => low)), high: Math.max(...spans.map(({ high }) => high)) },
  ];
}

function quantities(value: Any, type: string): QuantityItem[] {
  const units = (one: Any): Pick<QuantityItem, 'system' | 'code' | 'unit'> => {
    const [system, code, unit] = [text(one?.system), text(one?.code) ?? text(one?.unit), text(one?.unit)];
    return {
      ...(system !== undefined && { system }),
      ...(code !== undefined && { code }),
      ...(unit !== undefined && { unit }),
    };
  };
  if (type === 'Money') {
    if (value.value === undefined) return [];
    const system = value.currency === undefined ? {} : { system: 'urn:iso:std:iso:4217', code: value.currency };
    return [{ is: 'quantity', low: value.value, high: value.value, ...system }];
  }
  if (type === 'Range') {
    const [low, high] = [value.low?.value, value.high?.value];
    if (low === undefined && high === undefined) return [];
    const isOne = low === undefined || high === undefined || JSON.stringify([value.low.system, units(value.low).code]) === JSON.stringify([value.high.system, units(value.high).code]); // prettier-ignore
    if (!isOne) return [...quantities(value.low, 'Quantity'), ...quantities(value.high, 'Quantity')];
    const ends = low > high ? { low: high, high: low } : { low: low ?? -Infinity, high: high ?? Infinity };
    return [{ is: 'quantity', ...ends, ...units(value.low ?? value.high) }];
  }
  if (type === 'SampledData') {
    const points = String(value.data ?? '')
      .split(/\s+/)
      .flatMap((point) => {
        const number = point === 'L' ? value.lowerLimit : point === 'U' ? value.upperLimit : /^[\d.eE+-]+$/.test(point) ? Number(point) : undefined; // prettier-ignore
        return number === undefined ? [] : [value.origin.value + number * (value.factor ?? 1)];
      });
    if (points.length === 0) return [];
    return [{ is: 'quantity', low: Math.min(...points), high: Math.max(...points), ...units(value.origin) }];
  }
  if (typeof value.value !== 'number') return [];
  const point = { low: value.value, high: value.value };
  const ends =
    value.comparator?.startsWith('<') ? { ...point, low: -Infinity } : value.comparator?.startsWith('>') ? { ...point, high: Infinity } : point; // prettier-ignore
  const isWithout = value.comparator === '<' || value.comparator === '>';
  return [{ is: 'quantity', ...ends, ...(isWithout && { isWithout }), ...units(value) }];
}

const PLACE =
  /^(?:(https?:\/\/[^/]+(?:\/.+)?)\/)?([A-Z][A-Za-z]*)\/([A-Za-z0-9.-]{1,64})(?:\/_history\/([A-Za-z0-9.-]{1,64}))?$/;

/** `Type/id` in its forms; undefined: it is none. */
export function placeOf(reference: string, resourceTypes: ReadonlySet<string>): Omit<ReferenceItem, 'is'> | undefined {
  const [, base, type, id, version] = PLACE.exec(reference) ?? [];
  if (type === undefined || id === undefined || !resourceTypes.has(type)) return undefined;
  return { type, id, ...(base !== undefined && { base }), ...(version !== undefined && { version }) };
}

function references(value: Any, type: string, resourceTypes: ReadonlySet<string>): ReferenceItem[] {
  if (type === 'CodeableReference')
    return value.reference === undefined ? [] : references(value.reference, 'Reference', resourceTypes);
  if (typeof value === 'object' && 'resourceType' in value) {
    return value.id === undefined ? [] : [{ is: 'reference', type: value.resourceType, id: value.id }];
  }
  if (type === 'id') return [];
  if (type === 'Reference' || type === 'string') {
    const { reference, type: declared, identifier }: Any = typeof value === 'string' ? { reference: value } : value;
    const named = text(declared)?.replace('http://hl7.org/fhir/StructureDefinition/', '');
    const told = named !== undefined && resourceTypes.has(named) ? { type: named } : {};
    const literal =
      text(reference) === undefined || reference.startsWith('#')
        ? undefined
        : (placeOf(reference, resourceTypes) ?? { ...told, url: reference });
    const logical =
      text(identifier?.value) === undefined ? undefined : { identifier: coded(identifier.system, identifier.value) };
    if (literal === undefined && logical === undefined) return [];
    return [{ is: 'reference', ...(literal ?? told), ...logical }];
  }
  // Canonicals and other URIs are names, but a relative one is a place.
  const [, url = '', version, fragment] = /^([^|#]*)(?:\|([^#]*))?(?:#(.*))?$/s.exec(value) ?? [];
  if (url === '') return [];
  const place = url.includes(':') ? undefined : placeOf(url, resourceTypes);
  return [{ is: 'reference', ...(place ?? { url }), ...(version && { version }), ...(fragment && { fragment }) }];
}
