import { ExpressionError } from '../expression/expression-error.js';
import { RegexFault, regexOf, type LinearRegex } from './linear-regex.js';
import { spend, spendReading, spendText, TEXT_IN_A_VALUE, TooCostly, type Environment } from './environment.js';
import type { Evaluate, MakeFunction, RunFunction } from './function-types.js';
import { NONE, ofBoolean, ofNumber, ofText, toNumber, toText, type Items } from './item.js';
import { memoize } from '../../fhir/memory/memoize.js';

const NOTHING: Evaluate = () => NONE;

/** Functions on texts. Of anything but one text they result in nothing. http://hl7.org/fhirpath/N1/#string-manipulation */
export const TEXT_FUNCTIONS: readonly (readonly [string, MakeFunction])[] = [
  ['startsWith', withText((text, other) => ofBoolean(text.startsWith(other)))],
  ['endsWith', withText((text, other) => ofBoolean(text.endsWith(other)))],
  ['contains', withText((text, other) => ofBoolean(text.includes(other)))],
  ['indexOf', withText((text, other) => ofNumber(text.indexOf(other)))],
  ['matches', withText(matching('matchesPart', (pattern) => pattern))],
  ['matchesFull', withText(matching('matchesAll', (pattern) => `^(?:${pattern})$`))],
  ['length', () => onText((text) => ofNumber(text.length))],
  ['upper', () => onText((text) => ofText(text.toUpperCase()))],
  ['lower', () => onText((text) => ofText(text.toLowerCase()))],
  ['trim', () => onText((text) => ofText(text.trim()))],
  [
    'split',
    ([separator = NOTHING]) =>
      (input, environment, outer) => {
        const [text, by] = [toText(input), toText(separator(outer, environment))];
        if (text === undefined || by === undefined) return NONE;
        spendReading(environment, text);
        const parts = text.split(by);
        spend(environment, parts.length);
        return parts.flatMap(ofText);
      },
  ],
  [
    'join',
    ([separator = NOTHING]) =>
      (input, environment, outer) => {
        const texts = input.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
        if (input.length === 0) return NONE;
        const between = toText(separator(outer, environment)) ?? '';
        spendText(
          environment,
          texts.reduce((sum, { length }) => sum + length + between.length, 0),
        );
        return ofText(texts.join(between));
      },
  ],
  [
    'toChars',
    () => (input, environment) =>
      onText((text) => {
        spend(environment, text.length);
        return [...text].flatMap(ofText);
      })(input, environment, input),
  ],
  [
    'substring',
    ([start = NOTHING, length]) =>
      (input, environment, outer) => {
        const text = toText(input);
        const from = toNumber(start(outer, environment));
        if (text === undefined || from === undefined || from < 0 || from >= text.length) return NONE;
        spend(environment, text.length / TEXT_IN_A_VALUE);
        const count = length === undefined ? undefined : toNumber(length(outer, environment));
        return ofText(text.slice(from, count === undefined ? undefined : from + Math.max(0, count)));
      },
  ],
  [
    'replace',
    ([pattern = NOTHING, substitute = NOTHING]) =>
      (input, environment, outer) => {
        const [text, from, to] = [toText(input), toText(pattern(outer, environment)), toText(substitute(outer, environment))]; // prettier-ignore
        if (text === undefined || from === undefined || to === undefined) return NONE;
        spendReading(environment, text);
        spendText(environment, text.length + countOf(from, text) * (to.length - from.length));
        return ofText(text.replaceAll(from, () => to));
      },
  ],
  [
    'replaceMatches',
    ([pattern = NOTHING, substitute = NOTHING]) =>
      (input, environment, outer) => {
        // What a pattern of a client makes is not bounded here.
        if (environment.isDefinition !== true) throw new ExpressionError('replaceMatches() is not supported here');
        const [text, from, to] = [toText(input), toText(pattern(outer, environment)), toText(substitute(outer, environment))]; // prettier-ignore
        if (text === undefined || from === undefined || to === undefined) return NONE;
        return ofText(text.replaceAll(new RegExp(patternOf(from).source, 'gs'), to));
      },
  ],
];

function onText(work: (text: string) => Items): RunFunction {
  return (input, environment) => {
    const text = textOf(input, environment);
    if (text === undefined) return NONE;
    spend(environment, text.length / TEXT_IN_A_VALUE);
    return work(text);
  };
}

/** The text of the only item; several items, or another value, are a mistake. */
function textOf(input: Items, environment: Environment): string | undefined {
  const text = toText(input);
  if (text === undefined && input.some(({ value }) => value !== undefined)) environment.isMistaken = true;
  return text;
}

/** How often a part is in a text, without overlap; nothing is before each code unit, and at the end. */
function countOf(part: string, text: string): number {
  if (part === '') return text.length + 1;
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

function withText(work: (text: string, other: string, environment: Environment) => Items): MakeFunction {
  return ([argument = NOTHING]) =>
    (input, environment, outer) => {
      // Before the argument: a pattern that nothing is matched with need not be compiled.
      const text = textOf(input, environment);
      const other = text === undefined ? undefined : toText(argument(outer, environment));
      if (text === undefined || other === undefined) return NONE;
      spendReading(environment, text);
      spendReading(environment, other);
      return work(text, other, environment);
    };
}

/**
 * Matches regular expressions: those of others than the definitions in linear time, which counts.
 *
 * @param native the pattern as one of JavaScript
 */
function matching(how: keyof LinearRegex, native: (pattern: string) => string) {
  return (text: string, pattern: string, environment: Environment): Items => {
    if (environment.isDefinition === true) return ofBoolean(patternOf(native(pattern)).test(text));
    const effort = { left: environment.budget * STEPS_IN_A_VALUE };
    try {
      return ofBoolean(regexOf(pattern, effort)[how](text, effort));
    } catch (error) {
      if (!(error instanceof RegexFault)) throw error;
      if (effort.left < 0) throw new TooCostly(error.message);
      // The message reaches the log, and the pattern may be of the resource.
      throw new ExpressionError(`a pattern of ${pattern.length} characters is no regular expression of RE2`);
    } finally {
      environment.budget = Math.floor(Math.max(0, effort.left) / STEPS_IN_A_VALUE);
    }
  };
}

/** Steps of a regular expression that cost as much as a value. */
const STEPS_IN_A_VALUE = 10;

/** Most patterns that are kept: rules have a few dozen. */
const KEPT = 500;

/** A pattern of the definitions, compiled once. A dot matches line ends, too. */
const patternOf = memoize((text: string): RegExp => {
  try {
    return new RegExp(text, 's');
  } catch {
    throw new ExpressionError(`${JSON.stringify(text)} is no regular expression`);
  }
}, KEPT);
