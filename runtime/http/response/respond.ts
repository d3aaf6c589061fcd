import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { append } from '../../fhir/lists.js';
import { FhirError } from '../../fhir/errors.js';
import { formatHttpDate } from '../../fhir/instant.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { errorOutcome } from '../../fhir/operation-outcome.js';
import type { Resource } from '../../fhir/resource.js';
import { chooseEncoding, compress, COMPRESS_FROM, type Encoding } from '../../format/compress.js';
import { HTML_TYPE } from '../../format/html.js';
import { JSON_TYPE, namedType, type Negotiated } from '../../format/negotiate.js';
import { STORED_DEPTH } from '../../core/read-stored.js';
import { LARGE_BODY, type LargeTexts } from '../../core/write/large-bodies.js';
import { readJson } from '../../format/read-json.js';
import { writeJson } from '../../format/write-json.js';
import { joinBundle, type Reply, type ReplyBody } from '../../core/call.js';
import type { Codecs, Writer } from './codecs.js';
import { headOf, typeOf, varyOf, type Presentation } from './presentation.js';
import { sendBody } from './send-body.js';
import { inPieces, LONGEST_PART, sendBundle } from './send-bundle.js';
import { joinAround, sendAround, sendContent } from './send-content.js';

/** Codecs and limits that answers are written with. */
export interface Writing {
  readonly codecs: Codecs;
  /** Greatest size of a content that is put into a resource in memory, in bytes. */
  readonly resourceLimit: number;
  /** Where large resources are written; absent: where all are. */
  readonly large?: Pick<LargeTexts, 'write'> | undefined;
}

/** JSON on one line. */
export const PLAIN: Negotiated = { format: 'json', contentType: `${JSON_TYPE}; charset=utf-8` };

/** A page. */
export const HTML_FORM: Negotiated = { format: 'html', contentType: HTML_TYPE };

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** What an answer that comes again and again was written as. */
interface Written {
  /** By format, and whether it is indented. */
  readonly texts: Map<string, Promise<string | undefined>>;
  /** By that and the encoding. */
  readonly bytes: Map<string, Promise<Buffer>>;
}

/** Long answers are written and sent one at a time, with a turn for others between them. */
const turn = yieldToEventLoop();

/** Longer texts take the main thread some milliseconds to send. In characters. */
const LONG_TEXT = 128 * 1024;

/** Pages are never kept: each has a nonce of its own. */
const written = new WeakMap<Reply, Written>();

/** Sends the reply of an interaction. An answer to HEAD loses its body in Node. */
export async function sendReply(
  req: IncomingMessage,
  res: ServerResponse,
  reply: Reply,
  look: Presentation,
  base: string,
  writing: Writing,
): Promise<void> {
  const headers = headOf(look);
  if (reply.versionId !== undefined) headers.push('ETag', `W/"${reply.versionId}"`);
  if (reply.lastUpdated !== undefined) headers.push('Last-Modified', formatHttpDate(reply.lastUpdated));
  if (reply.location !== undefined) headers.push('Location', `${base}/${reply.location}`);
  if (reply.contentLocation !== undefined) headers.push('Content-Location', `${base}/${reply.contentLocation}`);
  for (const [name, value] of Object.entries(reply.headers ?? NO_HEADERS)) headers.push(name, value);
  if (reply.body?.isJson === true && look.format === 'xml' && !takesJson(req)) {
    throw new FhirError('not-acceptable', 'The answer is JSON; accept application/json');
  }
  if (reply.body !== undefined) {
    return sendBody(req, res, reply.status, named(reply.body, req), look, headers);
  }
  if (reply.content !== undefined && reply.around === undefined && reply.content.ofResource === undefined) {
    return sendContent(req, res, reply, reply.content, look, headers);
  }
  if (reply.content !== undefined && look.format === 'json' && !look.pretty) {
    append(headers, typeOf(look));
    headers.push('Vary', varyOf(look, 'Accept, Accept-Encoding'));
    return sendAround(req, res, reply, reply.content, headers);
  }
  const writeBundle = writerOf(look, writing.codecs)?.writeBundle;
  if (reply.bundle !== undefined && writeBundle !== undefined) {
    return sendBundle(req, res, reply.status, reply.bundle, look, writeBundle, headers);
  }
  const text = plainText(reply, look) ?? (await textOf(reply, look, writing));
  if (text !== undefined) {
    if (text.length > LONG_TEXT) await turn();
    return sendText(req, res, reply, text, look, headers);
  }
  if (look.isPersonal === true) headers.push('Vary', varyOf(look));
  // RFC 9110, 8.6
  if (reply.status !== 304 && reply.status !== 204) headers.push('Content-Length', '0');
  res.writeHead(reply.status, headers).end();
}

/** A body by the name of its type that the client accepts. */
function named(body: ReplyBody, { headers: { accept } }: IncomingMessage): ReplyBody {
  const { otherType } = body;
  if (otherType === undefined || namedType(accept, [otherType]) === undefined) return body;
  const takesUsual = namedType(accept, ['application/json', 'application/*', '*/*']) !== undefined;
  return takesUsual ? body : { ...body, contentType: `${otherType}; charset=utf-8` };
}

/** Whether a client takes JSON, perhaps beside what it likes better. */
export function takesJson({ headers: { accept = '' } }: IncomingMessage): boolean {
  return /json|\*\/\*/.test(accept);
}

/** Text that needs no work. */
function plainText({ json }: Reply, { format, pretty }: Presentation): string | undefined {
  return format === 'json' && !pretty ? json : undefined;
}

