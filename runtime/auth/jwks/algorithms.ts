/** A signature algorithm that we verify. https://www.rfc-editor.org/rfc/rfc7518#section-3.1 */
export type SignatureAlgorithm =
  'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA';

/** The keys that an algorithm works with. */
export interface AlgorithmRow {
  readonly kty: 'RSA' | 'EC' | 'OKP';
  /** The only curve. */
  readonly crv?: string;
}

/**
 * All of them are asymmetric: `none` and HS* are not here, so that no setting can allow them. The key's family follows from
 * the algorithm, never the other way round.
 */
export const ALGORITHMS: Readonly<Record<SignatureAlgorithm, AlgorithmRow>> = {
  RS256: { kty: 'RSA' },
  RS384: { kty: 'RSA' },
  RS512: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  PS384: { kty: 'RSA' },
  PS512: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  ES512: { kty: 'EC', crv: 'P-521' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
};

/**
 * Algorithms that clients may sign assertions with. https://hl7.org/fhir/smart-app-launch/client-confidential-asymmetric.html
 */
export const CLIENT_ALGORITHMS: readonly SignatureAlgorithm[] = ['RS384', 'ES384'];

/** Whether it is one of them. */
export function isAlgorithm(name: unknown): name is SignatureAlgorithm {
  return typeof name === 'string' && Object.hasOwn(ALGORITHMS, name);
}
