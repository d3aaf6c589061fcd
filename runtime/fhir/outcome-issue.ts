import { ERROR_SYSTEM, locationOf, issueText } from './operation-outcome.js';
import type { Resource } from './resource.js';

/** Something that a client should know of an answer that is none the less good. */
export interface OutcomeIssue {
  readonly severity: 'warning' | 'information';
  /** https://hl7.org/fhir/R5/valueset-issue-type.html */
  readonly issue: string;
  /** Our stable code. */
  readonly code:
    | 'parameter-ignored'
    | 'parameter-empty'
    | 'index-not-current'
    | 'includes-cut'
    | 'contained-not-searched'
    | 'domain-unknown'
    | 'version-ignored';
  readonly text: string;
  /** Name of the parameter that it is about. */
  readonly parameter?: string;
}

/** Notes as an OperationOutcome. https://hl7.org/fhir/R5/operationoutcome.html */
export function issuesOutcome(notes: readonly OutcomeIssue[]): Resource {
  return {
    resourceType: 'OperationOutcome',
    issue: notes.map(({ severity, issue, code, text, parameter }) => ({
      severity,
      code: issue,
      ...issueText(text, [{ system: ERROR_SYSTEM, code }]),
      ...(parameter === undefined ? {} : locationOf(parameter)),
    })),
  };
}
