import type { SignatureAlgorithm } from '../../jwks/algorithms.js';
import type { Jwk } from '../../jwks/jwk.js';

/** An external authorization server: configuration `auth.external`. Each URL is https. authorization.md §5.3 */
export interface ExternalSettings {
  readonly mode: 'jwks' | 'introspection';
  /** Exactly as tokens and metadata have it. */
  readonly issuer: string;
  /** One of them has to be in the token. */
  readonly audience: readonly string[];
  /** Absent URLs are taken from the server's metadata. */
  readonly jwksUri?: string;
  readonly introspectionEndpoint?: string;
  readonly tokenEndpoint?: string;
  /** What tokens may be signed with. */
  readonly algorithms: readonly SignatureAlgorithm[];
  /** What the header `typ` may be; `any`: it may also be absent, as with many servers. */
  readonly typ: readonly string[] | 'any';
  /** Tolerance of clocks in seconds, 60 at most. */
  readonly skew: number;
  /** Who we are there: needed for introspection. */
  readonly client?: ExternalClient;
}

/** How we authenticate at the external server. */
export interface ExternalClient {
  readonly id: string;
  /** Private JWK with a kid, RSA or P-384. */
  readonly key: Jwk;
  /** What we ask for to be allowed to introspect; absent: the parameter is left out. */
  readonly scope?: string;
}

/** As they are where nothing else is said. */
export const EXTERNAL_DEFAULTS: Pick<ExternalSettings, 'algorithms' | 'typ' | 'skew'> = {
  algorithms: ['RS256', 'RS384', 'PS256', 'PS384', 'ES256', 'ES384'],
  typ: ['at+jwt'],
  skew: 30,
};

/**
 * Turns the scopes of a foreign token into canonical v2 scopes; what is not understood gives nothing. Made of the
 * configured table and the grammar of scopes.
 */
export type ForeignScopes = (words: readonly string[]) => string;
