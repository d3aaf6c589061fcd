import { canonicalScopes } from './canonical.js';
import type { Dialect } from './dialect.js';
import { give, type GivenScopes } from './give.js';
import { readScopes, type ScopeRules } from './read-scopes.js';
import { printScopes, reduceScopes, type Withheld } from './reduce.js';
import type { Scope } from './scope.js';
import { spellScopes } from './spell.js';

/** Scopes that a client was registered with. */
export interface RegisteredScopes {
  /** Read in the client's dialect, as its requests are. */
  readonly scope: string;
  readonly dialect?: Dialect;
}

/** Scopes that a token gives, in two spellings. */
export interface GrantedScopes {
  /** The fewest v2 scopes, and custom ones after them, in their order: what is enforced. Ends up in every request. */
  readonly canonical: string;
  /** The same, each scope as it was asked for where that says exactly what is given: for the client to read. */
  readonly spelled: string;
}

/**
 * Longest texts of a grant, in characters: a token with the first stays below 4 KiB. What a request asks for beyond it is
 * not given; a spelling beyond the second is the canonical one.
 */
export const GRANT_LIMITS = { canonical: 2400, spelled: 4096 };

/** Scopes that all requested ones may come to, before they are joined; the rest of the request is dropped. */
const MAX_SCOPES = 1024;

/**
 * The scopes of a token: what is requested and registered, by type, letter and constraint. Scopes that are unknown, not
 * well formed or out of place are dropped one by one. It never gives what was not asked for, nor what is not registered.
 *
 * @param knows whether there is a resource type of this name
 * @param customs the custom scopes there are; `__a` covers every `__a.b`
 * @param rules without `accepts` no scope with a constraint is given; without `withheld` `*` gives all letters
 * @returns undefined: nothing is left, or there is more text than `SCOPES_LIMITS` admits
 */
export function grantScopes(
  requested: string,
  registered: RegisteredScopes,
  knows: (type: string) => boolean,
  customs: readonly string[],
  rules: Pick<ScopeRules, 'accepts' | 'withheld'> = {},
): GrantedScopes | undefined {
  const all: ScopeRules = { ...rules, knows, customs };
  const { dialect, scope } = registered;
  const { withheld = [] } = rules;
  const asked = readScopes(requested, dialect, all).read;
  const allowed = readScopes(scope, dialect, all).read;
  // Customs always find their place.
  const room = GRANT_LIMITS.canonical - customs.join(' ').length - 1;
  const kept: GivenScopes[] = [];
  let scopes: readonly Scope[] = [];
  let left = MAX_SCOPES;
  for (const each of asked) {
    const given = give(each, allowed, all);
    left -= given.scopes.length;
    if (left < 0) break;
    const fitting = fit(scopes, given.scopes, room, withheld);
    if (fitting.count === 0 && given.customs.length === 0) continue;
    scopes = fitting.scopes;
    const isCut = fitting.count < given.scopes.length;
    kept.push(isCut ? { ...given, scopes: given.scopes.slice(0, fitting.count), isExact: false } : given);
  }
  if (kept.length === 0) return undefined;
  const canonical = canonicalScopes(
    scopes,
    kept.flatMap((given) => given.customs),
    withheld,
  );
  const spelled = spellScopes(kept, dialect, requested);
  return { canonical, spelled: spelled.length > GRANT_LIMITS.spelled ? canonical : spelled };
}

/** As many more scopes, of the first, as there is room for. */
function fit(
  scopes: readonly Scope[],
  more: readonly Scope[],
  room: number,
  withheld: Withheld,
): { readonly scopes: readonly Scope[]; readonly count: number } {
  for (let count = more.length; count > 0; count >>= 1) {
    const all = [...scopes, ...more.slice(0, count)];
    if (printScopes(all).length <= room) return { scopes: all, count };
    const fewest = reduceScopes(all, withheld);
    if (printScopes(fewest).length <= room) return { scopes: fewest, count };
  }
  return { scopes, count: 0 };
}
