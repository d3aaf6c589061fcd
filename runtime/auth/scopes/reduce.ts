import type { WithheldLettersRow } from '../../contract/rest.js';
import { compareText } from '../../search/query/compare-text.js';
import { commonLetters, lettersWithout, printPairs, printScope, sortLetters, sortPairs, type Scope } from './scope.js';

/** Letters that `*` does not give on a type. */
export type Withheld = readonly WithheldLettersRow[];

/**
 * The fewest scopes that give the same: those on one type with one constraint are one, and no letter is there twice where
 * a wider scope has it. In the order of types, then of constraints.
 */
export function reduceScopes(scopes: readonly Scope[], withheld: Withheld): readonly Scope[] {
  const joined = new Map<string, Scope>();
  for (const scope of scopes) {
    const key = `${scope.type}?${printPairs(scope.pairs)}`;
    const letters = sortLetters(`${joined.get(key)?.letters ?? ''}${scope.letters}`);
    joined.set(key, { ...scope, letters });
  }
  const all = [...joined.values()];
  return all
    .map((scope) => ({ ...scope, letters: lettersWithout(scope.letters, coveredLetters(scope, all, withheld)) }))
    .filter(({ letters }) => letters !== '')
    .sort((a, b) => compareText(a.type, b.type) || compareText(printPairs(a.pairs), printPairs(b.pairs)));
}

/** Scopes as one text. */
export function printScopes(scopes: readonly Scope[]): string {
  return scopes.map(printScope).join(' ');
}

/**
 * Returns the scope that both give; undefined: they have nothing in common. Constraints of both have to be fulfilled together.
 */
export function intersectScopes(a: Scope, b: Scope, withheld: Withheld): Scope | undefined {
  if (a.type !== b.type && a.type !== '*' && b.type !== '*') return undefined;
  const type = a.type === '*' ? b.type : a.type;
  const letters = commonLetters(lettersOn(a, type, withheld), lettersOn(b, type, withheld));
  return letters === '' ? undefined : { type, letters, pairs: sortPairs([...a.pairs, ...b.pairs]) };
}

/** The letters that a scope gives on a type (`*`: on all), whatever its constraint. */
export function lettersOn(scope: Scope, type: string, withheld: Withheld): string {
  if (scope.type === type) return scope.letters;
  if (scope.type !== '*') return '';
  return lettersWithout(scope.letters, withheld.find((row) => row.type === type)?.letters ?? '');
}

function coveredLetters(scope: Scope, all: readonly Scope[], withheld: Withheld): string {
  return all
    .filter((other) => other !== scope && (other.type === '*' || other.type === scope.type) && isWider(other, scope))
    .map((other) => lettersOn(other, scope.type, withheld))
    .join('');
}

/** Whether a scope asks no more of a resource than another does. */
function isWider(wide: Scope, narrow: Scope): boolean {
  if (wide.pairs.length > narrow.pairs.length) return false;
  return wide.pairs.every(([name, value]) => narrow.pairs.some((pair) => pair[0] === name && pair[1] === value));
}
