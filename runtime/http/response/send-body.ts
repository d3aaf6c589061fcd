import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { append } from '../../fhir/lists.js';
import type { ReplyBody } from '../../core/call.js';
import { chooseEncoding, compress, COMPRESS_FROM, openCompressor } from '../../format/compress.js';
import { varyOf, type Presentation } from './presentation.js';

/**
 * A page that a browser shows: it runs no script and loads nothing, whatever is in the data it shows. Other types are
 * not interpreted at all.
 */
const HARMLESS = [
  'X-Content-Type-Options',
  'nosniff',
  'Content-Security-Policy',
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
];

/**
 * Sends a body that is no resource, compressed where the client takes it.
 *
 * @param headers those that the reply has beside these
 */
export async function sendBody(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  { contentType, content }: ReplyBody,
  look: Presentation,
  headers: string[],
): Promise<void> {
  headers.push('Content-Type', contentType);
  append(headers, HARMLESS);
  headers.push('Vary', varyOf(look, 'Accept, Accept-Encoding'));
  const accepted = req.headers['accept-encoding'];
  const isSmall = typeof content === 'string' && content.length < COMPRESS_FROM;
  const encoding = accepted === undefined || isSmall ? undefined : chooseEncoding(accepted);
  if (encoding !== undefined) headers.push('Content-Encoding', encoding);
  if (typeof content === 'string') {
    const text = Buffer.from(content);
    const bytes = encoding === undefined ? text : await compress(text, encoding);
    headers.push('Content-Length', String(bytes.length));
    res.writeHead(status, headers).end(bytes);
    return;
  }
  if (req.method === 'HEAD') {
    // Nothing is computed that is not read; the source releases what it holds.
    await content[Symbol.asyncIterator]().return?.(undefined);
    res.writeHead(status, headers).end();
    return;
  }
  const pieces = Readable.from(content, { objectMode: false });
  res.writeHead(status, headers);
  if (encoding === undefined) await pipeline(pieces, res);
  else await pipeline(pieces, openCompressor(encoding), res);
}
