import type { ScopeNeed, ScopeRow } from '../../contract/rest.js';
import type { Access } from '../scopes/access.js';
import type { Content } from './content.js';

/**
 * Whether scopes without constraints give all that a row needs on the type in the URL. `decide` would say the same, with
 * nothing narrowed; most requests are of this kind, and are decided before and after their body is read.
 *
 * @returns false: it takes `decide` to know
 */
export function isPlainlyGiven(
  { needs, admin }: ScopeRow,
  type: string | undefined,
  access: Access,
  content: Content,
): boolean {
  if (type === undefined || admin !== undefined) return false;
  let isMet = false;
  for (const need of needs) {
    // What comes along is filtered where it is shown: it refuses nothing.
    if (need.on === 'filter') continue;
    // Absent: it is not known yet, and decided later.
    if (need.when !== undefined && (content[need.when] ?? false) === false) continue;
    if (!isPlain(need) || !access.isWhole(type, need.letters ?? '')) return false;
    isMet = true;
  }
  return isMet;
}

function isPlain({ on, when, anyOf }: ScopeNeed): boolean {
  return on === 'type' && when === undefined && anyOf === undefined;
}
