import { FhirError, type Issue } from '../../fhir/errors.js';

/** Where an entry stands, as FHIRPath has it. */
export function entryPath(index: number): string {
  return `Bundle.entry[${index}]`;
}

/**
 * A failure as one of an entry: what it says of a resource (`Patient.name[0]`) is said of the one in the entry
 * (`Bundle.entry[3].resource.name[0]`).
 */
export function inEntry(index: number, error: FhirError): FhirError {
  const [first, ...others] = error.issues;
  const failure = FhirError.of([placed(index, first), ...others.map((issue) => placed(index, issue))]);
  return Object.assign(failure, { headers: error.headers });
}

function placed(index: number, issue: Issue): Issue {
  const { expression } = issue;
  const entry = entryPath(index);
  if (expression === undefined) return { ...issue, expression: entry };
  if (expression.startsWith('Bundle.entry[')) return issue;
  const dot = /[.[]/.exec(expression)?.index ?? expression.length;
  return { ...issue, expression: `${entry}.resource${expression.slice(dot)}` };
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
