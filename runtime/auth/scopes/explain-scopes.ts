import type { Tables } from '../../contract/tables.js';
import { didYouMean } from '../../fhir/nearest.js';
import type { ConstraintReader } from './constraint.js';
import { readScope } from './parse-scope.js';
import { SCOPES_LIMITS, type ScopeRules } from './read-scopes.js';

/** Most scopes of a registration that are explained. */
const MOST = 20;

/** Settings by which faults of scopes are explained. */
export interface ScopeFaultSettings {
  readonly rules: Pick<ScopeRules, 'knows' | 'customs'>;
  readonly resourceTypes: Tables['resourceTypes'];
  readonly constraints: Pick<ConstraintReader, 'fault'>;
}

/**
 * Why scopes that a registration drops mean nothing here, one text each, for the person who registers: a token request is
 * never reported. authorization.md §2.9
 */
export function explainScopes(dropped: readonly string[], settings: ScopeFaultSettings): readonly string[] {
  const told = dropped.slice(0, MOST).map((text) => `${text.slice(0, 200)} ${faultOf(text, settings)}`);
  const more = dropped.length - told.length;
  return more > 0 ? [...told, `${more} more`] : told;
}

function faultOf(text: string, { rules, resourceTypes, constraints }: ScopeFaultSettings): string {
  if (text.startsWith('__')) return `is no scope${didYouMean(text, rules.customs)}`;
  // What `.read` means makes no difference to whether it is a scope.
  const scope = readScope(text, 'rs');
  if (typeof scope === 'string') return scope;
  const { type, pairs } = scope;
  if (type !== '*' && !rules.knows(type)) return `names no resource type${didYouMean(type, resourceTypes)}`;
  const faults = pairs.map(([name, value]) => constraints.fault(type, name, value));
  const fault = faults.find((each) => each !== undefined);
  return fault === undefined ? `is one too many: ${SCOPES_LIMITS.count} are read` : `cannot be bound so: ${fault}`;
}
