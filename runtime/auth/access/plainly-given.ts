import type { ScopeCondition, ScopeNeed, ScopeRow } from '../../contract/rest.js';
import type { Access } from '../scopes/access.js';

/**
 * Whether scopes without constraints give all that a row needs on the type in the URL. `decide` would say the same, with
 * nothing narrowed; most requests are of this kind, and are decided before and after their body is read.
 *
 * @param brings whether the request is known to bring what a condition asks for
 * @returns false: it takes `decide` to know
 */
export function isPlainlyGiven(
  { needs, admin }: ScopeRow,
  type: string | undefined,
  access: Access,
  brings: (condition: ScopeCondition) => boolean,
): boolean {
  if (type === undefined || admin !== undefined) return false;
  let isMet = false;
  for (const need of needs) {
    // What comes along is filtered where it is shown: it refuses nothing.
    if (need.on === 'filter') continue;
    if (need.when !== undefined && !brings(need.when)) continue;
    if (!isPlain(need) || !access.isWhole(type, need.letters ?? '')) return false;
    isMet = true;
  }
  return isMet;
}

function isPlain({ on, when, anyOf }: ScopeNeed): boolean {
  return on === 'type' && when === undefined && anyOf === undefined;
}
