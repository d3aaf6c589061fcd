import type { ComponentRow, SearchRow } from '../contract/search.js';
import type { SimpleEntry } from './entry.js';

/** A parameter that has every value of a part of a composite. */
export interface Covering {
  /** Its code. */
  readonly param: string;
  /** Kind of its entries. */
  readonly kind: SimpleEntry['kind'];
}

/**
 * Parameters of the same type that have the values of the parts of a composite, one for each part: a resource that fulfils the
 * composite has an entry of each that fulfils the part. Undefined: it is no composite, or of some part none is known.
 */
export function coveringOf({ type, components = [] }: SearchRow): readonly Covering[] | undefined {
  if (type !== 'composite' || components.length === 0) return undefined;
  const found = components.flatMap(coveringPart);
  return found.length === components.length ? found : undefined;
}

function coveringPart({ type, coveredBy }: ComponentRow): readonly Covering[] {
  if (coveredBy === undefined || type === 'composite' || type === 'special') return [];
  return [{ param: coveredBy, kind: type }];
}
