import { coversCustom } from './custom.js';
import { SCOPES_LIMITS, type ReadScope, type ScopeRules } from './read-scopes.js';
import { intersectScopes, reduceScopes } from './reduce.js';
import { printScope, type Scope } from './scope.js';

/** Scopes that are given for one requested scope. */
export interface GivenScopes {
  /** As it was requested. */
  readonly text: string;
  readonly scopes: readonly Scope[];
  readonly customs: readonly string[];
  /** Whether that is all of what it asks for. */
  readonly isExact: boolean;
}

/** Returns what a requested scope and all registered ones have in common. */
export function give(asked: ReadScope, registered: readonly ReadScope[], rules: ScopeRules): GivenScopes {
  const { text } = asked;
  if ('scope' in asked) return { text, customs: [], ...giveScopes(asked.scope, registered, rules) };
  const held = registered.flatMap((each) => ('custom' in each ? [each.text] : []));
  const isExact = held.some((each) => coversCustom(each, text));
  return { text, scopes: [], customs: isExact ? [text] : held.filter((each) => coversCustom(text, each)), isExact };
}

function giveScopes(
  asked: Scope,
  registered: readonly ReadScope[],
  rules: ScopeRules,
): Pick<GivenScopes, 'scopes' | 'isExact'> {
  const { withheld = [] } = rules;
  const found: Scope[] = [];
  for (const each of registered) {
    const both = 'scope' in each ? intersectScopes(asked, each.scope, withheld) : undefined;
    if (both !== undefined && isSayable(both, rules)) found.push(both);
  }
  const scopes = reduceScopes(found, withheld);
  return { scopes, isExact: scopes.length === 1 && printScope(scopes[0]!) === printScope(asked) };
}

/** Two constraints together may ask more than one scope can say. */
function isSayable(scope: Scope, { accepts }: ScopeRules): boolean {
  if (scope.pairs.length > SCOPES_LIMITS.pairs || printScope(scope).length > SCOPES_LIMITS.scope) return false;
  return scope.pairs.every(([name, value]) => accepts?.(scope.type, name, value) === true);
}
