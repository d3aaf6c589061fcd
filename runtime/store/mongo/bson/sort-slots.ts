import type { IndexEntry } from '../../../indexing/entry.js';
import { compareText } from '../../../search/query/compare-text.js';
import { EARLIEST, LATEST } from './index-rows.js';

/** The slot of a parameter by which a type can be sorted; undefined: it has none. */
export type SlotOf = (type: string, param: string) => number | undefined;

/** A value to sort by. Those of one slot and type are all of one kind. */
type SortValue = string | number | Date;

/**
 * Sort values of a resource. Of the parameter with slot 3 the least value is in `o3`, for ascending order, and the
 * greatest in `d3`, for descending. They are scalars, because sorting by values in arrays cannot use an index.
 */
export type SortSlots = Readonly<Record<string, SortValue>>;

/** The fields of a slot. */
export function slotFields(slot: number): { readonly least: string; readonly greatest: string } {
  return { least: `o${slot}`, greatest: `d${slot}` };
}

/** The sort values of a resource's index entries. */
export function toSortSlots(type: string, entries: readonly IndexEntry[], slotOf: SlotOf): SortSlots {
  const slots: Record<string, SortValue> = {};
  for (const entry of entries) {
    const ends = endsOf(entry);
    const slot = ends === undefined ? undefined : slotOf(type, entry.param);
    if (ends === undefined || slot === undefined) continue;
    const { least, greatest } = slotFields(slot);
    const [low, high] = [slots[least], slots[greatest]];
    if (low === undefined || isBefore(ends.low, low)) slots[least] = ends.low;
    if (high === undefined || isBefore(high, ends.high)) slots[greatest] = ends.high;
  }
  return slots;
}

/** Texts by their code points, as the server compares them. */
function isBefore(a: SortValue, b: SortValue): boolean {
  return typeof a === 'string' && typeof b === 'string' ? compareText(a, b) < 0 : a < b;
}

function endsOf(entry: IndexEntry): { readonly low: SortValue; readonly high: SortValue } | undefined {
  switch (entry.kind) {
    case 'string':
      return { low: entry.folded, high: entry.folded };
    case 'date': {
      const { low, high } = entry;
      return {
        low: low === undefined ? EARLIEST : new Date(low),
        high: high === undefined ? LATEST : new Date(high),
      };
    }
    case 'number':
      return { low: entry.value, high: entry.value };
    case 'quantity': {
      const { value, low = value, high = value } = entry.canonical ?? entry;
      return { low, high };
    }
    default:
      return undefined;
  }
}
