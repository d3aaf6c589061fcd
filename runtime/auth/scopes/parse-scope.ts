import { WORDS, type ReadWord } from './dialect.js';
import { sortPairs, type Pair, type Scope } from './scope.js';

/** Longest scope that is read, in characters, and most pairs of its constraint. */
export const SCOPE_LIMITS = { characters: 1024, pairs: 16 };

/** What a scope may consist of. https://www.rfc-editor.org/rfc/rfc6749#section-3.3 */
const SCOPE_TEXT = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

const TYPE_FORM = /^(?:\*|[A-Z][A-Za-z]*)$/;

const FORM = /^system\/(\*|[A-Z][A-Za-z]*)\.([a-z]+|\*)(?:\?(.+))?$/;

/** Letters in their order, each once. Words are looked at first, so that `.read` never becomes `d`. */
const LETTER_FORM = /^c?r?u?d?s?$/;

/**
 * Reads one scope of any dialect. A constraint follows letters only.
 *
 * @param read what `.read` means in the list that it is in
 * @returns undefined where it is none: another context than `system/`, letters that are unknown, repeated or out of order,
 * what is not encoded well or lies beyond `SCOPE_LIMITS`
 */
export function parseScope(text: string, read: ReadWord): Scope | undefined {
  const scope = readScope(text, read);
  return typeof scope === 'string' ? undefined : scope;
}

/** As `parseScope`; where it is none, what is wrong with it, in words that follow the scope. */
export function readScope(text: string, read: ReadWord): Scope | string {
  if (text.length > SCOPE_LIMITS.characters) return `is longer than ${SCOPE_LIMITS.characters} characters`;
  if (!SCOPE_TEXT.test(text))
    return 'has characters other than printable ASCII, or a quote or backslash: percent-encode them';
  const [, type, rights = '', constraint] = FORM.exec(text) ?? [];
  if (type === undefined) return formFault(text);
  const word = rights === 'read' ? read : Object.hasOwn(WORDS, rights) ? WORDS[rights] : undefined;
  const letters = word ?? (LETTER_FORM.test(rights) ? rights : undefined);
  if (letters === undefined) return `has ".${rights}", ${LETTERS_HINT}`;
  if (constraint === undefined) return { type, letters, pairs: [] };
  if (word !== undefined)
    return `has a constraint behind ".${rights}", and a constraint follows letters only: .${letters}?…`;
  const pairs = readPairs(constraint);
  return typeof pairs === 'string' ? pairs : { type, letters, pairs };
}

const LETTERS_HINT =
  'and not some of the letters cruds, each once and in that order (nor read, search, create, write, *)';

function formFault(text: string): string {
  if (!text.startsWith('system/')) return 'does not begin with system/, as every scope of a program does';
  if (!/^system\/[^.?]+\.[^?]/.test(text)) return 'has no letters behind its type, as in system/Patient.rs';
  if (text.endsWith('?')) return 'has nothing behind its "?"';
  const [, type = '', rights = ''] = /^system\/([^.?]+)\.([^?]+)/.exec(text) ?? [];
  return TYPE_FORM.test(type)
    ? `has ".${rights}", ${LETTERS_HINT}`
    : `has ${JSON.stringify(type)} where a type or * is`;
}

/** A plus sign stands for itself: scopes are percent-encoded, not written as a form. */
function readPairs(text: string): readonly Pair[] | string {
  const parts = text.split('&');
  if (parts.length > SCOPE_LIMITS.pairs) return `has more than ${SCOPE_LIMITS.pairs} constraints`;
  const pairs: Pair[] = [];
  for (const part of parts) {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/.exec(part) ?? [];
    if (name === '') return `has "${part}" where a constraint is: parameter=value, neither of them empty`;
    try {
      pairs.push([decodeURIComponent(name), decodeURIComponent(value)]);
    } catch {
      return `has a constraint that is not percent-encoded well: ${part}`;
    }
  }
  return sortPairs(pairs);
}