function textOf(reply: Reply, look: Presentation, writing: Writing): Promise<string | undefined> {
  return kept(reply, look, 'texts', formOf(look), () => writeText(reply, look, writing));
}

function formOf({ format, pretty }: Presentation): string {
  return `${format} ${pretty}`;
}

/** What was made before of an answer that comes again and again; else it is made. */
function kept<K extends keyof Written, T extends (Written[K] extends Map<string, infer V> ? V : never)>(
  reply: Reply,
  { format }: Presentation,
  kind: K,
  form: string,
  make: () => T,
): T {
  if (reply.lasting !== true || format === 'html') return make();
  let forms = written.get(reply);
  if (forms === undefined) written.set(reply, (forms = { texts: new Map(), bytes: new Map() }));
  const ofKind = forms[kind] as Map<string, T>;
  const known = ofKind.get(form) ?? make();
  ofKind.set(form, known);
  return known;
}

async function writeText(reply: Reply, look: Presentation, writing: Writing): Promise<string | undefined> {
  await turn();
  const json = reply.content === undefined ? jsonOf(reply) : await joinContent(reply, writing.resourceLimit);
  if (json !== undefined && look.format === 'html' && look.page !== undefined) return look.page.writeText(json);
  const { large } = writing;
  if (json !== undefined && large !== undefined && look.format !== 'html' && json.length > LARGE_BODY) {
    return large.write(json, STORED_DEPTH, { format: look.format, pretty: look.pretty });
  }
  const resource = json === undefined ? reply.resource : (readJson(json) as Resource);
  if (resource === undefined) return undefined;
  const writer = writerOf(look, writing.codecs);
  if (writer === undefined) throw new Error(`no codec for ${look.format}`);
  return writer.write(resource, look.pretty);
}

function writerOf({ format, page }: Presentation, codecs: Codecs): Writer | undefined {
  return format === 'html' ? page : codecs.get(format);
}

function jsonOf({ json, bundle }: Reply): string | undefined {
  return bundle === undefined ? json : joinBundle(bundle);
}

function joinContent(reply: Reply, limit: number): Promise<string> {
  const { content } = reply;
  if (content === undefined) return Promise.resolve('');
  const most = content.ofResource?.largest ?? limit;
  if (content.size <= most) return joinAround(reply, content);
  const text = `The content has ${content.size} bytes: beyond ${most} it is given as it is, or in JSON without _pretty`;
  return Promise.reject(new FhirError('not-acceptable', text));
}

/** Sends a page that no resource is written as, to a client that asked for HTML. */
export function sendPageText(
  req: IncomingMessage,
  res: ServerResponse,
  text: string,
  look: Presentation,
): void | Promise<void> {
  return sendText(req, res, { status: 200 }, text, look, headOf(look));
}

/** Sends text, compressed where that pays and the client takes it. */
function sendText(
  req: IncomingMessage,
  res: ServerResponse,
  reply: Reply,
  text: string,
  look: Presentation,
  headers: string[],
): void | Promise<void> {
  append(headers, typeOf(look));
  headers.push('Vary', varyOf(look, 'Accept, Accept-Encoding'));
  const accepted = req.headers['accept-encoding'];
  const encoding = accepted === undefined || text.length < COMPRESS_FROM ? undefined : chooseEncoding(accepted);
  if (encoding !== undefined) return sendCompressed(res, reply, text, encoding, look, headers);
  headers.push('Content-Length', String(Buffer.byteLength(text)));
  res.writeHead(reply.status, headers);
  if (text.length > LONGEST_PART) return pipeline(Readable.from(inPieces([text]), { objectMode: false }), res);
  res.end(text);
}

async function sendCompressed(
  res: ServerResponse,
  reply: Reply,
  text: string,
  encoding: Encoding,
  look: Presentation,
  headers: string[],
): Promise<void> {
  const form = `${encoding} ${formOf(look)}`;
  const bytes = await kept(reply, look, 'bytes', form, () => compress(Buffer.from(text), encoding));
  headers.push('Content-Encoding', encoding, 'Content-Length', String(bytes.length));
  res.writeHead(reply.status, headers).end(bytes);
}

/**
 * Sends an expected failure as an OperationOutcome, unless the client has gone or an answer has begun. A client that asked for a page
 * gets one if it can be made, else indented JSON.
 */
export async function sendError(
  res: ServerResponse,
  error: FhirError,
  wanted: Presentation,
  codecs?: Codecs,
): Promise<void> {
  if (res.headersSent || res.destroyed) return;
  const outcome = errorOutcome(error);
  if (wanted.format === 'html' && wanted.page !== undefined) {
    endFailure(res, error, wanted, wanted.page.writeFailure(outcome, error.status));
    return;
  }
  const codec = wanted.format === 'html' || wanted.format === 'json' ? undefined : codecs?.get(wanted.format);
  const isPretty = wanted.pretty || wanted.format === 'html';
  const look = codec === undefined && wanted.format !== 'json' ? { ...wanted, ...PLAIN } : wanted;
  const text = codec === undefined ? writeJson(outcome, isPretty ? 2 : 0) : await codec.write(outcome, isPretty);
  endFailure(res, error, look, text);
}

function endFailure(res: ServerResponse, error: FhirError, look: Presentation, text: string): void {
  const headers = [...Object.entries(error.headers).flat(), ...headOf(look), ...typeOf(look)];
  headers.push('Vary', varyOf(look, 'Accept, Accept-Encoding'));
  headers.push('Content-Length', String(Buffer.byteLength(text)));
  res.writeHead(error.status, headers).end(text);
}
