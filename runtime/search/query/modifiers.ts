import type { SearchRow } from '../../contract/search.js';
import { placesOf } from '../places/place-rows.js';
import { HIERARCHY_MODIFIERS, takesHierarchies, type HierarchyContext } from './parse-hierarchy.js';
import { VALUE_PARSERS } from './parse-value.js';

/** Modifiers of what is no index entry but the head of the resource itself. */
export const HEAD_MODIFIERS: Readonly<Record<string, readonly string[]>> = {
  _id: ['missing', 'not'],
  _lastUpdated: ['missing'],
};

/**
 * Modifiers that work with a parameter, `[type]` standing for the names of resource types.
 *
 * @param hierarchy absent: those that follow hierarchies of resources are left out
 */
export function modifiersOf(
  row: Pick<SearchRow, 'code' | 'type' | 'targets'> & Partial<Pick<SearchRow, 'url'>>,
  hierarchy?: HierarchyContext,
): readonly string[] {
  const { code, type } = row;
  if (type === 'special') return placesOf(row) === undefined ? [] : ['missing'];
  const own = HEAD_MODIFIERS[code];
  if (own !== undefined) return own;
  const parsed = Object.keys(VALUE_PARSERS[type] ?? {}).filter((modifier) => modifier !== '');
  const followed = hierarchy !== undefined && takesHierarchies(row, hierarchy) ? HIERARCHY_MODIFIERS : [];
  return ['missing', ...parsed, ...followed];
}
