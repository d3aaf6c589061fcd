import type { RULE_ERRORS } from '../fhir/catalog/rule-errors.js';
import type { STRUCTURE_ERRORS } from '../fhir/catalog/structure-errors.js';

/** Stable code of a fault in structure, or of a broken rule. */
export type FaultCode = keyof typeof STRUCTURE_ERRORS | keyof typeof RULE_ERRORS | 'not-a-resource';

/** Property names and positions in arrays (from 0) that lead from the resource to a place in its JSON. */
export type JsonPath = readonly (string | number)[];

/** One thing that is wrong with a resource. */
export interface Fault {
  readonly code: FaultCode;
  /** https://hl7.org/fhir/R5/valueset-issue-type.html */
  readonly issue: string;
  /** Where it is, what is wrong, and what would be right. */
  readonly text: string;
  /**
   * The element in the simple FHIRPath that `OperationOutcome.issue.expression` takes: element names (no types of
   * choices) and positions. Of a missing element the place where it should be; of a property that is unknown its
   * own name where that is short and plain, else what holds it.
   */
  readonly expression: string;
  /** Key of the rule that is broken: `dom-3`; absent: it is a fault of structure. */
  readonly key?: string;
  /** The same place in the JSON; of a missing element, what should hold it. */
  readonly path: JsonPath;
}
