import { compareText } from '../../search/query/compare-text.js';
import type { Access } from '../scopes/access.js';
import { printScopes, reduceScopes } from '../scopes/reduce.js';
import type { Scope } from '../scopes/scope.js';

/** Scopes that a request needs, for the answer to one that lacks some: of data, and custom ones. */
export interface NeededScopes {
  readonly scopes: readonly Scope[];
  readonly customs: readonly string[];
}

/** Nothing is needed. */
export const NONE_NEEDED: NeededScopes = { scopes: [], customs: [] };

/** Longest text of them, in characters: it goes into a header. */
const MAX_TEXT = 2000;

/** All that several requests need, as those of a transaction. */
export function uniteNeeded(all: readonly NeededScopes[]): NeededScopes {
  return { scopes: all.flatMap(({ scopes }) => scopes), customs: all.flatMap(({ customs }) => customs) };
}

/** These letters on a type, or on `*`, unconstrained. */
export function neededOn(type: string, letters: string): NeededScopes {
  return { scopes: [{ type, letters, pairs: [] }], customs: [] };
}

/** Returns the needed scopes that a token lacks. A letter that the token has under a constraint is not lacking. */
export function lackedOf({ scopes, customs }: NeededScopes, access: Access): NeededScopes {
  const lacked = ({ type, letters }: Scope): string =>
    [...letters].filter((letter) => access.on(type, letter) === 'nothing').join('');
  return {
    scopes: scopes.map((scope) => ({ ...scope, letters: lacked(scope) })).filter(({ letters }) => letters !== ''),
    customs: customs.filter((custom) => !access.holds(custom)),
  };
}

/**
 * As one text, for `scope` in `WWW-Authenticate`: the fewest scopes, in the order of types, custom ones last. Alike for the
 * same needs in another order. Letters of too many types are reported as those of `*`. https://www.rfc-editor.org/rfc/rfc6750#section-3
 */
export function printNeeded({ scopes, customs }: NeededScopes): string {
  let data = printScopes(reduceScopes(scopes, []));
  const letters = lettersByNumber(scopes);
  for (let most = 1; data.length > MAX_TEXT && most <= letters.length; most++) {
    const wide = neededOn('*', letters.slice(0, most).join('')).scopes;
    data = printScopes(reduceScopes([...scopes, ...wide], []));
  }
  return [data, ...[...new Set(customs)].sort()].filter((text) => text !== '').join(' ');
}

/** The letters that are needed, those of most types first. */
function lettersByNumber(scopes: readonly Scope[]): readonly string[] {
  const typesOf = new Map<string, Set<string>>();
  for (const { type, letters } of scopes) {
    for (const letter of letters) typesOf.set(letter, (typesOf.get(letter) ?? new Set()).add(type));
  }
  const sizes = [...typesOf].map(([letter, { size }]) => ({ letter, size }));
  return sizes.sort((a, b) => b.size - a.size || compareText(a.letter, b.letter)).map(({ letter }) => letter);
}
