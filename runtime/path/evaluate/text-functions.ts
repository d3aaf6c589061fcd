import { ExpressionError } from '../expression/expression-error.js';
import { spend, type Environment } from './environment.js';
import type { Evaluate, MakeFunction, RunFunction } from './function-types.js';
import { NONE, ofBoolean, ofNumber, ofText, toNumber, toText, type Items } from './item.js';
import { memoize } from '../../fhir/memoize.js';

const NOTHING: Evaluate = () => NONE;

/** Functions on texts. Of anything but one text they result in nothing. http://hl7.org/fhirpath/N1/#string-manipulation */
export const TEXT_FUNCTIONS: readonly (readonly [string, MakeFunction])[] = [
  ['startsWith', withText((text, other) => ofBoolean(text.startsWith(other)))],
  ['endsWith', withText((text, other) => ofBoolean(text.endsWith(other)))],
  ['contains', withText((text, other) => ofBoolean(text.includes(other)))],
  ['indexOf', withText((text, other) => ofNumber(text.indexOf(other)))],
  ['matches', withText((text, pattern) => ofBoolean(patternOf(pattern).test(text)))],
  ['matchesFull', withText((text, pattern) => ofBoolean(patternOf(`^(?:${pattern})$`).test(text)))],
  ['length', () => onText((text) => ofNumber(text.length))],
  ['upper', () => onText((text) => ofText(text.toUpperCase()))],
  ['lower', () => onText((text) => ofText(text.toLowerCase()))],
  ['trim', () => onText((text) => ofText(text.trim()))],
  [
    'split',
    ([separator = NOTHING]) =>
      (input, environment, outer) => {
        const [text, by] = [toText(input), toText(separator(outer, environment))];
        const parts = text === undefined || by === undefined ? [] : text.split(by);
        spend(environment, parts.length);
        return parts.flatMap(ofText);
      },
  ],
  [
    'join',
    ([separator = NOTHING]) =>
      (input, environment, outer) => {
        const texts = input.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
        return input.length === 0 ? NONE : ofText(texts.join(toText(separator(outer, environment)) ?? ''));
      },
  ],
  ['toChars', () => onText((text) => [...text].flatMap(ofText))],
  [
    'substring',
    ([start = NOTHING, length]) =>
      (input, environment, outer) => {
        const text = toText(input);
        const from = toNumber(start(outer, environment));
        if (text === undefined || from === undefined || from < 0 || from >= text.length) return NONE;
        const count = length === undefined ? undefined : toNumber(length(outer, environment));
        return ofText(text.slice(from, count === undefined ? undefined : from + Math.max(0, count)));
      },
  ],
  [
    'replace',
    ([pattern = NOTHING, substitute = NOTHING]) =>
      (input, environment, outer) => {
        const [text, from, to] = [toText(input), toText(pattern(outer, environment)), toText(substitute(outer, environment))]; // prettier-ignore
        return text === undefined || from === undefined || to === undefined ? NONE : ofText(text.replaceAll(from, () => to)); // prettier-ignore
      },
  ],
  [
    'replaceMatches',
    ([pattern = NOTHING, substitute = NOTHING]) =>
      (input, environment, outer) => {
        const [text, from, to] = [toText(input), toText(pattern(outer, environment)), toText(substitute(outer, environment))]; // prettier-ignore
        if (text === undefined || from === undefined || to === undefined) return NONE;
        return ofText(text.replaceAll(new RegExp(patternOf(from).source, 'gs'), to));
      },
  ],
];

function onText(work: (text: string) => Items): RunFunction {
  return (input, environment) => {
    const text = textOf(input, environment);
    return text === undefined ? NONE : work(text);
  };
}

/** The text of the only item; several items, or another value, are a mistake. */
function textOf(input: Items, environment: Environment): string | undefined {
  const text = toText(input);
  if (text === undefined && input.some(({ value }) => value !== undefined)) environment.isMistaken = true;
  return text;
}

function withText(work: (text: string, other: string) => Items): MakeFunction {
  return ([argument = NOTHING]) =>
    (input, environment, outer) => {
      // Before the argument: a pattern that nothing is matched with need not be compiled.
      const text = textOf(input, environment);
      const other = text === undefined ? undefined : toText(argument(outer, environment));
      return text === undefined || other === undefined ? NONE : work(text, other);
    };
}

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
