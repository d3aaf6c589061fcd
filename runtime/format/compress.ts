import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';

/** How an answer is compressed. */
export type Encoding = 'br' | 'gzip';

/** Below this, in bytes, compressing costs more than it saves. */
export const COMPRESS_FROM = 1024;

/** The favourite first: br is smaller, and at these levels about as fast. */
const ENCODINGS: readonly Encoding[] = ['br', 'gzip'];

/** The encoding that a client likes best, if it takes one and does not prefer none. RFC 9110, 12.5.3 */
export function chooseEncoding(acceptEncoding: string): Encoding | undefined {
  const qualities = new Map<string, number>();
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';');
    const q = parameters.map((parameter) => /^\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*$/.exec(parameter)?.[1]);
    const coding = name.trim() === 'x-gzip' ? 'gzip' : name.trim();
    qualities.set(coding, Number(q.find((each) => each !== undefined) ?? '1'));
  }
  let best: Encoding | undefined;
  let most = 0;
  for (const encoding of ENCODINGS) {
    const q = qualities.get(encoding) ?? qualities.get('*') ?? 0;
    if (q > most) {
      best = encoding;
      most = q;
    }
  }
  return most >= (qualities.get('identity') ?? 0) ? best : undefined;
}

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

const GZIP = { level: 5 };
const BROTLI = {
  // Text at level 4: what higher ones save, no client waits for.
  [constants.BROTLI_PARAM_QUALITY]: 4,
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
};

/** Compresses an answer, off the event loop. */
export function compress(bytes: Uint8Array, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return toGzip(bytes, GZIP);
  return toBrotli(bytes, { params: { ...BROTLI, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
}

/** Compresses what comes piece by piece, off the event loop. */
export function openCompressor(encoding: Encoding): Transform {
  return encoding === 'gzip' ? createGzip(GZIP) : createBrotliCompress({ params: BROTLI });
}
