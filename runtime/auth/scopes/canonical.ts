import { compareText } from '../../search/query/compare-text.js';
import { printScopes, reduceScopes, type Withheld } from './reduce.js';
import type { Scope } from './scope.js';

/**
 * Scopes in the one form in which they are enforced: v2 letters, the fewest that give the same, in the order of types and
 * constraints, custom ones after them in their order. It is read as what it was made from, in every dialect.
 */
export function canonicalScopes(scopes: readonly Scope[], customs: readonly string[], withheld: Withheld): string {
  const data = printScopes(reduceScopes(scopes, withheld));
  return [data, ...[...new Set(customs)].sort(compareText)].filter((text) => text !== '').join(' ');
}
