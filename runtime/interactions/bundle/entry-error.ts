import { FhirError, type ErrorCode, type Issue, type RequestPart } from '../../fhir/errors.js';
import { STRUCTURE_ERRORS } from '../../fhir/structure-errors.js';

/** Where an entry stands, as FHIRPath has it. */
export function entryPath(index: number): string {
  return `Bundle.entry[${index}]`;
}

/**
 * A failure as one of an entry: what it says of a resource (`Patient.name[0]`) is said of the one in the entry
 * (`Bundle.entry[3].resource.name[0]`).
 */
export function inEntry(index: number, error: FhirError): FhirError {
  return error.map((issue) => placed(index, issue));
}

/** What headers are called, where an issue says so. */
const HEADERS: Readonly<Record<Exclude<RequestPart, 'url'>, string>> = {
  ifMatch: 'If-Match',
  ifNoneMatch: 'If-None-Match',
  ifNoneExist: 'If-None-Exist',
  ifModifiedSince: 'If-Modified-Since',
};

/** What an issue that says neither element nor part can only be about. */
const PARTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  'criteria-missing': 'request.url',
  'parameter-unknown': 'request.url',
  'parameter-invalid': 'request.url',
  'modifier-unknown': 'request.url',
  'prefix-unknown': 'request.url',
  'page-invalid': 'request.url',
  'not-found': 'request.url',
  deleted: 'request.url',
  'body-missing': 'resource',
  'not-a-resource': 'resource',
  'type-mismatch': 'resource',
};

/** Issues that say where in the Bundle they are, where that could be a place in a Bundle within it. */
const known = new WeakSet<Issue>();

/** An issue of the Bundle's own elements. */
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
  const dot = /[.[]/.exec(expression)?.index ?? expression.length;
  return ofBundle({ ...rest, expression: `${entry}.resource${expression.slice(dot)}` });
}

/** What is wrong with the structure of a Bundle that is stored is said of that one. */
function isPlaced(issue: Issue, expression: string): boolean {
  return known.has(issue) || (expression.startsWith('Bundle.entry[') && !Object.hasOwn(STRUCTURE_ERRORS, issue.code));
}

/** Entries have other names for what headers say. */
function inBundle(text: string, part: RequestPart): string {
  const header = part === 'url' ? undefined : HEADERS[part];
  return header !== undefined && text.startsWith(header) ? part + text.slice(header.length) : text;
}

/** Does something for an entry; what fails is told as a failure of this entry. */
export async function forEntry<T>(index: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FhirError ? inEntry(index, error) : error;
  }
}

/** What is wrong in several entries is told at once, up to so many faults. */
const MAX_ISSUES = 100;

/** @throws FhirError with all that is wrong, in the order of the entries; nothing, where there are no faults */
export function throwFaults(faults: ReadonlyMap<number, FhirError>): void {
  const ordered = [...faults].sort(([a], [b]) => a - b).map(([, fault]) => fault);
  const [first, ...others] = ordered.flatMap((fault): readonly Issue[] => fault.issues).slice(0, MAX_ISSUES);
  if (first !== undefined)
    throw Object.assign(FhirError.of([first, ...others]), { headers: ordered[0]?.headers ?? {} });
}
