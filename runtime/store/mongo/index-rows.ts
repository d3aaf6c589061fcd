import type { IndexEntry, ReferenceEntry, SimpleEntry } from '../../search/entry.js';
import type { DateRow, IndexRows, NumberRow, ReferenceRow, StringRow, TokenRow, UriRow } from './documents.js';

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
}

/** Index entries as arrays by kind; kinds without any are left out. */
export function toIndexRows(entries: readonly IndexEntry[]): IndexRows {
  const rows: Collected = {};
  let group = 0;
  for (const entry of entries) {
    if (KEPT_ELSEWHERE.has(entry.param)) continue;
    if (entry.kind !== 'composite') {
      add(rows, entry.param, undefined, entry);
      continue;
    }
    group++;
    for (const [i, part] of entry.parts.entries()) {
      for (const value of part) add(rows, `${entry.param}$${i + 1}`, group, value);
    }
  }
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
      });
      break;
    }
    case 'quantity': {
      const { value, system, code, unit } = entry;
      const isPoint = entry.low === undefined && entry.high === undefined;
      // Of a point both ends are the value, of an interval that is open one is infinite.
      const [low, high] = isPoint ? [value, value] : [entry.low ?? -Infinity, entry.high ?? Infinity];
      (rows.number ??= []).push({ p, g, value, low, high, system, code, unit });
      break;
    }
    case 'reference':
      addReference((rows.reference ??= []), p, g, entry);
      break;
    case 'uri':
      (rows.uri ??= []).push({ p, g, value: entry.value });
      break;
  }
}

function addReference(rows: ReferenceRow[], p: string, g: number | undefined, entry: ReferenceEntry): void {
  const { type, id, version, base, url, fragment, identifier } = entry;
  const before = rows.length;
  const push = (to: string | undefined, more: Partial<ReferenceRow>): void => {
    rows.push({ p, g, to, version: more.version, fragment: more.fragment, logical: more.logical, system: more.system });
  };
  if (type !== undefined && id !== undefined) push(`${base === undefined ? '' : `${base}/`}${type}/${id}`, { version });
  if (url !== undefined) push(url, { fragment });
  if (identifier !== undefined) push(identifier.value, { logical: true, system: identifier.system });
  // A reference of which nothing is known is one all the same, to those who ask whether there is any.
  if (rows.length === before) push(undefined, {});
}
