import { append } from '../../../fhir/lists.js';
import {
  isPlace,
  type CanonicalQuantity,
  type CompositeEntry,
  type IndexEntry,
  type PlaceEntry,
  type QuantityEntry,
  type ReferenceEntry,
  type SimpleEntry,
  type WordsEntry,
} from '../../../indexing/entry.js';
import { cellOf, cellOfBox } from '../../../indexing/places/cells.js';
import { toVector } from '../../../indexing/places/sphere.js';
import { DATE_WIDTHS, endParam, NUMBER_WIDTHS, spans, type Span } from './spans.js';
import type {
  DateRow,
  IndexRows,
  NumberRow,
  ReferenceRow,
  StringRow,
  TokenRow,
  UriRow,
  WordsRow,
} from './documents.js';
import { toWordsRows } from './words-rows.js';

/** Parameters that fields of the document answer. */
const KEPT_ELSEWHERE = new Set(['_id', '_lastUpdated']);

/** The first and the last instant that a Date can be: ends of intervals that are open. */
export const EARLIEST = new Date(-8.64e15);
/** Its other end. */
export const LATEST = new Date(8.64e15);

/** The rows while they are collected. */
interface Collected {
  token?: TokenRow[];
  string?: StringRow[];
  date?: DateRow[];
  number?: NumberRow[];
  reference?: ReferenceRow[];
  uri?: UriRow[];
  words?: readonly WordsRow[];
  covered?: Collected;
}

/** Index entries as arrays by kind; kinds without any are left out. */
export function toIndexRows(entries: readonly IndexEntry[]): IndexRows {
  const rows: Collected = {};
  let words: WordsEntry[] | undefined;
  let group = 0;
  for (const entry of entries) {
    if (KEPT_ELSEWHERE.has(entry.param)) continue;
    if (isPlace(entry)) {
      (rows.token ??= []).push(placeRow(entry));
      continue;
    }
    if (entry.kind === 'words') {
      (words ??= []).push(entry);
      continue;
    }
    if (entry.kind !== 'composite') {
      add(rows, entry.param, undefined, entry);
      continue;
    }
    const own = entry.isCovered === true ? (rows.covered ??= {}) : rows;
    group++;
    for (const [i, part] of entry.parts.entries()) {
      for (const value of part) add(own, partParam(entry.param, i), group, value);
    }
    addJoined(rows, group, entry);
  }
  if (rows.date !== undefined) append(rows.date, spans(rows.date, DATE_WIDTHS));
  if (rows.number !== undefined) {
    const ends = rows.number.filter(({ low, high }) => low < high).map(toEnd);
    append(rows.number, spans(rows.number, NUMBER_WIDTHS).map(toNumberRow));
    append(rows.number, ends);
  }
  if (words !== undefined) rows.words = toWordsRows(words);
  return rows;
}

/** Rows of a kind have the same fields, in the same order; the driver leaves out those that are undefined. */
function add(rows: Collected, p: string, g: number | undefined, entry: SimpleEntry): void {
  switch (entry.kind) {
    case 'token':
      (rows.token ??= []).push({ p, g, code: entry.code, system: entry.system, ofType: entry.ofType });
      break;
    case 'string':
      (rows.string ??= []).push({ p, g, folded: entry.folded, text: entry.text });
      break;
    case 'date': {
      const { low, high } = entry;
      const [from, to] = [low === undefined ? EARLIEST : new Date(low), high === undefined ? LATEST : new Date(high)];
      (rows.date ??= []).push({ p, g, low: from, high: to });
      break;
    }
    case 'number': {
      const { value } = entry;
      const unknown = undefined;
      (rows.number ??= []).push({
        p,
        g,
        value,
        low: value,
        high: value,
        system: unknown,
        code: unknown,
        unit: unknown,
        canonical: unknown,
      });
      break;
    }
    case 'quantity':
      addQuantity((rows.number ??= []), p, g, entry);
      break;
    case 'reference':
      addReference((rows.reference ??= []), p, g, entry);
      break;
    case 'uri':
      (rows.uri ??= []).push({ p, g, value: entry.value });
      break;
  }
}

/** A place is found by its cell. */
function placeRow(entry: PlaceEntry): TokenRow {
  const p = entry.param;
  if (entry.kind === 'position') return { p, code: cellOf(entry), at: toVector(entry) };
  const { south, west, north, east, lines } = entry;
  const four = Array.from({ length: lines.length / 4 }, (_, i) => {
    const [x1, y1, x2, y2] = lines.slice(4 * i, 4 * i + 4) as [number, number, number, number];
    return { x1, y1, x2, y2 };
  });
  return { p, code: cellOfBox(entry), south, west, north, east, lines: four };
}

