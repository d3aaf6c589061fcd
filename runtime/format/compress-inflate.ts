import { once } from 'node:events';
import { createGunzip, type Gunzip } from 'node:zlib';

import { FhirError } from '../fhir/errors.js';

/**
 * Inflates a gzip stream piece by piece. Who reads it counts the bytes and stops when there are too many: nothing is
 * inflated ahead of that, but for a piece or two.
 *
 * @throws FhirError `body-encoding`; what the source throws passes through
 */
export async function* inflate(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  feed(source, gunzip).catch((error: Error) => gunzip.destroy(error));
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (error) {
    throw error instanceof FhirError ? error : new FhirError('body-encoding', 'The body is not whole gzip data');
  } finally {
    gunzip.destroy();
  }
}

async function feed(source: AsyncIterable<Uint8Array>, gunzip: Gunzip): Promise<void> {
  for await (const chunk of source) {
    if (gunzip.destroyed) return;
    if (!gunzip.write(chunk)) await Promise.race([once(gunzip, 'drain'), once(gunzip, 'close')]);
  }
  gunzip.end();
}
