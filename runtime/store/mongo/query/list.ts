import { readValue, TYPE, type Raw } from '../bson/bson.js';
import type { Batch } from '../read/batch.js';
import type { Ask } from './ask.js';
import { everyOf, restOf, waysInto, type Conjunct, type Way } from './compile/compile.js';
import { drivingIn } from './plan/driving.js';
import type { Order } from './compile/order.js';

/**
 * Resources that are listed whole to show some of them: so many ids are read from an index in the time in which a hundredth as
 * many resources are. Where there are more, those of a page are near each other in the order of ids.
 */
const LISTED = 2000;

/** The way to all that a search finds, where the index alone knows it, but not in the order of ids. */
export function listWay(conjuncts: readonly Conjunct[], order: Order): Way | undefined {
  const [conjunct] = conjuncts;
  const [access] = conjunct?.accesses ?? [];
  if (conjunct === undefined || access === undefined || conjuncts.length > 1 || conjunct.accesses.length > 1) return undefined; // prettier-ignore
  if (order.by !== 'id' || access.isOrdered || access.isExact !== true || access.stretches.length !== 1)
    return undefined;
  return { access, conjunct };
}

/** Resources that are listed before anything is counted: no more than a few pages. */
export const LISTED_AT_ONCE = 200;

/**
 * The access path for an interval overlap that is the only condition. All its entries are read in any case, so counting them first
 * to choose a path would double the work.
 */
export function overlapWay(conjuncts: readonly Conjunct[], order: Order): Way | undefined {
  const [way, ...more] = waysInto(conjuncts);
  if (order.by !== 'id' || way === undefined || more.length > 0 || way.conjunct.isImplied !== true) return undefined;
  return conjuncts.every((one) => one === way.conjunct || one.isOverlapped === true) ? way : undefined;
}

/** The `_id` of everything on a way, in this order; undefined: that is too much. */
export async function listKeys(ask: Ask, { access }: Way, order: Order): Promise<readonly string[] | undefined> {
  return sorted(await ask.list(access.stretches[0]!, access.hint, LISTED + 1), order);
}

/** The same of what matches, for which documents have to be read. */
export async function listMatches(
  ask: Ask,
  type: string,
  conjuncts: readonly Conjunct[],
  way: Way,
  order: Pick<Order, 'idSign'>,
  most = LISTED,
): Promise<readonly string[] | undefined> {
  const filter = everyOf([drivingIn(type, way), ...restOf(conjuncts, way)]);
  return sorted(await ask.findKeys(filter, way.access.hint, most + 1), order, most);
}

function sorted(batch: Batch, { idSign }: Pick<Order, 'idSign'>, most = LISTED): readonly string[] | undefined {
  const { documents, isCut } = batch;
  if (isCut || documents.length > most) return undefined;
  const keys = documents.map(keyOf).sort();
  return idSign === 1 ? keys : keys.reverse();
}

/** What is behind a key. */
export function behind(keys: readonly string[], last: string | undefined, { idSign }: Order): readonly string[] {
  if (last === undefined) return keys;
  return keys.filter((key) => (idSign === 1 ? key > last : key < last));
}

/** The one field of a document: its length comes first, then the type and the name. */
function keyOf(bytes: Raw): string {
  return readValue(bytes, { type: TYPE.string, at: 4 + 1 + '_id'.length + 1 }) as string;
}
