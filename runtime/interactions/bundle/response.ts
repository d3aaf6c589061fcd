import { STATUS_CODES } from 'node:http';

import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { errorOutcome } from '../../fhir/operation-outcome.js';
import { writeJson } from '../../format/write-json.js';
import { joinBundle, type Call, type Reply, type ReplyBody, type ReplyContent, replyBundle } from '../../core/call.js';
import { Phase, type Entry } from './entry.js';
import { inEntry } from './entry-error.js';

/**
 * The answer to a batch or transaction, its entries in the order of the request. Resources are inserted as stored text.
 * https://hl7.org/fhir/R5/http.html#transaction-response
 */
export function answerOf(type: 'batch' | 'transaction', entries: readonly string[], { base }: Call): Reply {
  const link = JSON.stringify([{ relation: 'self', url: base }]);
  const head = `{"resourceType":"Bundle","type":"${type}-response","link":${link}`;
  if (entries.length === 0) return { status: 200, json: `${head}}` };
  return replyBundle({ head: `${head},"entry":[`, entries, tail: ']}' });
}

/**
 * JSON text of the answer to one entry.
 *
 * @param most greatest size of a Binary's content in an entry, in bytes
 */
export async function writeEntry(entry: Entry, reply: Reply, most: number): Promise<string> {
  const { versionId, lastUpdated, location = reply.contentLocation } = reply;
  const isDelete = entry.phase === Phase.Delete;
  const resource = entry.method === 'HEAD' ? undefined : await textOf(reply, most);
  // A write answers with stored text (`json`) or, in `resource`, with an OperationOutcome.
  const isOutcome = entry.phase !== Phase.Read && reply.resource !== undefined;
  const response =
    `{"status":${JSON.stringify(statusLine(isDelete && reply.status === 200 ? 204 : reply.status))}` +
    (location === undefined ? '' : `,"location":${JSON.stringify(location)}`) +
    (versionId === undefined ? '' : `,"etag":${JSON.stringify(`W/"${versionId}"`)}`) +
    (lastUpdated === undefined ? '' : `,"lastModified":"${formatInstant(lastUpdated)}"`) +
    (isOutcome && resource !== undefined ? `,"outcome":${resource}}` : '}');
  return resource === undefined || isOutcome
    ? `{"response":${response}}`
    : `{"resource":${resource},"response":${response}}`;
}

/** JSON text of the answer to an entry that failed. */
export function writeFailure(index: number, error: FhirError): string {
  const outcome = writeJson(errorOutcome(inEntry(index, error)));
  return `{"response":{"status":${JSON.stringify(statusLine(error.status))},"outcome":${outcome}}}`;
}

/** Status and reason phrase, such as `201 Created`. */
function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}

async function textOf(reply: Reply, most: number): Promise<string | undefined> {
  const { json, bundle, resource, content, around, body } = reply;
  if (json !== undefined) return json;
  if (bundle !== undefined) return joinBundle(bundle);
  if (resource !== undefined) return writeJson(resource);
  if (body !== undefined) return binaryOf(body, most);
  if (content === undefined || around === undefined) return undefined;
  return around.head + (await base64Of(content, most)) + around.tail;
}

/** A body that is no resource, as a Binary: an entry holds nothing but resources. */
async function binaryOf({ contentType, content }: ReplyBody, most: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of typeof content === 'string' ? [content] : content) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : Uint8Array.from(piece);
    size += bytes.length;
    if (size > most) throw tooLarge(`more than ${most}`);
    pieces.push(bytes);
  }
  return writeJson({ resourceType: 'Binary', contentType, data: Buffer.concat(pieces).toString('base64') });
}

function tooLarge(size: string): FhirError {
  return new FhirError(
    'not-acceptable',
    `The content has ${size} bytes, too many for an entry: use a request of its own`,
  );
}

async function base64Of(content: ReplyContent, most: number): Promise<string> {
  if (content.size > most) throw tooLarge(String(content.size));
  const pieces: Uint8Array[] = [];
  for await (const piece of await content.open()) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces).toString('base64');
}
