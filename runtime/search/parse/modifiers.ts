import type { SearchRow, SearchType } from '../../contract/search.js';
import { ownMember } from '../../fhir/own-member.js';
import { placesOf, isWords, takesWords, TEXT_MODIFIERS } from '../../indexing/parameter-kinds.js';
import { PREFIXES } from '../query/intervals.js';
import { CODE_MODIFIERS } from './parse-codes.js';
import { HIERARCHY_MODIFIERS, takesHierarchies, type HierarchyContext } from './parse-hierarchy.js';
import { isCanonical, VALUE_PARSERS } from './parse-value.js';

/** Modifiers of what is no index entry but the head of the resource itself. */
export const HEAD_MODIFIERS: Readonly<Record<string, readonly string[]>> = {
  _id: ['missing', 'not'],
  _lastUpdated: ['missing'],
};

/** Modifiers that the specification has, and why they are refused here. */
export const LATER: Readonly<Partial<Record<SearchType, Readonly<Record<string, string>>>>> = {
  reference: {
    'code-text': 'references have no code; what is beside them is found by :text',
    in: 'references have no code',
    'not-in': 'references have no code',
    contains: 'hierarchies are followed by :above and :below, one at a time',
  },
  string: { text: 'words are found by _text and _content' },
  uri: { contains: 'URIs are found by whole segments alone' },
};

/**
 * Modifiers that work with a parameter, `[type]` standing for the names of resource types.
 *
 * @param hierarchy absent: those that follow hierarchies of resources are left out
 */
export function modifiersOf(
  row: Pick<SearchRow, 'code' | 'type' | 'targets' | 'paths'> &
    Partial<Pick<SearchRow, 'url' | 'isStored' | 'modifiers'>>,
  hierarchy?: HierarchyContext,
): readonly string[] {
  const { code, type } = row;
  if (isWords(row)) return [];
  if (type === 'special') return placesOf(row) === undefined ? [] : ['missing'];
  const own = ownMember(HEAD_MODIFIERS, code);
  if (own !== undefined) return own;
  const parsed = Object.keys(VALUE_PARSERS[type] ?? {}).filter((modifier) => modifier !== '');
  const followed = hierarchy !== undefined && takesHierarchies(row, hierarchy) ? HIERARCHY_MODIFIERS : [];
  const codes = hierarchy !== undefined && takesCodes(row) ? CODE_MODIFIERS : [];
  const versions = isCanonical(row) ? ['below'] : [];
  const texts = TEXT_MODIFIERS.filter((modifier) => takesWords(row, modifier));
  return ['missing', ...parsed, ...texts, ...new Set([...versions, ...followed]), ...codes].filter((modifier) =>
    admitsModifier(row, modifier),
  );
}

/** Whether the values of a parameter are codes. */
export function takesCodes({ code, type }: Pick<SearchRow, 'code' | 'type'>): boolean {
  return type === 'token' && ownMember(HEAD_MODIFIERS, code) === undefined;
}

/** Whether the definition of a stored parameter admits a modifier; what is built in admits what works with its type. */
export function admitsModifier(
  { isStored, modifiers }: Partial<Pick<SearchRow, 'isStored' | 'modifiers'>>,
  modifier: string,
): boolean {
  if (isStored !== true || modifiers === undefined) return true;
  return modifiers.includes(modifier === '[type]' || /^[A-Z]/.test(modifier) ? 'type' : modifier);
}

/** Prefixes that the values of a parameter may have, of those that work. */
export function prefixesOf({ isStored, comparators }: Pick<SearchRow, 'isStored' | 'comparators'>): readonly string[] {
  const admitted = isStored === true ? comparators : undefined;
  return admitted === undefined ? PREFIXES : PREFIXES.filter((prefix) => prefix === 'eq' || admitted.includes(prefix));
}
