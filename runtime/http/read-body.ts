import type { IncomingMessage } from 'node:http';

import { FhirError } from '../fhir/errors.js';

/** Greatest size of a body, in bytes. */
export const MAX_BODY = 50 * 1024 * 1024;

/**
 * The bytes of a body. Once it is too large the rest is let pass unread for a while, so that a client that still sends
 * gets to see the answer; one that never ends is cut off.
 *
 * @throws FhirError `body-too-large`, `body-incomplete`, `unsupported-media-type` (compressed)
 */
export function readBody(req: IncomingMessage, limit: number = MAX_BODY): Promise<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const text = `The server reads no Content-Encoding yet, "${encoding.slice(0, 32)}" was sent`;
    return Promise.reject(
      new FhirError('unsupported-media-type', text, { headers: { 'Accept-Encoding': 'identity' } }),
    );
  }
  const tooLarge = new FhirError('body-too-large', `A body may have ${limit} bytes`);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    if (Number(req.headers['content-length'] ?? 0) > limit) refuse();
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else if (size <= 3 * limit) refuse();
      else req.destroy();
    });
    req.once('end', () => resolve(Buffer.concat(chunks)));
    req.once('error', () => reject(new FhirError('body-incomplete')));
    req.once('close', () => reject(new FhirError('body-incomplete')));

    function refuse(): void {
      chunks.length = 0;
      reject(tooLarge);
    }
  });
}
