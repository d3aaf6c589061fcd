import { SERVER } from '../../auth/scopes/principal.js';
import type { ProfileValidator } from '../../core/services.js';
import { yieldUntil } from '../../fhir/yield-until.js';
import { canonicalUnit, toCanonical } from '../../fhir/ucum/canonical.js';
import type { EvaluateRule } from '../../validate/profiles/profile-deps.js';
import type { FhirTypes } from '../../validate/profiles/fhir-types.js';

const evaluators = new WeakMap<FhirTypes, (request?: object) => EvaluateRule>();

/** See `ProfileValidator`. What validates is loaded with the first resource that has a profile or an extension. */
export const validateByProfiles: ProfileValidator = async (subject, canonicals, call, services, how = {}) => {
  const { createRuleEvaluator, validateProfiles, openContext, isMember, isCodeOf, targetFinder } = await (loaded ??=
    load());
  const { types, profile, whyUnusable } = services.profiles;
  const evaluator = evaluators.get(types) ?? createRuleEvaluator(services.tables);
  evaluators.set(types, evaluator);
  let context: ReturnType<typeof openContext> | undefined;
  const { hasAllValueSets, ...options } = how;
  // The operator's setting requires the profile of all clients, so that its value sets count for all; targets of references do not.
  const looking = hasAllValueSets === true ? { ...call, principal: SERVER } : call;
  return validateProfiles(subject, canonicals, {
    ...(whyUnusable !== undefined && { whyUnusable }),
    ...{ types, profile, pace: yieldUntil(call.signal), ...options },
    // Entries of a Bundle have the signal of the request in common.
    beginRules: () => evaluator(call.signal),
    bindings: {
      isMember(valueSet, { system, code, isPlain }) {
        context ??= openContext(looking, services);
        return isPlain === true ? isCodeOf(valueSet, code, context) : isMember(valueSet, system, code, context);
      },
    },
    toCanonicalUnit,
    resolve: targetFinder(subject, call, services),
  });
};

/** See `ProfileDeps`. */
function toCanonicalUnit(value: number, code: string): { readonly value: number; readonly unit: string } | undefined {
  const canonical = canonicalUnit(code);
  return canonical === undefined ? undefined : { value: toCanonical(value, canonical), unit: canonical.unit };
}

let loaded: ReturnType<typeof load> | undefined;

async function load() {
  const [{ createRuleEvaluator }, { validateProfiles }, { openContext }, { isCodeOf, isMember }, { targetFinder }] =
    await Promise.all([
      import('../../validate/profiles/evaluate-rule.js'),
      import('../../validate/profiles/validate-profiles.js'),
      import('../../terminology/operations/context.js'),
      import('./validate-bindings.js'),
      import('../../core/validation/stored-targets.js'),
    ]);
  return { createRuleEvaluator, validateProfiles, openContext, isCodeOf, isMember, targetFinder };
}
