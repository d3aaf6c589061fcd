import type { Access } from '../../auth/scopes/access.js';
import { FhirError } from '../../fhir/errors.js';
import { isUnresolved } from '../../search/query/criterion.js';
import type { Faults } from '../faults.js';
import { resolveSearch, type MatchServices } from '../match/criteria-test.js';
import type { SearchCriteria } from '../plan.js';

/** Criteria with the element that has them. */
export type PlacedCriteria = readonly [at: string, criteria: SearchCriteria | undefined];

/** Looks up what criteria name (value sets, hierarchies, lists): what cannot be found now would never fire, so that it is a fault. */
export async function checkLookups(
  placed: readonly PlacedCriteria[],
  access: Access,
  faults: Faults,
  services: MatchServices,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const [at, criteria] of placed) {
    if (criteria?.criteria.some(isUnresolved) !== true) continue;
    try {
      await resolveSearch(criteria, access, services, signal);
    } catch (error) {
      if (!(error instanceof FhirError) || error.status >= 500) throw error;
      faults.add(at, `cannot be evaluated: ${error.message}`);
    }
  }
}
