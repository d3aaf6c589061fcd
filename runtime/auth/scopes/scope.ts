import { compareText } from '../../search/query/compare-text.js';

/** The letters of SMART scopes, in their order: create, read, update, delete, search. */
export const LETTERS = 'cruds';

/** A pair of a constraint, both sides without percent-encoding: a search parameter and its value. */
export type Pair = readonly [name: string, value: string];

/**
 * One scope on data: it gives each of its letters on each resource of the type that fulfils all pairs. The type `*` stands
 * for all types. https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html
 */
export interface Scope {
  readonly type: string;
  /** Some of `LETTERS` in their order, one at least. */
  readonly letters: string;
  /** Sorted, each once; none: all resources. */
  readonly pairs: readonly Pair[];
}

/** These letters in their order, each once; what is no letter is left out. */
export function sortLetters(letters: string): string {
  return [...LETTERS].filter((letter) => letters.includes(letter)).join('');
}

/** The letters that both have. */
export function commonLetters(a: string, b: string): string {
  return sortLetters([...a].filter((letter) => b.includes(letter)).join(''));
}

/** The letters of the first that the second lacks. */
export function lettersWithout(a: string, b: string): string {
  return [...a].filter((letter) => !b.includes(letter)).join('');
}

/** Pairs in their order, each once. */
export function sortPairs(pairs: readonly Pair[]): readonly Pair[] {
  const byText = new Map(pairs.map((pair) => [printPair(pair), pair]));
  return [...byText].sort(([a], [b]) => compareText(a, b)).map(([, pair]) => pair);
}

/** The constraint as it is in a scope, after `?`; empty: none. Alike for constraints that are alike. */
export function printPairs(pairs: readonly Pair[]): string {
  return pairs.map(printPair).join('&');
}

/** The scope in its one v2 form. Its characters are those that RFC 6749 §3.3 admits. */
export function printScope({ type, letters, pairs }: Scope): string {
  return `system/${type}.${letters}${pairs.length === 0 ? '' : `?${printPairs(pairs)}`}`;
}

/** Encoded by the first of these, the others stay readable: they mean nothing in a query. */
const READABLE: Readonly<Record<string, string>> = { '%2C': ',', '%7C': '|', '%3A': ':', '%2F': '/', '%24': '$' };

function printPair([name, value]: Pair): string {
  return `${encode(name)}=${encode(value)}`;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(?:2C|7C|3A|2F|24)/g, (code) => READABLE[code] ?? code);
}
