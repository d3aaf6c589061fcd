import type { JsonValue } from '../../fhir/resource.js';
import { PENDING } from './answers.js';
import { codesOf, isAnyMember } from './check-profile-binding.js';
import type { ElementValue } from './item.js';
import type { RuleFocus, RuleLookups } from './profile-deps.js';
import type { ProfileRun } from './profile-run.js';
import { baseType } from './profile-type.js';

/** Returns the lookups of rules in a run. */
export function lookupsOf(run: ProfileRun): RuleLookups {
  return {
    isMember(value, valueSet) {
      const codes = codesOf(itemOf(value));
      return codes === undefined ? undefined : isAnyMember(codes, valueSet, run);
    },
    resolve: (reference) => run.resolve(reference),
    conforms(value, canonical) {
      const url = canonical.split('#')[0] ?? canonical;
      const row = baseType(url, run) ?? run.find(url);
      return row === undefined || row === PENDING ? undefined : run.doesConform(itemOf(value), canonical);
    },
  };
}

function itemOf({ value, beside, type }: RuleFocus): ElementValue {
  return { value: value as JsonValue | undefined, beside: beside as JsonValue | undefined, type };
}
