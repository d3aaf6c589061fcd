import { FhirError } from '../../fhir/errors.js';

/** A fault, as an OperationOutcome tells it too. */
export interface ReportedFault {
  readonly text: string;
  readonly expression?: string | undefined;
}

/** Faults of one resource that are reported. */
const MOST = 5;

/** Describes the faults of a resource or Bundle in one line: the first few, each with its place once. */
export function describeFaults(faults: readonly ReportedFault[]): string {
  const told = faults.slice(0, MOST).map(describeFault);
  return [...told, ...(faults.length > MOST ? [`and ${faults.length - MOST} more`] : [])].join('; ');
}

/** An error whose message tells all that it knows of. */
export function withAllFaults(error: unknown): unknown {
  return error instanceof FhirError ? new Error(describeFaults(error.issues), { cause: error }) : error;
}

/**
 * A fault in an entry of a Bundle is reported with its place there. Its text may begin with the place in the resource, which
 * is the end of the former.
 */
function describeFault({ text, expression = '' }: ReportedFault): string {
  if (!expression.startsWith('Bundle.entry') || text.startsWith(`${expression}: `)) return text;
  const own = /^[A-Z][A-Za-z]*((?:[.[][^:\s]*)?): /.exec(text);
  const isSame = own !== null && expression.endsWith(`.resource${own[1]}`);
  return `${expression}: ${isSame ? text.slice(own[0].length) : text}`;
}
