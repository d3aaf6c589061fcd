import type { RULE_ERRORS } from '../fhir/catalog/rule-errors.js';
import type { STRUCTURE_ERRORS } from '../fhir/catalog/structure-errors.js';
import type { Issue, JsonPath } from '../fhir/errors.js';

/** Stable code of a fault in structure, or of a broken rule. */
export type FaultCode = keyof typeof STRUCTURE_ERRORS | keyof typeof RULE_ERRORS | 'not-a-resource';

/** One thing that is wrong with a resource, or that validation has to say of it. `rule` is absent for faults of structure. */
export interface Fault extends Issue {
  readonly code: FaultCode;
  readonly issue: string;
  /**
   * The element in the simple FHIRPath that `OperationOutcome.issue.expression` takes: element names (no types of
   * choices) and positions. Of a missing element the place where it should be; of a property that is unknown its
   * own name where that is short and plain, else what holds it.
   */
  readonly expression: string;
  readonly path: JsonPath;
}
