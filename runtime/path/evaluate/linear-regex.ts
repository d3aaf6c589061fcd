import { createRequire } from 'node:module';

import { createBoundedMap } from '../../fhir/memory/bounded-map.js';

/**
 * Regular expressions whose time is linear in the length of the text, whatever the expression: those of RE2. (The expressions of
 * JavaScript go back and try, which can take time without end.) Look-around and back-references are refused.
 * https://github.com/google/re2/wiki/Syntax
 */
export interface LinearRegex {
  /**
   * Whether the expression matches the whole text.
   *
   * @param effort what that may cost, and what is left of it afterwards
   * @throws RegexFault where it costs more
   */
  matchesAll(text: string, effort: Effort): boolean;
  /** Whether it matches a part of the text. @throws RegexFault as `matchesAll` */
  matchesPart(text: string, effort: Effort): boolean;
}

/** Steps that are allowed still: ten million take about a second at worst, and much less most often. */
export interface Effort {
  left: number;
}

/** A text is no regular expression, or one that is not understood, too large, or too costly on a text. */
export class RegexFault extends Error {}

/** Limits: characters of an expression, and states of its automaton. */
const MOST = { pattern: 1000, states: 5000 };

/** What it costs to read a character of an expression and to make a state, in steps. */
const BUILD_STEPS = 10;

/** States that a character of a text is tried on in one step: few of them are reached at once. */
const STATES_IN_A_STEP = 4;

/** An expression of the library. */
interface Compiled {
  testExact(text: string): boolean;
  test(text: string): boolean;
  programSize(): number;
}
interface Library {
  readonly RE2JS: { readonly DOTALL: number; compile(pattern: string, flags: number): Compiled };
}

let loaded: Library['RE2JS'] | undefined;

/** Loaded where it is first needed, which takes 10 ms. */
function library(): Library['RE2JS'] {
  return (loaded ??= (createRequire(import.meta.url)('re2js') as Library).RE2JS);
}

/**
 * Reads a regular expression and builds its automaton.
 *
 * @param effort what that may cost, and what is left of it afterwards
 * @param dot what `.` is: any character, or any but ends of lines
 * @throws RegexFault where the text is no expression, or one that is not understood, too large, or costs more
 */
export function linearRegex(pattern: string, effort: Effort, dot: 'any' | 'in-line' = 'in-line'): LinearRegex {
  if (pattern.length > MOST.pattern) throw new RegexFault(`a regular expression may have ${MOST.pattern} characters`);
  spend(effort, pattern.length * BUILD_STEPS);
  // Before a state is made: each counted repetition multiplies what is in it.
  const size = sizeOf(pattern);
  if (size > MOST.states) {
    const text = `a regular expression may have ${MOST.states} states, and this one has ${size > 1e9 ? 'more than a billion' : size}: {n} and {n,m} multiply what they repeat`;
    throw new RegexFault(text);
  }
  spend(effort, size * BUILD_STEPS);
  const { compile, DOTALL } = library();
  let compiled: Compiled;
  try {
    compiled = compile(pattern, dot === 'any' ? DOTALL : 0);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : '';
    throw new RegexFault(`${JSON.stringify(pattern.slice(0, 128))} is no regular expression: ${why}`);
  }
  const cost = 1 + compiled.programSize() / STATES_IN_A_STEP;
  return {
    matchesAll(text, left) {
      spend(left, text.length * cost);
      return compiled.testExact(text);
    },
    matchesPart(text, left) {
      spend(left, text.length * cost);
      return compiled.test(text);
    },
  };
}

/** @throws RegexFault where more is spent than is left */
function spend(effort: Effort, steps: number): void {
  effort.left -= steps;
  if (effort.left < 0) throw new RegexFault('regular expressions take too long');
}

/** An escape, a class, how often something comes, or a character. */
const PART = /\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gsu;

/** About how many states an expression has, or more: one for each character, as often as it may come. */
function sizeOf(pattern: string): number {
  const open = [0];
  let last = 0;
  const add = (count: number): void => {
    open.push((open.pop() ?? 0) + count);
  };
  for (const [part, least, most] of pattern.matchAll(PART)) {
    if (least !== undefined) {
      const repeated = last * Math.max(1, Number(least), Number(most ?? 0));
      add(repeated - last);
      last = repeated;
    } else if (part === '(') open.push(0);
    else if (part === ')' && open.length > 1) add((last = open.pop() ?? 0));
    else if (!/^[*+?]$/.test(part)) add((last = 1));
  }
  return open.reduce((sum, each) => sum + each, 0);
}

/** Greatest cost of a regular expression of a client: some tenths of a second at worst. */
export const REGULAR_EFFORT = 4_000_000;

/** Compiled expressions that are kept. */
const KEPT = 500;
const compiled = createBoundedMap<LinearRegex>(KEPT);

/** The regular expression of a pattern, whose dot is any character; what was built before costs nothing. @throws RegexFault */
export function regexOf(pattern: string, effort: Effort): LinearRegex {
  let known = compiled.get(pattern);
  if (known === undefined) {
    known = linearRegex(pattern, effort, 'any');
    compiled.set(pattern, known);
  }
  return known;
}
