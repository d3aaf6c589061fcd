import { readWord, type Dialect } from './dialect.js';
import { parseScope, SCOPE_LIMITS } from './parse-scope.js';
import type { Withheld } from './reduce.js';
import type { Scope } from './scope.js';

/** Most characters and scopes of a list that are read, longest single scope, in characters, and most pairs of it. */
export const SCOPES_LIMITS = {
  characters: 8192,
  count: 256,
  scope: SCOPE_LIMITS.characters,
  pairs: SCOPE_LIMITS.pairs,
};

/** Rules that decide which scopes exist. */
export interface ScopeRules {
  /** Whether there is a resource type of this name. */
  readonly knows: (type: string) => boolean;
  /** Names of the custom scopes there are. */
  readonly customs: readonly string[];
  /** Whether a pair can be in a constraint on a type (`*`: on all); absent: none can. */
  readonly accepts?: (type: string, name: string, value: string) => boolean;
  /** Letters that `*` does not give on a type. */
  readonly withheld?: Withheld;
}

/** A scope of a list that is understood. */
export type ReadScope = { readonly text: string } & ({ readonly scope: Scope } | { readonly custom: true });

/** A list of scopes, as it was understood. */
export interface ReadScopes {
  /** In their order, each spelling once. */
  readonly read: readonly ReadScope[];
  /** Those that mean nothing here. */
  readonly dropped: readonly string[];
}

/**
 * Reads a list of scopes separated by spaces, as a request and a registration have it. Of more scopes than `SCOPES_LIMITS`
 * admits the rest is dropped, of a longer text all. https://www.rfc-editor.org/rfc/rfc6749#section-3.3
 */
export function readScopes(text: string, dialect: Dialect | undefined, rules: ScopeRules): ReadScopes {
  // A part of it might say more than the whole.
  if (text.length > SCOPES_LIMITS.characters) return { read: [], dropped: [] };
  const texts = [...new Set(text.split(' '))].filter((each) => each !== '');
  const word = readWord(dialect, texts);
  const read: ReadScope[] = [];
  const dropped: string[] = [];
  for (const each of texts) {
    const meaning = read.length < SCOPES_LIMITS.count ? understand(each) : undefined;
    if (meaning === undefined) dropped.push(each);
    else read.push(meaning);
  }
  return { read, dropped };

  function understand(each: string): ReadScope | undefined {
    if (rules.customs.includes(each)) return { text: each, custom: true };
    const scope = parseScope(each, word);
    if (scope === undefined || (scope.type !== '*' && !rules.knows(scope.type))) return undefined;
    const isKnown = ([name, value]: Scope['pairs'][number]): boolean =>
      rules.accepts?.(scope.type, name, value) === true;
    return scope.pairs.every(isKnown) ? { text: each, scope } : undefined;
  }
}
