import { mismatch, Refused } from './refusals.js';
import { MAX_FORM, type OAuthRequest } from './messages.js';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const MAX_PARAMETERS = 100;

/** The names that mean something to us: in a URL they would end up in logs. RFC 6749 §2.3.1 */
const KNOWN = [
  'grant_type',
  'scope',
  'client_assertion_type',
  'client_assertion',
  'client_id',
  'client_secret',
  'resource',
  'requested_token_type',
  'token',
  'token_type_hint',
];

/**
 * The parameters of a request. What was sent without a value counts as not sent.
 * https://www.rfc-editor.org/rfc/rfc6749#section-3.2
 *
 * @throws Refused for method, media type, size, form, parameters in the URL, and what is there twice; in this order
 */
export function readForm({ method, contentType, query, body }: OAuthRequest): URLSearchParams {
  if (method !== 'POST') throw new Refused('method', mismatch('POST', method), { Allow: 'POST' });
  if (!isForm(contentType)) throw new Refused('media-type', mismatch('application/x-www-form-urlencoded', contentType));
  if (Buffer.byteLength(body) > MAX_FORM) throw new Refused('body-size');
  if (query !== '' && [...new URLSearchParams(query).keys()].some((name) => KNOWN.includes(name))) {
    throw new Refused('query-parameters');
  }
  const form = parse(body);
  if (new Set(form.keys()).size !== form.size) throw new Refused('duplicate');
  return new URLSearchParams([...form].filter(([, value]) => value !== ''));
}

function isForm(contentType: string | undefined): boolean {
  const [name = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((each) => each.startsWith('charset='))?.slice('charset='.length);
  return name === FORM_TYPE && (charset === undefined || /^"?(?:utf-?8|us-ascii)"?$/.test(charset));
}

function parse(body: string): URLSearchParams {
  try {
    // What is no percent-encoded UTF-8 would silently become another text.
    decodeURIComponent(body.replaceAll('+', ' '));
  } catch {
    throw new Refused('form');
  }
  const form = new URLSearchParams(body);
  // A NUL or an unpaired surrogate has no place in any parameter.
  if (
    form.size > MAX_PARAMETERS ||
    /[\0\ufffd]/.test(body) ||
    [...form.values()].some((value) => value.includes('\0'))
  ) {
    throw new Refused('form');
  }
  return form;
}
