import { metadataUrl, type ClaimedSupport } from '../../discovery/documents.js';
import { ExchangeError } from '../../jwks/exchange.js';
import { fetchDocument, type Fetching } from '../../jwks/fetch-document.js';

/** Metadata of an authorization server, as far as Kiln uses them. */
export interface ServerMetadata {
  readonly jwksUri?: string;
  readonly introspectionEndpoint?: string;
  readonly tokenEndpoint?: string;
  readonly revocationEndpoint?: string;
  readonly claims: ClaimedSupport;
}

/** Names of the members of `ServerMetadata` that are URLs. */
export type EndpointName = Exclude<keyof ServerMetadata, 'claims'>;

const MEMBERS = {
  jwksUri: 'jwks_uri',
  introspectionEndpoint: 'introspection_endpoint',
  tokenEndpoint: 'token_endpoint',
  revocationEndpoint: 'revocation_endpoint',
} as const satisfies Record<EndpointName, string>;

/** Lists of words that are passed on. https://www.rfc-editor.org/rfc/rfc8414#section-2 */
const CLAIMS = {
  grantTypes: 'grant_types_supported',
  authMethods: 'token_endpoint_auth_methods_supported',
  algorithms: 'token_endpoint_auth_signing_alg_values_supported',
  challengeMethods: 'code_challenge_methods_supported',
  scopes: 'scopes_supported',
} as const satisfies Record<keyof ClaimedSupport, string>;

/** Words of a list that are passed on, and characters of each. */
const PASSED_ON = { words: 500, characters: 300 };

/**
 * Fetches the metadata of an issuer: at the place of RFC 8414, else of OpenID Connect. A document of another issuer is
 * refused. https://www.rfc-editor.org/rfc/rfc8414#section-3.3
 *
 * @throws ExchangeError; the text is for logs
 */
export async function fetchMetadata(issuer: string, fetching: Fetching): Promise<ServerMetadata> {
  const places = [metadataUrl(issuer), `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`];
  let trouble = new ExchangeError('has no metadata');
  for (const place of places) {
    try {
      return readMetadata(issuer, (await fetchDocument(place, fetching)).body);
    } catch (error) {
      if (!(error instanceof ExchangeError) || error instanceof ForeignMetadata) throw error;
      trouble = error;
    }
  }
  throw trouble;
}

/** A document that is there, and must not be used: no other is looked for. */
class ForeignMetadata extends ExchangeError {}

function readMetadata(issuer: string, body: string): ServerMetadata {
  let content: Partial<Record<string, unknown>>;
  try {
    content = Object(JSON.parse(body)) as Partial<Record<string, unknown>>;
  } catch {
    throw new ExchangeError('answered with metadata that is no JSON');
  }
  if (content['issuer'] !== issuer) throw new ForeignMetadata('answered with the metadata of another issuer');
  const claims = Object.entries(CLAIMS).flatMap(([name, member]) => {
    const words = content[member];
    return Array.isArray(words) ? [[name, words.filter(isWord).slice(0, PASSED_ON.words)]] : [];
  });
  const found = Object.entries(MEMBERS).flatMap(([name, member]) => {
    const value = content[member];
    return typeof value === 'string' && URL.canParse(value) && value.startsWith('https:') ? [[name, value]] : [];
  });
  return { ...Object.fromEntries(found), claims: Object.fromEntries(claims) as ClaimedSupport };
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value.length <= PASSED_ON.characters;
}
