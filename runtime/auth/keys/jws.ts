import type * as Jose from 'jose';
import type { CryptoKey } from 'jose';

import type { SignatureAlgorithm } from '../jwks/algorithms.js';
import type { Jwk } from '../jwks/jwk.js';

/** The parts of a compact JWS, nothing of them verified. https://www.rfc-editor.org/rfc/rfc7515#section-3.1 */
export interface DecodedJws {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Longest JWS that is looked at, in characters. */
export const MAX_JWS = 16 * 1024;

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** What is needed of a key; its other members are checked elsewhere, and would be judged again by the library. */
const PUBLIC = ['kty', 'n', 'e', 'crv', 'x', 'y'];
const PRIVATE = [...PUBLIC, 'd', 'p', 'q', 'dp', 'dq', 'qi'];

let library: Promise<typeof Jose> | undefined;

/** Loaded by the first who needs it. */
function loadJose(): Promise<typeof Jose> {
  library ??= import('jose');
  return library;
}

/** Undefined: it is no compact JWS with an object of JSON as header and as payload, or too long. */
export function decodeJws(text: string): DecodedJws | undefined {
  if (text.length > MAX_JWS || !COMPACT.test(text)) return undefined;
  const [header, payload] = text.split('.', 2).map(readPart);
  return header === undefined || payload === undefined ? undefined : { header, payload };
}

function readPart(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(part, 'base64url'));
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the signature is that of the key. No failure of the check is distinguished. */
export async function verifyJws(text: string, key: Jwk, alg: SignatureAlgorithm): Promise<boolean> {
  const { compactVerify } = await loadJose();
  try {
    await compactVerify(text, await importKey(key, alg, 'verify'), { algorithms: [alg] });
    return true;
  } catch {
    return false;
  }
}

/** A compact JWS. @throws where the key is not one for the algorithm */
export async function signJws(
  header: { readonly alg: SignatureAlgorithm; readonly kid: string; readonly typ: string },
  payload: Readonly<Record<string, unknown>>,
  key: Jwk,
): Promise<string> {
  const { CompactSign } = await loadJose();
  const bytes = new TextEncoder().encode(JSON.stringify(payload));
  return await new CompactSign(bytes).setProtectedHeader({ ...header }).sign(await importKey(key, header.alg, 'sign'));
}

/**
 * A detached JWS over a text: `header..signature`. https://www.rfc-editor.org/rfc/rfc7515#appendix-F
 *
 * @throws where the key is not one for the algorithm
 */
export async function signDetached(
  header: { readonly alg: SignatureAlgorithm; readonly kid: string; readonly typ: string },
  text: string,
  key: Jwk,
): Promise<string> {
  const { FlattenedSign } = await loadJose();
  const sign = new FlattenedSign(new TextEncoder().encode(text)).setProtectedHeader({ ...header });
  const { protected: head = '', signature } = await sign.sign(await importKey(key, header.alg, 'sign'));
  return `${head}..${signature}`;
}

/** A new key pair as a private JWK, its kid the thumbprint. */
export async function generateKey(alg: SignatureAlgorithm): Promise<Jwk & { readonly kid: string }> {
  const { generateKeyPair, exportJWK } = await loadJose();
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await thumbprintOf(jwk), alg };
}

/** A name for a key that follows from the key itself. https://www.rfc-editor.org/rfc/rfc7638 */
export async function thumbprintOf(key: Jwk): Promise<string> {
  const { calculateJwkThumbprint } = await loadJose();
  return await calculateJwkThumbprint(key);
}

/** The half of a key that everybody may have. Its members are named, so that no private one can get in. */
export function publicHalf(key: Jwk): Jwk {
  const named = [...PUBLIC, 'kid', 'alg'].filter((name) => key[name] !== undefined);
  return { ...Object.fromEntries(named.map((name) => [name, key[name]])), use: 'sig' };
}

type Purpose = 'sign' | 'verify';

/** Imported once for as long as the key itself is kept. */
const imported = new WeakMap<Jwk, Map<string, Promise<CryptoKey>>>();

function importKey(key: Jwk, alg: SignatureAlgorithm, purpose: Purpose): Promise<CryptoKey> {
  const known = imported.get(key) ?? new Map<string, Promise<CryptoKey>>();
  imported.set(key, known);
  const name = `${alg} ${purpose}`;
  const made = known.get(name) ?? importMaterial(key, alg, purpose === 'sign' ? PRIVATE : PUBLIC);
  known.set(name, made);
  return made;
}

async function importMaterial(key: Jwk, alg: SignatureAlgorithm, members: readonly string[]): Promise<CryptoKey> {
  const { importJWK } = await loadJose();
  const made = await importJWK(Object.fromEntries(Object.entries(key).filter(([name]) => members.includes(name))), alg);
  if (made instanceof Uint8Array) throw new TypeError('a symmetric key');
  return made;
}
