import type { Call, Reply } from '../../core/call.js';
import { fileKey } from '../../core/job-files/read-job-file.js';
import type { Job } from '../../core/jobs.js';
import { FhirError } from '../../fhir/errors.js';
import type { Limits } from '../../fhir/limits.js';
import { pick } from '../../fhir/pick.js';
import type { JsonValue } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import { writeJson } from '../../format/write-json.js';
import type { BlobStore } from '../../store/store.js';

/** The type of jobs that answer a request. */
export const REQUEST = 'request';

/** Members of a call that are kept as they are. */
const KEPT = [
  ...(['interaction', 'operation', 'level', 'type', 'id', 'versionId', 'member'] as const),
  ...(['conditions', 'prefer', 'base', 'trace', 'accept', 'languages', 'isDeletion'] as const),
] as const;

/** Members that hold what a call sends. */
const SENT = ['body', 'patch', 'provenance'] as const;

/** Input of a job: a call without its client. The content that it sends is apart, because it may be large. */
export interface RequestInput extends Pick<Call, (typeof KEPT)[number]> {
  readonly params: string;
  readonly form?: string;
  /** What the call sends, or the key of the blob that has it: `SentParts` on the first line, then the text of the body as it came. */
  readonly sent?: string;
  readonly sentKey?: string;
}

/** What a call sends. */
type SentParts = Pick<Call, (typeof SENT)[number] | 'text'>;

/** Members of an answer that are kept as they are. */
export const HEAD = ['status', 'headers', 'versionId', 'lastUpdated', 'location', 'contentLocation'] as const;

/** Result of a job: the answer to its request, but for a body that is large. */
export interface RequestResult extends Pick<Reply, (typeof HEAD)[number]> {
  /** Absent: the answer has no body. */
  readonly body?: 'resource';
  /** The body, where it is short. */
  readonly text?: string;
  /** Last part of the key of the blob that has it, where it is long. */
  readonly file?: string;
  /** Bytes of that blob. */
  readonly size?: number;
}

/** Texts of so many characters are in the job itself, which is read whenever a process looks for work. */
const SHORT = 4096;

/** Where contents are that were sent before their job was there. */
export const SENT_PREFIX = `${REQUEST}/sent/`;

/** Makes the input of a job. Content that is large goes to a blob. @param newKey names it */
export async function storeCall(call: Call, blobs: BlobStore, newKey: () => string): Promise<RequestInput> {
  const { form, params, prefer } = call;
  const { respondAsync: _async, wait: _wait, ...wishes } = prefer;
  const head: RequestInput = {
    ...pick(call, KEPT),
    prefer: wishes,
    params: params.toString(),
    ...(form !== undefined && { form: form.toString() }),
  };
  const { body, ...others } = pick(call, SENT);
  const isText = call.text !== undefined;
  const parts = isText || body === undefined ? others : { ...others, body };
  if (Object.keys(parts).length === 0 && !isText) return head;
  const sent = `${writeJson(parts as unknown as JsonValue)}\n${call.text?.() ?? ''}`;
  if (sent.length <= SHORT) return { ...head, sent };
  const sentKey = `${SENT_PREFIX}${newKey()}`;
  await blobs.put(sentKey, piecesOf([sent]), Infinity);
  return { ...head, sentKey };
}

/** Returns the call of a job, to be made on behalf of its client. @param depth greatest nesting of what was sent */
export async function readCall(input: RequestInput, blobs: BlobStore, depth: number): Promise<Omit<Call, 'principal'>> {
  const { params, form, sent, sentKey, ...rest } = input;
  const text = sentKey === undefined ? sent : await textOf(sentKey, blobs);
  return {
    ...rest,
    ...(text !== undefined && readSent(text, depth)),
    params: new URLSearchParams(params),
    ...(form !== undefined && { form: new URLSearchParams(form) }),
  };
}

function readSent(sent: string, depth: number): SentParts {
  const end = sent.indexOf('\n');
  // Each part is one deeper than it was by itself.
  const parts = readJson(sent.slice(0, end), depth + 1) as unknown as SentParts;
  const text = sent.slice(end + 1);
  return text === '' ? parts : { ...parts, body: readJson(text, depth), text: () => text };
}

/** Returns the greatest size of an answer that is kept, in bytes. */
export function largestAnswer({ jobAnswer = 256 * 1024 * 1024 }: Pick<Limits, 'jobAnswer'>): number {
  return jobAnswer;
}

/**
 * Puts the body of an answer where it is read from later.
 *
 * @throws FhirError `answer-too-large` where it has more bytes than `limit`
 */
export async function storeBody(
  job: Pick<Job, 'type' | 'id' | 'run'>,
  pieces: Iterable<string> | AsyncIterable<string | Uint8Array>,
  blobs: BlobStore,
  limit: number,
): Promise<Pick<RequestResult, 'text' | 'file' | 'size'>> {
  if (Array.isArray(pieces) && pieces.reduce((sum: number, { length }: string) => sum + length, 0) <= SHORT)
    return { text: pieces.join('') };
  const file = `answer.${job.run}`;
  const bounded = async function* (): AsyncIterable<Uint8Array> {
    let size = 0;
    for await (const piece of piecesOf(pieces)) {
      size += piece.length;
      if (size > limit) throw tooLarge(limit);
      yield piece;
    }
  };
  const { size } = await blobs.put(fileKey(job, file), bounded(), Infinity);
  return { file, size };
}

function tooLarge(limit: number): FhirError {
  const text =
    `The answer has more than ${limit} bytes and is not kept; what the request wrote is written. ` +
    'Ask for less at a time (_count, _elements, narrower criteria), or use $export or $sql-export';
  return new FhirError('answer-too-large', text);
}

/** Returns the body of an answer. @throws Error where it was removed */
export async function readBody(job: Job, { text, file }: RequestResult, blobs: BlobStore): Promise<Buffer> {
  return file === undefined ? Buffer.from(text ?? '') : bytesOf(fileKey(job, file), blobs);
}

/** Opens the body of an answer that is in a blob. @throws Error where it was removed */
export async function openBody(job: Job, file: string, blobs: BlobStore): Promise<AsyncIterable<Uint8Array>> {
  return (await blobOf(fileKey(job, file), blobs)).stream;
}

async function textOf(key: string, blobs: BlobStore): Promise<string> {
  return (await bytesOf(key, blobs)).toString('utf8');
}

async function bytesOf(key: string, blobs: BlobStore): Promise<Buffer> {
  const { stream } = await blobOf(key, blobs);
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces);
}

async function blobOf(key: string, blobs: BlobStore): Promise<{ readonly stream: AsyncIterable<Uint8Array> }> {
  const blob = await blobs.get(key);
  if (blob === undefined) throw new Error(`there is no blob ${key}`);
  return blob;
}

async function* piecesOf(pieces: Iterable<string> | AsyncIterable<string | Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}
