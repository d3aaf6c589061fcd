import { CLIENT_ALGORITHMS, type SignatureAlgorithm } from '../jwks/algorithms.js';

/** Where the server and its endpoints are, as clients have to write it. */
export interface AuthAddresses {
  /** The base URL without a trailing slash. */
  readonly issuer: string;
  /** Base of the FHIR URLs: the audience of tokens. */
  readonly audience: string;
  readonly token: string;
  readonly introspection: string;
  readonly revocation: string;
  readonly jwks: string;
}

/** Settings of the authorization server. Times in seconds. */
export interface AuthSettings {
  readonly addresses: AuthAddresses;
  /** Tolerance of clocks, 0 to 60. */
  readonly skew: number;
  /** Life of a token, where the client has none of its own. */
  readonly lifetime: number;
  /** What assertions may be signed with. */
  readonly algorithms: readonly SignatureAlgorithm[];
  /** Whether an assertion may also name the issuer as its audience (rfc7523bis). */
  readonly acceptsIssuerAsAudience: boolean;
  /** Ids that are no client's here, whatever the register says: it may be that of other servers too. */
  readonly noClients: ReadonlySet<string>;
  /** Failed requests a minute. */
  readonly failures: { readonly pair: number; readonly address: number };
}

/** How long an assertion may be good for, in seconds. https://hl7.org/fhir/smart-app-launch/client-confidential-asymmetric.html */
export const ASSERTION_LIFETIME = 300;

/**
 * The addresses of a server.
 *
 * @param baseUrl its root, without the path of FHIR
 * @param fhirPath where FHIR is below it; empty where Kiln is mounted in another application: the root is the FHIR base then
 */
export function addressesOf(baseUrl: string, fhirPath = '/fhir'): AuthAddresses {
  const issuer = baseUrl.replace(/\/+$/, '');
  return {
    issuer,
    audience: `${issuer}${fhirPath}`,
    token: `${issuer}/auth/token`,
    introspection: `${issuer}/auth/introspect`,
    revocation: `${issuer}/auth/revoke`,
    jwks: `${issuer}/auth/jwks.json`,
  };
}

/** All settings but the addresses, as they are where nothing else is said. */
export const AUTH_DEFAULTS: Omit<AuthSettings, 'addresses'> = {
  skew: 30,
  lifetime: 300,
  algorithms: CLIENT_ALGORITHMS,
  acceptsIssuerAsAudience: false,
  noClients: new Set(),
  failures: { pair: 60, address: 600 },
};
