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

/**
 * As one text, for `scope` in `WWW-Authenticate`: the fewest scopes, in the order of types, custom ones last. Alike for the
 * same needs in another order. Too many types are told as `*`. https://www.rfc-editor.org/rfc/rfc6750#section-3
 */
export function printNeeded({ scopes, customs }: NeededScopes): string {
  const all = printScopes(reduceScopes(scopes, []));
  const wide = scopes.map((scope) => ({ ...scope, type: '*' }));
  const data = all.length <= MAX_TEXT ? all : printScopes(reduceScopes(wide, []));
  return [data, ...[...new Set(customs)].sort()].filter((text) => text !== '').join(' ');
}
