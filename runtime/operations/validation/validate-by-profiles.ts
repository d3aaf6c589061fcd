import type { Call } from '../../core/call.js';
import type { ProfileServices, Services } from '../../core/services.js';
import type { Resource } from '../../fhir/resource.js';
import { createRuleEvaluator } from '../../validate/profiles/evaluate-rule.js';
import type { FhirTypes } from '../../validate/profiles/fhir-types.js';
import type { ProfileDeps } from '../../validate/profiles/profile-deps.js';
import { claimedProfiles, validateProfiles } from '../../validate/profiles/validate-profiles.js';
import type { ValidationIssue } from '../../validate/validation-issue.js';
import { openContext } from '../terminology/context.js';
import { isMember } from './validate-bindings.js';

const evaluators = new WeakMap<FhirTypes, () => ProfileDeps['evaluate']>();

/**
 * What is wrong with a resource by the profiles that it claims, and by those that are asked for. Codes are looked up in the value
 * sets that the token may read.
 *
 * @param subject of right structure
 * @param asked canonicals
 */
export async function profileIssues(
  subject: Resource,
  asked: readonly string[],
  profiles: ProfileServices,
  call: Call,
  services: Services,
): Promise<readonly ValidationIssue[]> {
  const names = [...new Set([...claimedProfiles(subject), ...asked])];
  if (names.length === 0) return [];
  const context = openContext(call, services);
  const evaluator = evaluators.get(profiles.types) ?? createRuleEvaluator(profiles.types);
  evaluators.set(profiles.types, evaluator);
  return validateProfiles(subject, names, {
    types: profiles.types,
    profile: profiles.profile,
    evaluate: evaluator(),
    bindings: { isMember: (valueSet, { system, code }) => isMember(valueSet, system, code, context) },
  });
}
