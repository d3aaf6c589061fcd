import { compareText } from './compare-text.js';
import { isSimple, type IndexEntry, type SimpleEntry } from '../../indexing/entry.js';
import { valuedBy, type SortKey } from './query.js';

/** Sort value of a resource: numbers are compared with numbers and texts with texts, one after the other. */
export type SortValue = readonly (string | number)[];

/** The parts of a resource that sorting reads. */
export interface Sortable {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly lastUpdated: number;
  readonly entries: readonly IndexEntry[];
}

/**
 * Returns the value that a key sorts a resource by; undefined: it has none. Tokens go by code, references by the text of
 * their target, quantities by canonical value where they have one, intervals by their low end ascending and by their
 * high end descending.
 */
export function sortValue(key: SortKey, resource: Sortable): SortValue | undefined {
  const { by, isDescending } = key;
  if (by === 'id') return [resource.id];
  if (by === 'updated') return [resource.lastUpdated];
  const params = valuedBy(key);
  let best: SortValue | undefined;
  for (const entry of resource.entries) {
    if (!params.includes(entry.param) || !isSimple(entry) || entry.kind !== by) continue;
    const value = valueOf(entry, isDescending);
    const order = best === undefined ? -1 : compareValues(value, best);
    if (best === undefined || (isDescending ? order > 0 : order < 0)) best = value;
  }
  return best;
}

function valueOf(entry: SimpleEntry, isDescending: boolean): SortValue {
  switch (entry.kind) {
    case 'token':
      return [entry.code ?? ''];
    case 'string':
      return [entry.folded];
    case 'date':
      return [isDescending ? (entry.high ?? Infinity) : (entry.low ?? -Infinity)];
    case 'number':
      return [entry.value];
    case 'quantity': {
      const { value, low = value, high = value } = entry.canonical ?? entry;
      return [isDescending ? high : low];
    }
    case 'reference':
      return [targetText(entry)];
    case 'uri':
      return [entry.value];
  }
}

/** A reference as it is sorted: `Type/id`, with the base URL before it where that is another server; a URL; an identifier. */
export function targetText({ type, id, base, url, identifier }: SimpleEntry & { readonly kind: 'reference' }): string {
  if (type !== undefined && id !== undefined) return `${base === undefined ? '' : `${base}/`}${type}/${id}`;
  return url ?? identifier?.value ?? '';
}

/** Compares two values of one key. */
export function compareValues(a: SortValue, b: SortValue): number {
  for (const [i, left] of a.entries()) {
    const right = b[i];
    const order =
      typeof left === 'number' || typeof right === 'number'
        ? Number(left) - Number(right)
        : compareText(left, right ?? '');
    // Two ends that are open are equal, and their difference is no number.
    if (left !== right && order !== 0) return order;
  }
  return 0;
}
