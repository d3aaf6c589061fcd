import { createPublicKey, type JsonWebKey } from 'node:crypto';

import { ALGORITHMS, isAlgorithm, type SignatureAlgorithm } from './algorithms.js';

/** A JSON Web Key, as it was given. https://www.rfc-editor.org/rfc/rfc7517#section-4 */
export type Jwk = Readonly<Record<string, unknown>>;

/** A set of keys. https://www.rfc-editor.org/rfc/rfc7517#section-5 */
export interface JwkSet {
  readonly keys: readonly Jwk[];
}

/** Most keys in a set. */
export const MAX_KEYS = 100;
/** Largest set, in bytes of JSON. */
export const MAX_SET = 64 * 1024;

/** RFC 7518 §3.3. */
const MIN_RSA_BITS = 2048;
/** A larger modulus makes a check expensive, and protects no more. */
const MAX_RSA_BITS = 8192;
/** OpenSSL reads larger exponents only where the modulus is small. */
const MAX_EXPONENT_BITS = 64;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
/** Bytes of a coordinate, by curve. */
const COORDINATES: Readonly<Record<string, number>> = { 'P-256': 32, 'P-384': 48, 'P-521': 66, Ed25519: 32 };
/** Members that hold a secret: of RSA and EC keys, and `k` of symmetric ones. */
const SECRETS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/**
 * Returns the fault of a key that is registered by value, in words for the person who registers it; undefined: it has none.
 * https://hl7.org/fhir/smart-app-launch/client-confidential-asymmetric.html#registering-a-client-communicating-public-keys
 *
 * @param algorithms what clients may sign with; the key has to be good for one of them
 */
export function keyFault(key: unknown, algorithms: readonly SignatureAlgorithm[]): string | undefined {
  if (typeof key !== 'object' || key === null || Array.isArray(key)) return 'is not an object';
  const jwk = key as Jwk;
  if (jwk['kty'] === 'oct') return 'is symmetric (kty "oct"); register a public RSA or EC key';
  const secret = SECRETS.find((name) => Object.hasOwn(jwk, name));
  if (secret !== undefined) return `holds a private member ("${secret}"); register the public half only`;
  if (typeof jwk['kty'] !== 'string') return 'has no kty';
  if (!isKid(jwk['kid'])) return 'has no kid (a text of 1 to 255 characters)';
  return materialFault(jwk) ?? purposeFault(jwk, algorithms);
}

/**
 * The keys of a fetched set that can be used at all: others are passed over, because a set may hold keys for other
 * purposes. RFC 7517 §5.
 */
export function usableKeys(set: JwkSet): readonly Jwk[] {
  return set.keys.filter(
    (key) =>
      typeof key === 'object' &&
      key !== null &&
      !SECRETS.some((name) => Object.hasOwn(key, name)) &&
      isKid(key['kid']) &&
      typeof key['kty'] === 'string',
  );
}

/** Whether a key works with an algorithm, and may verify: kty, curve, size, `alg`, `use`, `key_ops`. */
export function fits(key: Jwk, alg: SignatureAlgorithm): boolean {
  return purposeFault(key, [alg]) === undefined && materialFault(key) === undefined;
}

function isKid(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= 255;
}

function materialFault(key: Jwk): string | undefined {
  if (key['kty'] === 'RSA') {
    if (!isText(key['n']) || !isText(key['e'])) return 'is an RSA key without n and e';
    const bits = bitsOf(key['n']);
    if (bits < MIN_RSA_BITS) return `is an RSA key of ${bits} bits; at least ${MIN_RSA_BITS} are needed`;
    if (bits > MAX_RSA_BITS) return `is an RSA key of more than ${MAX_RSA_BITS} bits`;
    return rsaFault(key['n'], key['e']);
  }
  const crv = key['crv'];
  const size = typeof crv === 'string' && Object.hasOwn(COORDINATES, crv) ? COORDINATES[crv] : undefined;
  if (size === undefined) return 'is of a kind or curve that is not supported';
  const needed = key['kty'] === 'EC' ? ['x', 'y'] : ['x'];
  const isWhole = needed.every((name) => isText(key[name]) && Buffer.from(key[name], 'base64url').length === size);
  if (!isWhole) return `has no ${needed.join(' and ')} of its curve's size`;
  return isOnCurve(key) ? undefined : 'is not a point of its curve';
}

/**
 * Why an RSA public key is worthless: with the exponent 1 a signature is the padded digest itself, so that anyone can sign; even
 * exponents and moduli belong to no RSA key. RFC 8017 §3.1
 */
function rsaFault(modulus: string, exponent: string): string | undefined {
  const e = Buffer.from(exponent, 'base64url');
  const bits = bitsOf(exponent);
  if (bits < 2) return 'is an RSA key with an exponent (e) below 3; 65537 is usual';
  if (bits > MAX_EXPONENT_BITS)
    return `is an RSA key with an exponent (e) of more than ${MAX_EXPONENT_BITS} bits; 65537 is usual`;
  if (!isOdd(e)) return 'is an RSA key with an even exponent (e); 65537 is usual';
  return isOdd(Buffer.from(modulus, 'base64url')) ? undefined : 'is an RSA key with an even modulus (n)';
}

function isOdd(bytes: Buffer): boolean {
  return (bytes.at(-1)! & 1) === 1;
}

/** Whether the coordinates are a point of the curve: OpenSSL reads no other EC key. */
function isOnCurve({ kty, crv, x, y }: Jwk): boolean {
  if (kty !== 'EC') return true;
  try {
    createPublicKey({ format: 'jwk', key: { kty, crv, x, y } as JsonWebKey });
    return true;
  } catch {
    return false;
  }
}

function purposeFault(key: Jwk, algorithms: readonly SignatureAlgorithm[]): string | undefined {
  const rows = algorithms.map((alg) => ({ alg, ...ALGORITHMS[alg] }));
  const names = algorithms.join(', ');
  const ofKind = rows.filter(({ kty }) => kty === key['kty']);
  if (ofKind.length === 0) return `is of a kty that none of ${names} uses`;
  const ofCurve = ofKind.filter(({ crv }) => crv === undefined || crv === key['crv']);
  if (ofCurve.length === 0) return `is on a curve that none of ${names} uses (ES384 needs P-384)`;
  const own = key['alg'];
  if (own !== undefined && !(isAlgorithm(own) && ofCurve.some(({ alg }) => alg === own))) {
    return `is marked for an algorithm ("alg") other than ${names}`;
  }
  if (key['use'] !== undefined && key['use'] !== 'sig') return 'is not for signatures ("use" is not "sig")';
  const operations = key['key_ops'];
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) {
    return 'may not verify ("key_ops" lacks "verify")';
  }
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && BASE64URL.test(value);
}

function bitsOf(modulus: string): number {
  const bytes = Buffer.from(modulus, 'base64url');
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (bytes.length - first) * 8 - Math.clz32(bytes[first]!) + 24;
}
