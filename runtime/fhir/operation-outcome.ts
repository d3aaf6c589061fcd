import { ERRORS, type FhirError, type Issue } from './errors.js';
import type { JsonObject, Resource } from './resource.js';

/** Code system of our stable codes, in `OperationOutcome.issue.details.coding`. */
export const ERROR_SYSTEM = 'urn:kiln:error';

/** Code system of the keys of rules: `dom-3`, or what a rule is about: `binding`. */
export const RULE_SYSTEM = 'urn:kiln:rule';

/** Words for a success that has no resource to show. https://hl7.org/fhir/R5/operationoutcome.html */
export function successOutcome(text: string): Resource {
  return informationOutcome(text, 'success');
}

/** Words on work that goes on, or has ended. */
export function noticeOutcome(text: string): Resource {
  return informationOutcome(text, 'informational');
}

function informationOutcome(text: string, code: 'success' | 'informational'): Resource {
  return { resourceType: 'OperationOutcome', issue: [{ severity: 'information', code, ...issueText(text) }] };
}

/**
 * Returns the members of an issue that hold its text: `details`, which is for people, and `diagnostics`, the only one that some
 * clients show.
 *
 * @param coding our stable codes
 */
export function issueText(text: string, coding?: JsonObject[]): JsonObject {
  return { details: { ...(coding && { coding }), text }, diagnostics: text };
}

/** An expected failure as an OperationOutcome, one issue each. https://hl7.org/fhir/R5/operationoutcome.html */
export function errorOutcome(error: FhirError): Resource {
  return { resourceType: 'OperationOutcome', issue: error.issues.map(toIssue) };
}

function toIssue(issue: Issue): JsonObject {
  return {
    severity: issue.severity ?? (ERRORS[issue.code].status >= 500 ? 'fatal' : 'error'),
    code: issue.issue ?? ERRORS[issue.code].issue,
    ...issueText(issue.diagnostics === undefined ? issue.text : `${issue.text} (${issue.diagnostics})`, [
      { system: ERROR_SYSTEM, code: issue.detail ?? issue.code },
      ...(issue.rule === undefined ? [] : [{ system: RULE_SYSTEM, code: issue.rule }]),
      ...(issue.sharing === undefined ? [] : [{ code: issue.sharing }]),
    ]),
    ...(issue.parameter === undefined ? {} : locationOf(issue.parameter)),
    ...(issue.expression === undefined ? {} : { expression: [issue.expression] }),
  };
}

/** A name that can be in every format, and is short enough to be read. */
const NAME = /^[!-~]{1,128}$/;

/**
 * Where a fault of a parameter is. No FHIRPath leads there, so that it is in the older element.
 * https://hl7.org/fhir/R5/operationoutcome-definitions.html#OperationOutcome.issue.location
 */
export function locationOf(parameter: string): { readonly location?: string[] } {
  return NAME.test(parameter) ? { location: [`http.${parameter}`] } : {};
}
