import { TooCostly } from '../evaluate/environment.js';
import { linearRegex, type Effort, type LinearRegex } from './linear-regex.js';
import type { OwnFunction } from './library.js';

/** Greatest cost of the regular expressions of all rules on one resource together: some tenths of a second at worst. */
export const REGULAR_EFFORT = 4_000_000;

/** Compiled expressions that are kept. */
const KEPT = 500;
const compiled = new Map<string, LinearRegex>();

/**
 * The functions of FHIRPath that take regular expressions, in linear time: those of JavaScript go back and try, without end if the
 * expression is made for it, and nothing can stop them. Flags and `replaceMatches` are not understood, so that a rule with them
 * cannot be decided. https://hl7.org/fhirpath/N1/#matchesregex-string-boolean
 *
 * @param effort what the expressions may cost at this moment
 */
export function regularFunctions(effort: () => Effort): Readonly<Record<string, OwnFunction>> {
  const matching = (how: keyof LinearRegex): OwnFunction => ({
    fn: (input, pattern, ...flags) => {
      const text = textOf(input);
      if (text === undefined || typeof pattern !== 'string') return [];
      if (flags.length > 0) throw new RangeError('flags of regular expressions are not understood');
      return [within(effort(), (left) => regexOf(pattern, left)[how](text, left))];
    },
    arity: { 1: ['String'], 2: ['String', 'String'] },
  });
  return {
    matches: matching('matchesPart'),
    matchesFull: matching('matchesAll'),
    replaceMatches: {
      fn: () => {
        throw new RangeError('replaceMatches() is not understood');
      },
      arity: { 2: ['String', 'String'] },
    },
  };
}

/** @throws TooCostly where the expressions on a resource cost too much together: to build them counts */
function within<T>(effort: Effort, work: (effort: Effort) => T): T {
  try {
    return work(effort);
  } catch (error) {
    throw effort.left < 0 && error instanceof Error ? new TooCostly(error.message) : error;
  }
}

/** The only value of a collection, a text; undefined: there is none. @throws Error where there are several values, or it is no text */
function textOf(input: readonly unknown[]): string | undefined {
  const [only, other] = input;
  if (only === undefined) return undefined;
  const text = typeof only === 'object' && only !== null && 'data' in only ? only.data : only;
  if (other !== undefined || (typeof text !== 'string' && text !== null)) throw new TypeError('one text is expected');
  return text ?? undefined;
}

/** The regular expression of a pattern, whose dot is any character; what was built before costs nothing. @throws RegexFault */
export function regexOf(pattern: string, effort: Effort): LinearRegex {
  let known = compiled.get(pattern);
  if (known === undefined) {
    known = linearRegex(pattern, effort, 'any');
    if (compiled.size >= KEPT) compiled.clear();
    compiled.set(pattern, known);
  }
  return known;
}
