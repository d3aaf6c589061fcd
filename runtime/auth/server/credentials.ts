import { mismatch, Refused } from './refusals.js';
import type { OAuthRequest } from './messages.js';

/** https://www.rfc-editor.org/rfc/rfc7523#section-2.2 */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** How a client wants to be known. Exactly what is needed to find out whether it is. */
export interface Credentials {
  readonly assertion: string;
  /** Parameter `client_id`, which has to fit where it is there. */
  readonly clientId?: string;
}

/**
 * The client authentication of a request: present, of the only kind there is, and only one. A bearer token counts as none.
 * authorization.md §2.8, rows 8 to 10 and 23 to 25
 *
 * @throws Refused
 */
export function readCredentials({ headers }: OAuthRequest, form: URLSearchParams): Credentials {
  const scheme = schemeOf(headers['authorization']);
  const type = form.get('client_assertion_type');
  const assertion = form.get('client_assertion');
  const hasAssertion = type !== null || assertion !== null;
  const hasHeader = scheme !== undefined && scheme !== 'bearer';
  const hasSecret = form.has('client_secret');
  if ([hasAssertion, hasHeader, hasSecret].filter(Boolean).length > 1) throw new Refused('authentication-several');
  if (hasHeader) {
    const challenge = `${/^[a-z0-9-]{1,20}$/.test(scheme) && scheme !== 'basic' ? scheme : 'Basic'} realm="token"`;
    throw new Refused('authentication-basic', undefined, { 'WWW-Authenticate': challenge });
  }
  if (hasSecret) throw new Refused('authentication-secret');
  if (!hasAssertion) throw new Refused('authentication-missing');
  if (type === null || assertion === null) throw new Refused('authentication-half');
  if (type !== ASSERTION_TYPE) throw new Refused('authentication-type', mismatch(ASSERTION_TYPE, type));
  const clientId = form.get('client_id');
  return clientId === null ? { assertion } : { assertion, clientId };
}

/** Scheme of the header `Authorization` in lower case; undefined: there is none. */
export function schemeOf(header: string | readonly string[] | undefined): string | undefined {
  const text = typeof header === 'string' ? header : header?.join(', ');
  return text === undefined ? undefined : (text.trim().split(/\s/, 1)[0] ?? '').toLowerCase();
}