/** The parameter under which the rows of a part of a composite are kept. */
export function partParam(param: string, part: number): string {
  return `${param}$${part + 1}`;
}

/** The parameter of values beside a token in a composite: with the token in it, so that a range of the index holds both. */
export function joinedParam(
  param: string,
  { system, code }: { readonly system: string; readonly code: string },
): string {
  return `${partParam(param, 1)}${JSON.stringify([system, code])}`;
}

/** What is compared by ranges beside a code with a system has a row more, which is found by both at once. */
function addJoined(rows: Collected, g: number, { param, parts }: CompositeEntry): void {
  const [tokens = [], values = []] = parts;
  if (parts.length !== 2) return;
  for (const token of tokens) {
    if (token.kind !== 'token' || token.system === undefined || token.code === undefined) continue;
    const p = joinedParam(param, { system: token.system, code: token.code });
    for (const value of values) {
      if (value.kind === 'number' || value.kind === 'date') add(rows, p, g, value);
      if (value.kind === 'quantity' && value.canonical !== undefined) {
        (rows.number ??= []).push(canonicalRow(p, g, value.canonical));
      }
    }
  }
}

/** One row for the value as it is recorded, one more for the same in the canonical unit. */
function addQuantity(rows: NumberRow[], p: string, g: number | undefined, entry: QuantityEntry): void {
  const { system, code, unit, canonical } = entry;
  rows.push({ p, g, ...spanOf(entry), system, code, unit, canonical: canonical?.unit });
  if (canonical !== undefined) rows.push(canonicalRow(p, g, canonical));
}

function canonicalRow(p: string, g: number | undefined, canonical: CanonicalQuantity): NumberRow {
  const unknown = undefined;
  const units = { system: unknown, code: unknown, unit: unknown, canonical: unknown };
  return { p: canonicalParam(p, canonical.unit), g, ...spanOf(canonical), ...units };
}

/** The high end of an interval, as a point: what is above a number is found by it. */
function toEnd({ p, high }: NumberRow): NumberRow {
  return toNumberRow({ p: endParam(p), low: high, high });
}

function toNumberRow({ p, low, high }: Span<number>): NumberRow {
  const unknown = undefined;
  return { p, g: unknown, value: low, low, high, system: unknown, code: unknown, unit: unknown, canonical: unknown };
}

/** The parameter of canonical values in a unit: with the unit in it, so that a range of the index holds one unit only. */
export function canonicalParam(p: string, unit: string): string {
  return `${p}{${unit}}`;
}

/** Of a point both ends are the value, of an interval that is open one is infinite. */
function spanOf({ value, low, high }: Pick<QuantityEntry, 'value' | 'low' | 'high'>) {
  const isPoint = low === undefined && high === undefined;
  return { value, low: isPoint ? value : (low ?? -Infinity), high: isPoint ? value : (high ?? Infinity) };
}

/** A row for each way of finding what it refers to: by its place, its URL, its identifier. */
function addReference(rows: ReferenceRow[], p: string, g: number | undefined, entry: ReferenceEntry): void {
  const { type, id, version, base, url, fragment, identifier } = entry;
  const before = rows.length;
  const push = (to: string | undefined, more: Partial<ReferenceRow>): void => {
    const also = rows.length === before ? undefined : true;
    const { by, type: named, system } = more;
    const target = by === 'identifier' ? { version: undefined, fragment: undefined } : { version, fragment };
    rows.push({ p: referenceParam(p, by), g, to, id: more.id, by, type: named, ...target, system, also });
  };
  if (type !== undefined && id !== undefined) push(placeOf(type, id, base), { id });
  if (url !== undefined) push(url, { by: 'url', type });
  if (identifier !== undefined) push(identifier.value, { by: 'identifier', system: identifier.system });
  // A reference of which nothing is known is one all the same, to those who ask whether there is any.
  if (rows.length === before) push(undefined, {});
}

/** The parameter of URLs and identifiers in references: with that in it, for a place may look like one. */
export function referenceParam(p: string, by: ReferenceRow['by']): string {
  return by === undefined ? p : `${p}#${by}`;
}

/** All parameters that the rows of a reference can have. */
export function referenceParams(p: string): string[] {
  return [p, referenceParam(p, 'url'), referenceParam(p, 'identifier')];
}

/**
 * Returns the text that finds references to a resource: `Patient/1`, with the base URL before it where that is another
 * server.
 */
export function placeOf(type: string, id: string, base: string | undefined): string {
  return `${base === undefined ? '' : `${base}/`}${type}/${id}`;
}
