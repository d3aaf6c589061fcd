import type { SearchRow } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import { nearest } from '../../fhir/nearest.js';
import { ownMember } from '../../fhir/own-member.js';
import { FORM, INCLUDE_PARAMETERS, LINK_PARAMETERS, RESULT_PARAMETERS } from '../control-parameters.js';
import { isSearchable, NO_CRITERIA, OF_THEIR_OWN } from '../../indexing/parameter-kinds.js';
import { memoizeWeak } from '../../fhir/memory/memoize.js';
import { clip, quote } from '../../fhir/quote.js';

/** What is about the answer as a whole. */
const OF_THE_ANSWER: readonly string[] = [...Object.keys(RESULT_PARAMETERS), ...FORM];

/** What else a search takes that begins so: listed nowhere, but perhaps meant. */
const NOT_CRITERIA = [...OF_THE_ANSWER, ...Object.keys(INCLUDE_PARAMETERS), ...Object.keys(LINK_PARAMETERS)];

/** No search of a type knows this parameter: which ones it knows. @param isListed whether one may be where this is */
export function unknownParameter(
  name: string,
  code: string,
  rows: ReadonlyMap<string, SearchRow>,
  isListed: (code: string) => boolean = () => true,
): FhirError {
  if (name !== code && OF_THE_ANSWER.includes(code)) return noModifiers(name, code);
  const special = wordsOf(code);
  if (special !== undefined) return special;
  const codes = codesOf(rows).filter(isListed);
  const meant =
    code.length > 64 ? undefined : nearest(code, code.startsWith('_') ? [...codes, ...NOT_CRITERIA] : codes);
  const text = `Unknown parameter ${quote(name)}; ${meant === undefined ? '' : `did you mean ${quote(meant)}? `}valid here: ${codes.join(', ')}`;
  return new FhirError('parameter-unknown', text);
}

/**
 * Suggests codes in place of an unknown one: the nearest code, and the first of all valid ones. Those of all types
 * (`_id`) are left out of the list where there are others.
 */
export function suggest(code: string, codes: readonly string[]): string {
  const meant = code.length > 64 || codes.length > MANY ? undefined : nearest(code, codes);
  const own = codes.filter((each) => !each.startsWith('_'));
  const list = some(own.length === 0 ? codes : own);
  return `${meant === undefined ? '' : `did you mean ${quote(meant)}? `}valid there: ${list}`;
}

/** Comparing a word with more than these takes too long for a message. */
const MANY = 400;

/** The first of a list, and how many more there are. */
export function some(words: readonly string[], most = 20): string {
  const more = words.length - most;
  return more > 0 ? `${words.slice(0, most).join(', ')} and ${more} more` : words.join(', ');
}

/** The parameter is there, and nothing searches by it yet. */
export function notYet(code: string): FhirError {
  const special = wordsOf(code);
  return special ?? new FhirError('parameter-unknown', `The parameter ${quote(code)} is not supported yet`);
}

/**
 * Returns the error for a parameter that is not one of single types, which says what the parameter is; undefined: it
 * may be one of single types.
 */
export function wordsOf(code: string): FhirError | undefined {
  const words = OF_THE_ANSWER.includes(code) ? OF_THE_WHOLE : ownMember(NO_CRITERIA, code);
  return words === undefined ? undefined : new FhirError('parameter-unknown', `The parameter ${quote(code)} ${words}`);
}

const OF_THE_WHOLE = 'is about the whole answer, and no criterion: it is a parameter by itself';

/** @param name `code:modifier` */
export function noModifiers(name: string, code: string): FhirError {
  const text = `The parameter ${quote(code)} takes no modifiers; it has ${clip(name.slice(code.length))}`;
  return new FhirError('modifier-unknown', text);
}

/** Codes, and other names, that searches go by, in code-point order. */
export const codesOf = memoizeWeak((rows: ReadonlyMap<string, SearchRow>): readonly string[] => {
  const searchable = [...rows].filter(([, row]) => isSearchable(row) || Object.hasOwn(OF_THEIR_OWN, row.code));
  return searchable.map(([code]) => code).sort();
});
