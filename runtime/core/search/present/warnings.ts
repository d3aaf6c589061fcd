import type { FhirError } from '../../../fhir/errors.js';
import type { OutcomeIssue } from '../../../fhir/outcome-issue.js';
import type { FindPage, IncludePlan } from '../../../store/store.js';

/** Notes that are being collected. */
export type WarningList = OutcomeIssue[];

/** The answer must not grow without bounds with what is wrong in the question. */
const MAX_NOTES = 50;

const MORE = /^Ignored: ([0-9]+) more parameters$/;

/** Adds a note; of those beyond a number it is only told how many they are. */
export function addWarning(notes: WarningList, note: OutcomeIssue): void {
  if (notes.length < MAX_NOTES) return void notes.push(note);
  const last = notes[MAX_NOTES - 1]!;
  const more = Number(MORE.exec(last.text)?.[1] ?? 1) + 1;
  notes[MAX_NOTES - 1] = {
    severity: 'warning',
    issue: last.issue,
    code: 'parameter-ignored',
    text: `Ignored: ${more} more parameters`,
  };
}

/** Something that a lenient client's search goes without. https://hl7.org/fhir/R5/search.html#errors */
export function ignoredWarning(error: FhirError): OutcomeIssue {
  const text = `Ignored: ${error.message}`;
  const [{ parameter }] = error.issues;
  const note: OutcomeIssue = { severity: 'warning', issue: 'not-supported', code: 'parameter-ignored', text };
  return parameter === undefined ? note : { ...note, parameter };
}

/** https://hl7.org/fhir/R5/search.html#errors */
export function emptyWarning(name: string): OutcomeIssue {
  const text = `The parameter ${JSON.stringify(name.slice(0, 64))} has no value and was ignored`;
  return { severity: 'information', issue: 'informational', code: 'parameter-empty', text, parameter: name };
}

/** Contained resources have no entries of stored search parameters. @param code of one that a chain asks for */
export function notInContained(name: string, code: string): OutcomeIssue {
  const text =
    `${JSON.stringify(name.slice(0, 64))} did not look into contained resources: ${JSON.stringify(code)} is a search parameter ` +
    'that is stored here, and those are not found by such';
  return { severity: 'warning', issue: 'incomplete', code: 'contained-not-searched', text, parameter: name };
}

/** The same of a graph. */
export function graphCutWarning(most: number): OutcomeIssue {
  const text =
    `Not all that the graph leads to is here: a page has ${most} resources beside the matches at most, fewer where they are ` +
    'large; ask for fewer matches with _count, or for less in the graph';
  return { severity: 'warning', issue: 'incomplete', code: 'includes-cut', text };
}

/** What did not come with a page though it was asked for. https://hl7.org/fhir/R5/search.html#include */
export function includesCutWarning(cut: NonNullable<FindPage['cut']>, { most, rounds }: IncludePlan): OutcomeIssue {
  const text =
    cut === 'most'
      ? `Not all that _include and _revinclude ask for is here: a page has ${most} such resources at most, fewer where they ` +
        'are large; ask for fewer matches with _count, include less, or search for the rest by itself'
      : `Not all that :iterate asks for is here: it goes on from what was included ${rounds} times; search on from there`;
  return { severity: 'warning', issue: 'incomplete', code: 'includes-cut', text };
}
