import type { FhirError } from '../../fhir/errors.js';
import type { OutcomeIssue } from '../../fhir/outcome-issue.js';

/** Warnings that are being collected. */
export type WarningList = OutcomeIssue[];

/** The number of warnings is bounded: the answer must not grow with the number of faults in the request. */
const MAX_WARNINGS = 50;

const MORE = /^Ignored: ([0-9]+) more parameters$/;

/** Adds a warning; those beyond the bound are counted in the last one. */
export function addWarning(warnings: WarningList, warning: OutcomeIssue): void {
  if (warnings.length < MAX_WARNINGS) return void warnings.push(warning);
  const last = warnings[MAX_WARNINGS - 1]!;
  const more = Number(MORE.exec(last.text)?.[1] ?? 1) + 1;
  warnings[MAX_WARNINGS - 1] = {
    severity: 'warning',
    issue: last.issue,
    code: 'parameter-ignored',
    text: `Ignored: ${more} more parameters`,
  };
}

/** The warning of a fault that a lenient search ignores. https://hl7.org/fhir/R5/search.html#errors */
export function ignoredWarning(error: FhirError): OutcomeIssue {
  const text = `Ignored: ${error.message}`;
  const [{ parameter }] = error.issues;
  const warning: OutcomeIssue = { severity: 'warning', issue: 'not-supported', code: 'parameter-ignored', text };
  return parameter === undefined ? warning : { ...warning, parameter };
}

/** The note on a parameter without a value. https://hl7.org/fhir/R5/search.html#errors */
export function emptyWarning(name: string): OutcomeIssue {
  const text = `The parameter ${JSON.stringify(name.slice(0, 64))} has no value and was ignored`;
  return { severity: 'information', issue: 'informational', code: 'parameter-empty', text, parameter: name };
}
