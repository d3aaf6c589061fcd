import type { JsonObject } from '../fhir/resource.js';

/** https://hl7.org/fhir/tools/CodeSystem-tx-issue-type.html */
const ISSUE_TYPE = 'http://hl7.org/fhir/tools/CodeSystem/tx-issue-type';

/** Issue of a code that was checked. */
export interface CodeIssue {
  readonly severity: 'error' | 'warning' | 'information';
  /** https://hl7.org/fhir/R5/valueset-issue-type.html */
  readonly code: string;
  /** Of the terminology services of HL7. */
  readonly type: string;
  readonly text: string;
  /** FHIRPath. */
  readonly expression: string;
  /** Canonical of what the server does not know. */
  readonly unknown?: string;
}

/** The issue of an OperationOutcome. */
export function toOutcomeIssue({ severity, code, type, text, expression }: CodeIssue): JsonObject {
  return { severity, code, details: { coding: [{ system: ISSUE_TYPE, code: type }], text }, expression: [expression] };
}
