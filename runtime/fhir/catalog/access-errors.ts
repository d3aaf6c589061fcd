/**
 * How a resource server refuses for want of a token or a scope. The words go into headers too, hence no quotation marks, and
 * they never tell which check of a token failed. https://www.rfc-editor.org/rfc/rfc6750#section-3.1
 */
export const ACCESS_ERRORS = {
  'token-missing': { status: 401, issue: 'login', text: 'The request needs a bearer token' },
  'token-malformed': {
    status: 400,
    issue: 'invalid',
    text: 'A token comes alone, and in the header Authorization: Bearer; here it is empty or cannot be read, there are several, or it is in the URL or a form',
  },
  'token-invalid': { status: 401, issue: 'login', text: 'The token is not valid here' },
  'token-expired': { status: 401, issue: 'expired', text: 'The token has expired' },
  'token-unverified': { status: 503, issue: 'transient', text: 'Tokens cannot be verified at the moment; try again' },
  'scope-missing': { status: 403, issue: 'forbidden', text: 'The token does not give what the request needs' },
  'access-denied': { status: 403, issue: 'forbidden', text: 'That is not allowed here' },
} as const;

/** Stable code of such a refusal. */
export type AccessErrorCode = keyof typeof ACCESS_ERRORS;
