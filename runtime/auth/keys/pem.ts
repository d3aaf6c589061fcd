import { createPublicKey } from 'node:crypto';

import type { Jwk } from '../jwks/jwk.js';
import { thumbprintOf } from './jws.js';

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;

/** What a block may hold: a key as SPKI or PKCS #1, or a certificate with one. */
const KINDS: readonly (string | undefined)[] = ['PUBLIC KEY', 'RSA PUBLIC KEY', 'CERTIFICATE'];

/** Whether a text is meant as PEM. https://www.rfc-editor.org/rfc/rfc7468 */
export function isPem(text: string): boolean {
  return text.includes('-----BEGIN ');
}

/**
 * The public keys in a PEM text as JWKs. The kid of each is its thumbprint (RFC 7638), because PEM has no place for one.
 *
 * @throws TypeError saying what is wrong with the text; nothing of it is in the message
 */
export async function readPublicKeys(text: string): Promise<readonly Jwk[]> {
  const blocks = [...text.matchAll(BLOCK)];
  if (blocks.some(([, kind]) => kind?.endsWith('PRIVATE KEY'))) {
    throw new TypeError('holds a private key; register the public half: openssl pkey -in FILE -pubout');
  }
  const other = blocks.find(([, kind]) => !KINDS.includes(kind));
  if (other !== undefined) throw new TypeError(`holds a ${other[1]}; a PUBLIC KEY or a CERTIFICATE is needed`);
  if (blocks.length === 0) throw new TypeError('holds no whole PEM block, -----BEGIN PUBLIC KEY----- to its -----END');
  return await Promise.all(blocks.map(([block]) => readKey(block)));
}

async function readKey(block: string): Promise<Jwk> {
  let key: Jwk;
  try {
    key = createPublicKey(block).export({ format: 'jwk' }) as Jwk;
  } catch {
    throw new TypeError('holds a key that cannot be read, or is neither RSA nor EC');
  }
  return { ...key, kid: await thumbprintOf(key), use: 'sig' };
}
