import { STATUS_CODES } from 'node:http';

import type { Reply } from '../../core/call.js';
import { replyBundle } from '../../core/call.js';
import type { Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { errorOutcome, issueText } from '../../fhir/operation-outcome.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { JSON_TYPE } from '../../format/negotiate.js';
import type { JsonObject } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { largestAnswer, openBody, readBody, type RequestResult } from '../../jobs/request/request-input.js';
import { statusUrl } from '../common/jobs.js';

/** Shares of the largest answer that is kept: no larger one is held in memory as a whole. */
const IN_MEMORY = 1 / 4;

/**
 * Returns the answer to the request of a job that has ended, as the request by itself would have got it. A long one is read from
 * the store while it is sent.
 */
export async function ordinaryReply(job: Job, services: Services): Promise<Reply> {
  const { body, text = '', file, size = 0, ...head } = resultOf(job);
  if (body === undefined) return head;
  if (file === undefined) return { ...head, json: text };
  const open = (): Promise<AsyncIterable<Uint8Array>> => openBody(job, file, services.store.blobs);
  const largest = largestInMemory(services);
  return { ...head, content: { contentType: JSON_TYPE, size, ofResource: { largest }, open } };
}

/** Returns the same in memory. @throws FhirError `answer-too-large` */
export async function joinedReply(job: Job, services: Services): Promise<Reply> {
  const result = resultOf(job);
  const { body, text: _text, file: _file, size: _size, ...head } = result;
  if (body === undefined) return head;
  if (!fitsInMemory(job, services)) throw new FhirError('answer-too-large', described(job, services));
  const content = (await readBody(job, result, services.store.blobs)).toString('utf8');
  return { ...head, json: content };
}

/** Returns whether the answer of a job is short enough to be held in memory. */
export function fitsInMemory(job: Job, services: Services): boolean {
  return (resultOf(job).size ?? 0) <= largestInMemory(services);
}

function largestInMemory({ limits }: Services): number {
  return largestAnswer(limits) * IN_MEMORY;
}

function described(job: Job, services: Services): string {
  const { size } = resultOf(job);
  const at = `[base]/${statusUrl('async-result', job.id, services)}`;
  return (
    `The answer has ${size} bytes, too many to be shown here. GET ${at} gives it as it is; ` +
    'with "Prefer: respond-async, async-form=redirect" the finished state leads there'
  );
}

/** Returns the answer to the request of a job as the only entry of a Bundle. https://hl7.org/fhir/R5/async-bundle.html */
export async function bundledReply(job: Job, services: Services): Promise<Reply> {
  const result = resultOf(job);
  const { status, body, location = result.contentLocation, versionId, lastUpdated } = result;
  const isShown = fitsInMemory(job, services);
  const bytes = body === undefined || !isShown ? undefined : await readBody(job, result, services.store.blobs);
  const resource = bytes?.toString('utf8');
  const isFailure = status >= 400;
  const response = {
    status: `${status} ${STATUS_CODES[status] ?? ''}`.trim(),
    ...(location !== undefined && { location }),
    ...(versionId !== undefined && { etag: `W/"${versionId}"` }),
    ...(lastUpdated !== undefined && { lastModified: formatInstant(lastUpdated) }),
    ...(!isShown && { outcome: pointer(described(job, services)) }),
  };
  const shown = writeJson(response);
  const entry =
    resource === undefined
      ? `{"response":${shown}}`
      : isFailure
        ? `{"response":${shown.slice(0, -1)},"outcome":${resource}}}`
        : `{"resource":${resource},"response":${shown}}`;
  return replyBundle({
    head: '{"resourceType":"Bundle","type":"batch-response","entry":[',
    entries: [entry],
    tail: ']}',
  });
}

/** The answer; of a job that failed that of a server that failed. */
function resultOf(job: Job): RequestResult {
  if (job.state === 'completed') return job.result as unknown as RequestResult;
  const error = new FhirError('job-failed', `The job failed: ${job.failure ?? ''}`);
  return { status: error.status, body: 'resource', text: writeJson(errorOutcome(error)) };
}

function pointer(text: string): JsonObject {
  return { resourceType: 'OperationOutcome', issue: [{ severity: 'warning', code: 'too-long', ...issueText(text) }] };
}
