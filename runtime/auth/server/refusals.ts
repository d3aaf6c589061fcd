import { claimed } from './mask-tokens.js';
import type { OAuthReply } from './messages.js';

/** How a refusal is reported to the client. https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
export interface RefusalRow {
  readonly status: number;
  readonly error: string;
  /** Printable ASCII without quotes and backslashes. */
  readonly text: string;
}

/** One text for all that can be wrong with a client's authentication: it does not disclose which clients and keys there are. */
const AUTHENTICATION: RefusalRow = {
  status: 401,
  error: 'invalid_client',
  text: 'The client could not be authenticated',
};

const badRequest = (text: string): RefusalRow => ({ status: 400, error: 'invalid_request', text });
const method = (text: string): RefusalRow => ({ status: 401, error: 'invalid_client', text });

/**
 * Every way in which a request can be refused. The keys are for logs and audit events; clients see the rest.
 * authorization.md §2.8, §5
 */
export const REFUSALS = {
  method: { status: 405, error: 'invalid_request', text: 'Only POST is answered here' },
  'media-type': badRequest('The body has to be application/x-www-form-urlencoded in UTF-8'),
  'body-size': { status: 413, error: 'invalid_request', text: 'The body is too large' },
  form: badRequest('The body cannot be read as a form'),
  'query-parameters': badRequest('Parameters belong into the body'),
  duplicate: badRequest('A parameter is there twice'),
  'grant-missing': badRequest('grant_type is missing'),
  'grant-unknown': {
    status: 400,
    error: 'unsupported_grant_type',
    text: 'The only grant_type is client_credentials',
  },
  'authentication-missing': method('Clients authenticate with a client_assertion (private_key_jwt)'),
  'authentication-half': badRequest('client_assertion and client_assertion_type belong together'),
  'authentication-type': method('The only client_assertion_type is that of jwt-bearer (private_key_jwt)'),
  'authentication-basic': method('Secrets are not accepted; clients authenticate with private_key_jwt'),
  'authentication-secret': method('Secrets are not accepted; clients authenticate with private_key_jwt'),
  'authentication-several': badRequest('A client authenticates in one way only'),
  'assertion-form': AUTHENTICATION,
  alg: AUTHENTICATION,
  kid: AUTHENTICATION,
  typ: AUTHENTICATION,
  crit: AUTHENTICATION,
  jku: AUTHENTICATION,
  client: AUTHENTICATION,
  jwks: AUTHENTICATION,
  key: AUTHENTICATION,
  signature: AUTHENTICATION,
  subject: AUTHENTICATION,
  'client-id': AUTHENTICATION,
  audience: AUTHENTICATION,
  expiry: AUTHENTICATION,
  'not-before': AUTHENTICATION,
  'issued-at': AUTHENTICATION,
  jti: AUTHENTICATION,
  replay: AUTHENTICATION,
  disabled: AUTHENTICATION,
  'grant-forbidden': { status: 400, error: 'unauthorized_client', text: 'The client may not use this grant' },
  'scope-missing': { status: 400, error: 'invalid_scope', text: 'scope is missing' },
  'scope-empty': { status: 400, error: 'invalid_scope', text: 'Nothing in scope can be granted to this client' },
  'scope-long': { status: 400, error: 'invalid_scope', text: 'So many scopes do not fit into a token; ask for fewer' },
  resource: { status: 400, error: 'invalid_target', text: 'The resource is not one of this server' },
  'token-type': badRequest('The requested_token_type is not offered'),
  'token-missing': badRequest('token is missing'),
  'token-foreign': { status: 400, error: 'invalid_grant', text: 'The token was issued to another client' },
  'bearer-missing': { status: 401, error: 'invalid_client', text: 'A bearer token or a client assertion is needed' },
  'bearer-malformed': badRequest('The header Authorization cannot be read'),
  'bearer-invalid': { status: 401, error: 'invalid_token', text: 'The bearer token is not valid' },
  'bearer-scope': { status: 403, error: 'insufficient_scope', text: 'The scope __introspect is needed' },
  rate: { status: 429, error: 'temporarily_unavailable', text: 'Too many failed requests; try again later' },
  unavailable: { status: 503, error: 'temporarily_unavailable', text: 'The server cannot answer now; try again later' },
  internal: { status: 500, error: 'server_error', text: 'An internal error' },
} as const satisfies Record<string, RefusalRow>;

/** Why a request was refused. */
export type Refusal = keyof typeof REFUSALS;

const MAX_VALUE = 200;

/**
 * Detail of a refusal for the log: what was expected, and what the request had. What looks like a token is masked, and control
 * characters are replaced.
 */
export function mismatch(expected: string, received: unknown): string {
  const text = received === undefined ? 'nothing' : (JSON.stringify(received) ?? 'nothing');
  return `expected ${claimed(expected)}, received ${claimed(text.slice(0, MAX_VALUE))}`;
}

/** A request is refused: an expected end, caught by the endpoint. */
export class Refused extends Error {
  constructor(
    readonly refusal: Refusal,
    /** For logs: what was wrong exactly, as `mismatch` writes it. Never a secret, a token, an assertion, or what another server sent. */
    readonly detail?: string,
    /** Headers of the reply. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(refusal);
    this.name = 'Refused';
  }
}

/** Headers of every reply. https://www.rfc-editor.org/rfc/rfc6749#section-5.1 */
export const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/** A reply of JSON. */
export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): OAuthReply {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...NO_STORE, ...headers },
    body: JSON.stringify(value),
  };
}

/** The reply to a refused request. */
export function refusalReply({ refusal, headers }: Refused): OAuthReply {
  const { status, error, text } = REFUSALS[refusal];
  return jsonReply(status, { error, error_description: text }, headers);
}
