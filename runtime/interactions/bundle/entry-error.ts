import type { Change, Deletion, Put } from '../../store/store.js';
import { FhirError, type ErrorCode, type Issue, type RequestPart } from '../../fhir/errors.js';
import { STRUCTURE_ERRORS } from '../../fhir/catalog/structure-errors.js';

/** FHIRPath of an entry. */
export function entryPath(index: number): string {
  return `Bundle.entry[${index}]`;
}

/**
 * An error as that of an entry: expressions in its resource (`Patient.name[0]`) become expressions in the Bundle
 * (`Bundle.entry[3].resource.name[0]`).
 */
export function inEntry(index: number, error: FhirError): FhirError {
  return error.map((issue) => placed(index, issue));
}

/** Names of headers at the start of an issue's text. */
const HEADERS: Readonly<Record<Exclude<RequestPart, 'url'>, string>> = {
  ifMatch: 'If-Match',
  ifNoneMatch: 'If-None-Match',
  ifNoneExist: 'If-None-Exist',
  ifModifiedSince: 'If-Modified-Since',
};

/** Element of the entry that an issue without expression and part refers to, by error code. */
const PARTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  'criteria-missing': 'request.url',
  'parameter-unknown': 'request.url',
  'parameter-invalid': 'request.url',
  'modifier-unknown': 'request.url',
  'prefix-unknown': 'request.url',
  'page-invalid': 'request.url',
  'not-found': 'request.url',
  deleted: 'request.url',
  'still-referred': 'request.url',
  'body-missing': 'resource',
  'not-a-resource': 'resource',
  'type-mismatch': 'resource',
};

/** Issues whose expression is known to refer to the outer Bundle, not to a Bundle in one of its entries. */
const known = new WeakSet<Issue>();

/** Marks an issue as one of the outer Bundle's elements. */
export function ofBundle(issue: Issue): Issue {
  known.add(issue);
  return issue;
}

function placed(index: number, issue: Issue): Issue {
  const { expression, part, ...rest } = issue;
  const entry = entryPath(index);
  if (part !== undefined) return { ...rest, text: inBundle(issue.text, part), expression: `${entry}.request.${part}` };
  if (expression === undefined) {
    const place = PARTS[issue.code];
    return { ...rest, expression: place === undefined ? entry : `${entry}.${place}` };
  }
  if (isPlaced(issue, expression)) return issue;
  return ofBundle({ ...rest, expression: placedIn(index, expression) });
}

/** Returns the place in a Bundle of an element of the resource of an entry. */
function placedIn(index: number, expression: string): string {
  const rootEnd = /[.[]/.exec(expression)?.index ?? expression.length;
  return `${entryPath(index)}.resource${expression.slice(rootEnd)}`;
}

/** Whether an expression refers to the outer Bundle. Structure errors may be those of a Bundle that an entry stores. */
function isPlaced(issue: Issue, expression: string): boolean {
  return known.has(issue) || (expression.startsWith('Bundle.entry[') && !Object.hasOwn(STRUCTURE_ERRORS, issue.code));
}

/** Replaces a header's name at the start of a text by that of the element in `Bundle.entry.request`. */
function inBundle(text: string, part: RequestPart): string {
  const header = part === 'url' ? undefined : HEADERS[part];
  return header !== undefined && text.startsWith(header) ? part + text.slice(header.length) : text;
}

/** A change of an entry: what the store says of its references is said of the entry. */
export function referringInEntry(index: number, change: Change): Change {
  const { targets, refuse } = change as Partial<Pick<Put, 'targets'> & Pick<Deletion, 'refuse'>>;
  if (refuse !== undefined) return { ...(change as Deletion), refuse: (changed) => inEntry(index, refuse(changed)) };
  if (targets === undefined) return change;
  return {
    ...(change as Put),
    targets: targets.map((target) => ({ ...target, expression: placedIn(index, target.expression) })),
  };
}

/** Runs work for an entry, and reports its errors as those of the entry. */
export async function forEntry<T>(index: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FhirError ? inEntry(index, error) : error;
  }
}

/** Greatest number of issues in one error. */
const MAX_ISSUES = 100;

/** Reports the faults of several entries together. @throws FhirError with all issues in the order of the entries, if any */
export function throwFaults(faults: ReadonlyMap<number, FhirError>): void {
  const ordered = [...faults].sort(([a], [b]) => a - b).map(([, fault]) => fault);
  const [first, ...others] = ordered.flatMap((fault): readonly Issue[] => fault.issues).slice(0, MAX_ISSUES);
  if (first === undefined) return;
  const { headers = {}, missingScopes } = ordered[0] ?? {};
  throw Object.assign(FhirError.of([first, ...others]), { headers, missingScopes });
}
