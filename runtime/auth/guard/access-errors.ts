import type { ErrorRow } from '../../fhir/errors.js';

/** A way to be refused: as in the catalogue, and what `WWW-Authenticate` says. */
export interface AccessErrorRow extends ErrorRow {
  /** Absent: no such header. Empty: credentials did not come, so nothing is said about them. */
  readonly challenge?: '' | 'invalid_request' | 'invalid_token' | 'insufficient_scope';
}

/**
 * How a resource server refuses. The words go into headers too, hence no quotation marks, and they never tell which check of
 * a token failed. https://www.rfc-editor.org/rfc/rfc6750#section-3.1
 */
export const ACCESS_ERRORS = {
  'token-missing': { status: 401, issue: 'login', text: 'The request needs a bearer token', challenge: '' },
  'token-malformed': {
    status: 400,
    issue: 'invalid',
    text: 'A token comes alone, and in the header Authorization: Bearer',
    challenge: 'invalid_request',
  },
  'token-invalid': { status: 401, issue: 'login', text: 'The token is not valid here', challenge: 'invalid_token' },
  'token-expired': { status: 401, issue: 'expired', text: 'The token has expired', challenge: 'invalid_token' },
  'token-unverified': { status: 503, issue: 'transient', text: 'Tokens cannot be verified at the moment; try again' },
  'scope-missing': {
    status: 403,
    issue: 'forbidden',
    text: 'The token does not give what the request needs',
    challenge: 'insufficient_scope',
  },
  'access-denied': { status: 403, issue: 'forbidden', text: 'That is not allowed here' },
} as const satisfies Record<string, AccessErrorRow>;

/** Stable code of such a refusal. */
export type AccessErrorCode = keyof typeof ACCESS_ERRORS;
