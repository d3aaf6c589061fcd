import type { SearchRow } from '../../contract/search.js';
import { hasDisplays } from '../text/displays.js';
import { CONTENT, NARRATIVE } from '../text/parameters.js';

/** Modifiers by which tokens and references are found by the text beside them. https://hl7.org/fhir/R5/search.html#modifiers */
export const TEXT_MODIFIERS: readonly string[] = ['text', 'text-advanced'];

/** Whether a parameter is asked for words: `_text`, `_content`, and whatever is a narrative. */
export function isWords({ code, type, paths }: Pick<SearchRow, 'code' | 'type' | 'paths'>): boolean {
  if (code === CONTENT || code === NARRATIVE) return true;
  return (
    type === 'special' && paths.length > 0 && paths.every(({ types }) => types.every((each) => each === 'Narrative'))
  );
}

/** Whether a parameter with this modifier (`''`: none) is asked for words. */
export function takesWords(row: Pick<SearchRow, 'code' | 'type' | 'paths'>, modifier: string): boolean {
  if (isWords(row)) return modifier === '';
  if (row.type !== 'token' && row.type !== 'reference') return false;
  // What the library evaluates tells of no text beside its values.
  if (!TEXT_MODIFIERS.includes(modifier) || row.paths.some(({ library }) => library === true)) return false;
  return row.paths.some(({ types }) => types.some(hasDisplays));
}
