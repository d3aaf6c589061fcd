import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { append } from '../../fhir/lists.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { JsonObject } from '../../fhir/resource.js';
import { chooseEncoding, openCompressor } from '../../format/compress.js';
import { readJson } from '../../format/read-json.js';
import type { ReplyBundle } from '../../core/call.js';
import { STORED_DEPTH } from '../../core/read-stored.js';
import type { Writer } from './codecs.js';
import { typeOf, varyOf, type Presentation } from './presentation.js';

/** Characters that are handed on at a time. */
const PIECE = 64 * 1024;

/** A longer text is encoded and sent in parts, no faster than the client takes them: the whole would be in memory twice. In characters. */
export const LONGEST_PART = 1024 * 1024;

/**
 * Sends a large Bundle entry by entry, no faster than the client takes it; others are served in between, and the whole is never in
 * memory once more.
 *
 * @param write how it is written where it is not sent as the JSON text that it has
 * @param headers those that the reply has beside these
 */
export async function sendBundle(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  bundle: ReplyBundle,
  look: Presentation,
  write: BundleWriter,
  headers: string[],
): Promise<void> {
  append(headers, typeOf(look));
  headers.push('Vary', varyOf(look, 'Accept, Accept-Encoding'));
  const encoding = chooseEncoding(req.headers['accept-encoding'] ?? '');
  const isPlain = look.format === 'json' && !look.pretty;
  if (encoding !== undefined) headers.push('Content-Encoding', encoding);
  else if (isPlain) headers.push('Content-Length', String(await sizeOf(bundle)));
  const texts = isPlain ? jsonTexts(bundle) : await writtenTexts(bundle, write, look.pretty);
  res.writeHead(status, headers);
  const source = Readable.from(inPieces(texts), { objectMode: false, highWaterMark: PIECE });
  if (encoding === undefined) await pipeline(source, res);
  else await pipeline(source, openCompressor(encoding), res);
}

/** Bytes of the JSON text. */
async function sizeOf(bundle: ReplyBundle): Promise<number> {
  const pace = yieldToEventLoop();
  let size = 0;
  for (const text of jsonTexts(bundle)) {
    size += Buffer.byteLength(text);
    await pace();
  }
  return size;
}

function* jsonTexts({ head, entries, tail }: ReplyBundle): Generator<string> {
  yield head;
  let separator = '';
  for (const entry of entries) {
    yield separator + entry;
    separator = ',';
  }
  yield tail;
}

/** Writes a Bundle in another form than the text that is there. */
export type BundleWriter = NonNullable<Writer['writeBundle']>;

/** Each entry is read, and written again. */
async function writtenTexts({ head, entries, tail }: ReplyBundle, write: BundleWriter, pretty: boolean) {
  const { entry: _none, ...around } = readJson(`${head}${tail}`, STORED_DEPTH) as JsonObject;
  const read = function* (): Generator<JsonObject> {
    for (const entry of entries) yield readJson(entry, STORED_DEPTH) as JsonObject;
  };
  return write(around, read(), pretty);
}

/** Texts, of long ones one part after the other. */
function* cut(texts: Iterable<string>): Generator<string> {
  for (const text of texts) {
    for (let at = 0; at < text.length;) {
      // The halves of a character that has two stay together.
      const end = at + LONGEST_PART - (isFirstHalf(text.charCodeAt(at + LONGEST_PART - 1)) ? 1 : 0);
      yield text.slice(at, end);
      at = end;
    }
  }
}

/** Whether a code unit needs another one after it. */
function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/** Bytes in pieces that are worth being sent; others are served in between. */
export async function* inPieces(texts: Iterable<string>): AsyncGenerator<Buffer> {
  const pace = yieldToEventLoop();
  let parts: string[] = [];
  let length = 0;
  for (const text of cut(texts)) {
    parts.push(text);
    length += text.length;
    if (length >= PIECE) {
      yield Buffer.from(parts.join(''));
      parts = [];
      length = 0;
    }
    await pace();
  }
  if (parts.length > 0) yield Buffer.from(parts.join(''));
}
