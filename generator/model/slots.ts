import { SORT_SLOTS, type SearchType } from '../../runtime/contract/index.js';
import type { SearchTableModel } from './model.js';

/** Kinds of parameters that have one sortable value each; tokens and references sort by their index entries. */
const SORTABLE: readonly SearchType[] = ['string', 'date', 'number', 'quantity'];

/**
 * Assigns a slot to each sortable parameter of a type, in order of codes. Parameters of Resource and DomainResource are
 * numbered from the top down, so that they have the same slots in all types and do not collide with those of a type. The number of a
 * union stays free, for it had one before unions were known: databases have the others by theirs.
 */
export function assignSlots(tables: readonly SearchTableModel[]): SearchTableModel[] {
  let top = SORT_SLOTS;
  const inherited = new Set(tables.flatMap((table) => table.base ?? []));
  return tables.map((table) => {
    let bottom = 0;
    return {
      ...table,
      parameters: table.parameters.map((parameter) => {
        if (!SORTABLE.includes(parameter.type) || parameter.paths.length === 0) return parameter;
        const slot = inherited.has(table.type) ? --top : bottom++;
        return parameter.unionOf === undefined ? { ...parameter, slot } : parameter;
      }),
    };
  });
}
