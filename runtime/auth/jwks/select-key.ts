import { ALGORITHMS, type SignatureAlgorithm } from './algorithms.js';
import { fits, type Jwk } from './jwk.js';

/** Result of the search for a key. */
export type Selected = { readonly key: Jwk } | { readonly missing: 'unknown' | 'ambiguous' | 'unfit' };

/**
 * The one key of a set that has this kid and the kty of the algorithm, and is fit for it.
 * https://hl7.org/fhir/smart-app-launch/client-confidential-asymmetric.html#signature-verification
 */
export function selectKey(keys: readonly Jwk[], kid: string, alg: SignatureAlgorithm): Selected {
  const { kty } = ALGORITHMS[alg];
  const [key, ...others] = keys.filter((each) => each['kid'] === kid && each['kty'] === kty);
  if (key === undefined) return { missing: 'unknown' };
  if (others.length > 0) return { missing: 'ambiguous' };
  return fits(key, alg) ? { key } : { missing: 'unfit' };
}
