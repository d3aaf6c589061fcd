import type { IndexEntry, QuantityEntry, ReferenceEntry, SimpleEntry } from '../../search/entry.js';
import type { IndexRows } from './documents.js';

/** Parameters that fields of the document answer. */
const KEPT_ELSEWHERE = new Set(['_id', '_lastUpdated']);

/** The first and the last instant that a Date can be: ends of intervals that are open. */
const EARLIEST = new Date(-8.64e15);
const LATEST = new Date(8.64e15);

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] | undefined ? U[] : never };

/** Index entries as arrays by kind; kinds without any are left out. */
export function toIndexRows(entries: readonly IndexEntry[]): IndexRows {
  const rows: Partial<Mutable<Required<IndexRows>>> = {};
  let group = 0;
  for (const entry of entries) {
    if (KEPT_ELSEWHERE.has(entry.param)) continue;
    if (entry.kind !== 'composite') {
      add(rows, { p: entry.param }, entry);
      continue;
    }
    const g = ++group;
    for (const [i, part] of entry.parts.entries()) {
      for (const value of part) add(rows, { p: `${entry.param}$${i + 1}`, g }, value);
    }
  }
  return rows;
}

function add(
  rows: Partial<Mutable<Required<IndexRows>>>,
  place: { readonly p: string; readonly g?: number },
  entry: SimpleEntry,
): void {
  switch (entry.kind) {
    case 'token': {
      const { code, system, ofType } = entry;
      // The driver leaves out what is undefined.
      (rows.token ??= []).push({ ...place, code, system, ofType } as IndexRowOf<'token'>);
      break;
    }
    case 'string':
      (rows.string ??= []).push({ ...place, folded: entry.folded, text: entry.text });
      break;
    case 'date': {
      const { low, high } = entry;
      const row = {
        low: low === undefined ? EARLIEST : new Date(low),
        high: high === undefined ? LATEST : new Date(high),
      };
      (rows.date ??= []).push({ ...place, ...row });
      break;
    }
    case 'number':
      (rows.number ??= []).push({ ...place, value: entry.value, low: entry.value, high: entry.value });
      break;
    case 'quantity': {
      const { value, system, code, unit } = entry;
      (rows.number ??= []).push({ ...place, value, ...ends(entry), system, code, unit } as IndexRowOf<'number'>);
      break;
    }
    case 'reference':
      for (const row of referenceRows(entry)) {
        (rows.reference ??= []).push({ ...place, ...row } as IndexRowOf<'reference'>);
      }
      break;
    case 'uri':
      (rows.uri ??= []).push({ ...place, value: entry.value });
      break;
  }
}

type IndexRowOf<K extends keyof IndexRows> = NonNullable<IndexRows[K]>[number];

function referenceRows({ type, id, version, base, url, fragment, identifier }: ReferenceEntry): object[] {
  const rows: object[] = [];
  if (type !== undefined && id !== undefined) {
    rows.push({ to: `${base === undefined ? '' : `${base}/`}${type}/${id}`, version });
  }
  if (url !== undefined) rows.push({ to: url, fragment });
  if (identifier !== undefined) rows.push({ to: identifier.value, logical: true, system: identifier.system });
  // A reference of which nothing is known is one all the same, to those who ask whether there is any.
  return rows.length === 0 ? [{}] : rows;
}

/** Both ends of a quantity: of a point the value itself, of an interval that is open infinity. */
function ends({ value, low, high }: QuantityEntry): { readonly low: number; readonly high: number } {
  if (low === undefined && high === undefined) return { low: value, high: value };
  return { low: low ?? -Infinity, high: high ?? Infinity };
}
