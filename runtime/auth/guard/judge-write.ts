import type { Candidate } from '../../search/query/match.js';
import type { Access } from '../scopes/access.js';
import type { Reach } from '../scopes/reach.js';
import { isVisible } from './visible.js';

/** A write, before it is done. */
export interface WriteDemand {
  /** What is there: of a deleted resource the version before its deletion; absent: it never was. */
  readonly stored?: () => Candidate;
  /** What it will be; absent: it is deleted. */
  readonly next?: () => Candidate;
}

/** `unknown`: 404, as for who reads it. `refused`: 403, the new content lies outside. */
export type WriteVerdict = 'allowed' | 'unknown' | 'refused';

/**
 * Judges a write by the constraint of the letter it is done with (`c`, `u` or `d`): what is there and what it will be have to
 * lie within, so that nothing is moved out of its area or into it. What is there comes first, so that nobody learns of it.
 *
 * @param reach `nothing` refuses
 */
export function judgeWrite(reach: Reach, { stored, next }: WriteDemand): WriteVerdict {
  if (reach === 'nothing') return 'refused';
  if (stored !== undefined && !isVisible(reach, stored)) return 'unknown';
  if (next !== undefined && !isVisible(reach, next)) return 'refused';
  return 'allowed';
}

/**
 * Whether the answer to a patch may show the resource: it may hold what the client never saw, so that it has to be one that
 * the client could read. Otherwise the answer is that of `Prefer: return=minimal`.
 */
export function showsPatched(access: Access, type: string, patched: () => Candidate): boolean {
  return isVisible(access.on(type, 'r'), patched);
}
