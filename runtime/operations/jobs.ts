import type { WiredOperation } from '../contract/index.js';
import type { Jobs } from '../core/jobs.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';

/** The jobs of the server. @throws FhirError `operation-unsupported` where it has none */
export function jobsOf({ jobs }: Pick<Services, 'jobs'>): Jobs {
  if (jobs === undefined) throw new FhirError('operation-unsupported', 'This server does no work after its answers');
  return jobs;
}

/** Where a job is asked for by an operation, below the base: `$export-poll-status?_jobId=…`. */
export function statusUrl(operation: WiredOperation, id: string, { tables }: Pick<Services, 'tables'>): string {
  const name = tables.operations.find((row) => row.id === operation)?.name ?? operation;
  return `$${name}?_jobId=${id}`;
}
