import { STATUS_CODES } from 'node:http';

import type { Reply } from '../../core/call.js';
import { replyBundle } from '../../core/call.js';
import type { Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { errorOutcome } from '../../fhir/operation-outcome.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { writeJson } from '../../format/write-json.js';
import { readBody, type RequestResult } from '../../jobs/request/request-input.js';

/** Returns the answer to the request of a job that has ended, as the request by itself would have got it. */
export async function ordinaryReply(job: Job, services: Services): Promise<Reply> {
  const result = resultOf(job);
  const { body, text: _text, file: _file, ...head } = result;
  if (body === undefined) return head;
  const bytes = await readBody(job, result, services.store.blobs);
  if (body === 'resource') return { ...head, json: bytes.toString('utf8') };
  return { ...head, body: { ...body, content: only(bytes) } };
}

/** Returns the answer to the request of a job as the only entry of a Bundle. https://hl7.org/fhir/R5/async-bundle.html */
export async function bundledReply(job: Job, services: Services): Promise<Reply> {
  const result = resultOf(job);
  const { status, body, location = result.contentLocation, versionId, lastUpdated } = result;
  const bytes = body === undefined ? undefined : await readBody(job, result, services.store.blobs);
  const resource =
    body === undefined || body === 'resource'
      ? bytes?.toString('utf8')
      : writeJson({ resourceType: 'Binary', contentType: body.contentType, data: bytes?.toString('base64') ?? '' });
  const isFailure = status >= 400;
  const response = {
    status: `${status} ${STATUS_CODES[status] ?? ''}`.trim(),
    ...(location !== undefined && { location }),
    ...(versionId !== undefined && { etag: `W/"${versionId}"` }),
    ...(lastUpdated !== undefined && { lastModified: formatInstant(lastUpdated) }),
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

async function* only(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
