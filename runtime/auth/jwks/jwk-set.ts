import type { SignatureAlgorithm } from './algorithms.js';
import { keyFault, MAX_KEYS, MAX_SET, type Jwk, type JwkSet } from './jwk.js';

/**
 * Reads a set of keys; only its outer form is looked at. Undefined: too large, not JSON, no `keys`, or too many of
 * them.
 */
export function readJwkSet(text: string): JwkSet | undefined {
  if (Buffer.byteLength(text) > MAX_SET) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isJwkSet(value) && value.keys.length <= MAX_KEYS ? value : undefined;
}

/**
 * Returns the fault of a JWKS that is registered by value, in words for the person who registers it; undefined: it has none.
 */
export function setFault(value: unknown, algorithms: readonly SignatureAlgorithm[]): string | undefined {
  if (!isJwkSet(value)) return 'The JWKS is not an object with a member "keys" that is a list';
  if (value.keys.length === 0) return 'The JWKS has no keys';
  if (value.keys.length > MAX_KEYS) return `The JWKS has more than ${MAX_KEYS} keys`;
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_SET) return `The JWKS is larger than ${MAX_SET} bytes`;
  for (const [index, key] of value.keys.entries()) {
    const fault = keyFault(key, algorithms);
    if (fault !== undefined) return `Key ${index + 1} of the JWKS ${fault}`;
  }
  return twins(value.keys);
}

/** Two keys of one kid and kty could never be distinguished. */
function twins(keys: readonly Jwk[]): string | undefined {
  const seen = new Set<string>();
  for (const [index, key] of keys.entries()) {
    const name = JSON.stringify([key['kid'], key['kty']]);
    if (seen.has(name)) return `Key ${index + 1} of the JWKS has the kid of another one`;
    seen.add(name);
  }
  return undefined;
}

function isJwkSet(value: unknown): value is JwkSet {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<JwkSet>).keys);
}
