import { WORDS, type ReadWord } from './dialect.js';
import { sortPairs, type Pair, type Scope } from './scope.js';

/** Longest scope that is read, in characters, and most pairs of its constraint. */
export const SCOPE_LIMITS = { characters: 1024, pairs: 16 };

/** What a scope may consist of. https://www.rfc-editor.org/rfc/rfc6749#section-3.3 */
const SCOPE_TEXT = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

const FORM = /^system\/(\*|[A-Z][A-Za-z]*)\.([a-z]+|\*)(?:\?(.+))?$/;

/** Letters in their order, each once. Words are looked at first, so that `.read` never becomes `d`. */
const LETTER_FORM = /^c?r?u?d?s?$/;

/**
 * Reads one scope of any dialect. A constraint stands behind letters only.
 *
 * @param read what `.read` means in the list that it stands in
 * @returns undefined where it is none: another context than `system/`, letters that are unknown, repeated or out of order,
 * what is not encoded well or lies beyond `SCOPE_LIMITS`
 */
export function parseScope(text: string, read: ReadWord): Scope | undefined {
  if (text.length > SCOPE_LIMITS.characters || !SCOPE_TEXT.test(text)) return undefined;
  const [, type, rights = '', constraint] = FORM.exec(text) ?? [];
  if (type === undefined) return undefined;
  const word = rights === 'read' ? read : Object.hasOwn(WORDS, rights) ? WORDS[rights] : undefined;
  if (constraint === undefined) {
    const letters = word ?? (LETTER_FORM.test(rights) ? rights : undefined);
    return letters === undefined ? undefined : { type, letters, pairs: [] };
  }
  if (word !== undefined || !LETTER_FORM.test(rights)) return undefined;
  const pairs = parsePairs(constraint);
  return pairs === undefined ? undefined : { type, letters: rights, pairs };
}

/** A plus sign stands for itself: scopes are percent-encoded, not written as a form. */
function parsePairs(text: string): readonly Pair[] | undefined {
  const parts = text.split('&');
  if (parts.length > SCOPE_LIMITS.pairs) return undefined;
  const pairs: Pair[] = [];
  for (const part of parts) {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/.exec(part) ?? [];
    if (name === '') return undefined;
    try {
      pairs.push([decodeURIComponent(name), decodeURIComponent(value)]);
    } catch {
      return undefined;
    }
  }
  return sortPairs(pairs);
}
