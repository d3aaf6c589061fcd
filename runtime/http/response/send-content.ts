import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { append } from '../../fhir/lists.js';
import { chooseEncoding, COMPRESS_FROM, openCompressor, type Encoding } from '../../format/compress.js';
import type { Reply, ReplyContent } from '../../core/call.js';
import { varyOf, type Presentation } from './presentation.js';
import { rangeHolds, readRange } from './range.js';

/**
 * Content that anybody may have uploaded must not become a page of this origin: no type is guessed, no script runs,
 * and a browser saves it instead of showing it.
 */
const HARMLESS = ['X-Content-Type-Options', 'nosniff', 'Content-Security-Policy', "sandbox; default-src 'none'"];

/**
 * Sends the content of a Binary as it is, whole or a range of it. https://hl7.org/fhir/R5/binary.html#rest
 *
 * @param headers those that the reply has beside these
 */
export async function sendContent(
  req: IncomingMessage,
  res: ServerResponse,
  reply: Reply,
  content: ReplyContent,
  look: Presentation,
  headers: string[],
): Promise<void> {
  const isWanted = rangeHolds(req.headers['if-range'] as string | undefined, reply.versionId);
  // Of HEAD it is ignored: RFC 9110, 14.2
  const mayRange = reply.status === 200 && req.method === 'GET' && isWanted;
  const range = mayRange ? readRange(req.headers.range, content.size) : undefined;
  const length = range === undefined ? content.size : range.to - range.from + 1;
  headers.push('Content-Type', content.contentType, 'Accept-Ranges', 'bytes');
  headers.push('Vary', varyOf(look, content.isText === true ? 'Accept, Accept-Encoding' : 'Accept'));
  append(headers, HARMLESS);
  const { fileName } = content;
  headers.push('Content-Disposition', fileName === undefined ? 'attachment' : `attachment; filename="${fileName}"`);
  const accepted = req.headers['accept-encoding'];
  const isPacked = content.isText === true && range === undefined && accepted !== undefined;
  const encoding = isPacked && content.size >= COMPRESS_FROM ? chooseEncoding(accepted) : undefined;
  append(headers, encoding === undefined ? ['Content-Length', String(length)] : ['Content-Encoding', encoding]);
  if (content.securityContext !== undefined) headers.push('X-Security-Context', content.securityContext);
  if (range !== undefined) headers.push('Content-Range', `bytes ${range.from}-${range.to}/${content.size}`);
  await send(req, res, range === undefined ? reply.status : 206, headers, () => content.open(range), encoding);
}

/** Sends the content of a Binary as base64 within the JSON text of the resource, or a text that is one, never whole in memory. */
export async function sendAround(
  req: IncomingMessage,
  res: ServerResponse,
  { status, around = { head: '', tail: '' } }: Reply,
  content: ReplyContent,
  headers: string[],
): Promise<void> {
  const { head, tail } = around;
  if (content.ofResource !== undefined) {
    const encoding = chooseEncoding(req.headers['accept-encoding'] ?? '');
    append(headers, encoding === undefined ? ['Content-Length', String(content.size)] : ['Content-Encoding', encoding]);
    return send(req, res, status, headers, () => content.open(), encoding);
  }
  const length = Buffer.byteLength(head) + 4 * Math.ceil(content.size / 3) + Buffer.byteLength(tail);
  headers.push('Content-Length', String(length));
  await send(req, res, status, headers, async () => base64(head, await content.open(), tail));
}

async function send(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  headers: string[],
  open: () => Promise<AsyncIterable<Uint8Array>>,
  encoding?: Encoding,
): Promise<void> {
  if (req.method === 'HEAD') {
    res.writeHead(status, headers).end();
    return;
  }
  // Before the head goes out: a failure here can still be reported.
  const bytes = await open();
  res.writeHead(status, headers);
  const pieces = Readable.from(bytes, { objectMode: false });
  if (encoding === undefined) await pipeline(pieces, res);
  else await pipeline(pieces, openCompressor(encoding), res);
}

/** The pieces with text before and after; threes of bytes, so that base64 has no padding in the middle. */
async function* base64(head: string, content: AsyncIterable<Uint8Array>, tail: string): AsyncGenerator<Buffer> {
  yield Buffer.from(head);
  let rest: Uint8Array = Buffer.alloc(0);
  for await (const chunk of content) {
    const bytes =
      rest.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    if (whole > 0) yield Buffer.from(bytes.toString('base64', 0, whole), 'latin1');
    // A copy: the source may use its piece again.
    rest = Buffer.from(bytes.subarray(whole));
  }
  yield Buffer.from(Buffer.from(rest).toString('base64') + tail);
}

/** The JSON text of a Binary with its content, for formats that cannot be written piece by piece. */
export async function joinAround({ around = { head: '', tail: '' } }: Reply, content: ReplyContent): Promise<string> {
  const parts: Uint8Array[] = [];
  const bytes = await content.open();
  const text = content.ofResource === undefined ? base64(around.head, bytes, around.tail) : bytes;
  // A copy: the source may use its piece again.
  for await (const part of text) parts.push(Uint8Array.from(part));
  return Buffer.concat(parts).toString();
}
