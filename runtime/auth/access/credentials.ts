import { createRecent } from '../keys/recent.js';

/** Credentials of a request. `malformed` is answered with 400, `none` with 401; another scheme than Bearer is `none` too. */
export type Credentials =
  { readonly is: 'bearer'; readonly token: string } | { readonly is: 'none' } | { readonly is: 'malformed' };

/** Longest token, in characters; longer ones are malformed. */
export const MAX_TOKEN = 8192;

/** https://www.rfc-editor.org/rfc/rfc6750#section-2.1 */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** Tokens by the headers that came last: most requests repeat one, and the pattern costs more than to find it again. */
const recent = createRecent<Credentials>(64);

/** Where RFC 6750 also has tokens, and this server has none. */
const PARAMETER = 'access_token';

/**
 * Reads the credentials of a request. A token is accepted in the header alone: one in the query makes the request malformed
 * even beside a good header, because URLs are written down in too many places.
 *
 * @param headers the values of all `Authorization` headers, unjoined: Node keeps but the first unless asked for all
 * @param query what follows `?` in the URL, as it was sent
 */
export function readCredentials(headers: readonly string[], query: string): Credentials {
  // Names may be encoded.
  if (query !== '' && /access|%/.test(query) && hasTokenParameter(new URLSearchParams(query)))
    return { is: 'malformed' };
  const [header = '', ...more] = headers;
  if (more.length > 0) return { is: 'malformed' };
  const known = recent.get(header);
  if (known !== undefined) return known;
  if (!/^bearer(?: |$)/i.test(header)) return { is: 'none' };
  if (header.length > MAX_TOKEN) return { is: 'malformed' };
  const [, token] = BEARER.exec(header) ?? [];
  if (token === undefined) return { is: 'malformed' };
  const found: Credentials = { is: 'bearer', token };
  recent.set(header, found);
  return found;
}

/** Whether the parameters of a query or a form hold a token, which is refused whatever else is presented. */
export function hasTokenParameter(params: URLSearchParams): boolean {
  return params.has(PARAMETER);
}
