import type { CodesCriterion, CodeSet } from '../query/query.js';
import { readValue, splitAt, unescape, ValueError } from './parse-value.js';

/** Modifiers of tokens that ask a terminology service what the codes are. https://hl7.org/fhir/R5/search.html#modifiers */
export const CODE_MODIFIERS = ['in', 'not-in', 'above', 'below'] as const;

/** One of them. */
export type CodeModifier = (typeof CODE_MODIFIERS)[number];

/** Whether a modifier is one of those. */
export function isCodeModifier(modifier: string): modifier is CodeModifier {
  return (CODE_MODIFIERS as readonly string[]).includes(modifier);
}

/**
 * Reads `code:in=http://…/ValueSet/x`, `code:in=ValueSet/x`, `code:below=system|code`.
 *
 * @throws FhirError `parameter-invalid`
 */
export function parseCodes(
  param: string,
  modifier: CodeModifier,
  parts: readonly string[],
  label: string,
): CodesCriterion {
  const codes = parts.map((part) => readValue(label, part, () => readSet(part, modifier)));
  return { param, codes, isNot: modifier === 'not-in' };
}

function readSet(part: string, modifier: CodeModifier): CodeSet {
  if (modifier === 'in' || modifier === 'not-in') return { is: 'in', valueSet: unescape(part) };
  const [system, code, ...others] = splitAt(part, '|').map(unescape);
  if (system === undefined || system === '' || code === undefined || code === '' || others.length > 0) {
    throw new ValueError(`takes system|code with :${modifier}: the code system says what is ${modifier} a code`);
  }
  return { is: modifier, system, code };
}
