import { randomUUID } from 'node:crypto';

import type { SignatureAlgorithm } from '../jwks/algorithms.js';
import { fits, type Jwk } from '../jwks/jwk.js';
import { signJws } from '../keys/jws.js';
import { ASSERTION_TYPE } from './credentials.js';

/** Life of the assertions that we make, in seconds: clocks may differ by a minute. */
const LIFETIME = 240;

/** Who asks for what. */
export interface TokenRequest {
  readonly clientId: string;
  /** Private JWK with a kid, RSA or P-384. */
  readonly key: Jwk;
  /** URL of the token endpoint, exactly as it is advertised. */
  readonly audience: string;
  readonly scope?: string;
}

/** Why a private key cannot sign assertions, in words for who has it; undefined: it can. Nothing of the key is in them. */
export function signingKeyFault(key: unknown): string | undefined {
  if (typeof key !== 'object' || key === null) return 'is not a JWK';
  const { d, kid, key_ops: _operations, use: _use, ...rest } = key as Jwk;
  if ('keys' in rest) return 'is a set of keys: what is registered, while this has to be the private one alone';
  if (typeof kid !== 'string' || kid === '') return 'has no kid';
  if (typeof d !== 'string') return 'has no private half';
  return fits(rest, algorithmOf(rest)) ? undefined : 'is neither RSA (2048 bits at least, RS384) nor EC P-384 (ES384)';
}

/** What a key signs assertions with. */
function algorithmOf(key: Jwk): SignatureAlgorithm {
  return key['kty'] === 'RSA' ? 'RS384' : 'ES384';
}

/**
 * The form that asks a token endpoint for a token, with a new assertion: for `kiln token`, and for us as a client of
 * another server. https://hl7.org/fhir/smart-app-launch/backend-services.html#request
 *
 * @param now milliseconds since the epoch
 * @throws TypeError where the key cannot sign such assertions
 */
export async function tokenForm({ clientId, key, audience, scope }: TokenRequest, now: number): Promise<string> {
  const fault = signingKeyFault(key);
  if (fault !== undefined) throw new TypeError(`The private key ${fault}`);
  const alg = algorithmOf(key);
  const kid = key['kid'] as string;
  const iat = Math.floor(now / 1000);
  const claims = { iss: clientId, sub: clientId, aud: audience, exp: iat + LIFETIME, jti: randomUUID() };
  const assertion = await signJws({ alg, kid, typ: 'JWT' }, claims, key);
  return new URLSearchParams({
    grant_type: 'client_credentials',
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: assertion,
    ...(scope === undefined ? {} : { scope }),
  }).toString();
}
