import type { Call, Reply } from '../../core/call.js';
import { fileKey } from '../../core/export-files.js';
import type { Job } from '../../core/jobs.js';
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
  ...(['conditions', 'prefer', 'base', 'trace', 'languages', 'isDeletion'] as const),
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
  /** A resource, or a body of another form, of this media type; absent: there is none. */
  readonly body?: 'resource' | { readonly contentType: string };
  /** The body, where it is short. */
  readonly text?: string;
  /** Last part of the key of the blob that has it, where it is long. */
  readonly file?: string;
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

/** Puts the body of an answer where it is read from later. @param run of the job */
export async function storeBody(
  job: Pick<Job, 'type' | 'id' | 'run'>,
  pieces: Iterable<string> | AsyncIterable<string | Uint8Array>,
  blobs: BlobStore,
): Promise<Pick<RequestResult, 'text' | 'file'>> {
  if (Array.isArray(pieces) && pieces.reduce((sum: number, { length }: string) => sum + length, 0) <= SHORT)
    return { text: pieces.join('') };
  const file = `answer.${job.run}`;
  await blobs.put(fileKey(job, file), piecesOf(pieces), Infinity);
  return { file };
}

/** Returns the body of an answer. @throws Error where it was removed */
export async function readBody(job: Job, { text, file }: RequestResult, blobs: BlobStore): Promise<Buffer> {
  return file === undefined ? Buffer.from(text ?? '') : bytesOf(fileKey(job, file), blobs);
}

async function textOf(key: string, blobs: BlobStore): Promise<string> {
  return (await bytesOf(key, blobs)).toString('utf8');
}

async function bytesOf(key: string, blobs: BlobStore): Promise<Buffer> {
  const blob = await blobs.get(key);
  if (blob === undefined) throw new Error(`there is no blob ${key}`);
  const pieces: Uint8Array[] = [];
  for await (const piece of blob.stream) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces);
}

async function* piecesOf(pieces: Iterable<string> | AsyncIterable<string | Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}
