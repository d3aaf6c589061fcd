/** Text that replaces a token. */
export const MASK = '***';

/** Names under which tokens and assertions are sent. `code` is none of them: it is a search parameter of many types. */
const SECRET = /^(?:access_token|token|client_assertion)$/i;

/** Characters that tokens are made of. In one piece, so that long texts take no longer than they are long. */
const RUN = /[\w.-]+/g;
/** How each JWT begins: the base64url of `{"`. https://www.rfc-editor.org/rfc/rfc7515#section-3.1 */
const BEGIN = 'eyJ';
/** A printable character that is percent-encoded, however often. */
const ENCODED = /%(?:25)*([2-7][0-9a-f])/gi;

/** A text without the JWTs that are in it, percent-encoded ones too; one without any as it is. */
export function maskTokens(text: string): string {
  const plain = decoded(text);
  if (!plain.includes(BEGIN)) return text;
  const masked = plain.replace(RUN, maskRun);
  return masked === plain ? text : masked;
}

/**
 * Masks tokens in the name and the value of a parameter. The whole value is masked where the name is one that tokens are sent
 * under.
 */
export function maskParameter([name, value]: readonly [string, string]): [string, string] {
  return [maskTokens(name), SECRET.test(decoded(name)) ? MASK : maskTokens(value)];
}

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(ENCODED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** From the first part that begins a token, and has two after it, to the end. */
function maskRun(run: string): string {
  const parts = run.split('.');
  const at = parts.slice(0, -2).findIndex((part) => part.includes(BEGIN));
  if (at < 0) return run;
  const first = parts[at]!;
  return [...parts.slice(0, at), first.slice(0, first.indexOf(BEGIN)) + MASK].join('.');
}

const MAX_CLAIM = 255;

/** A text that a request claims, fit for a log. */
export function claimed(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const masked = maskTokens(text).slice(0, MAX_CLAIM);
  // eslint-disable-next-line no-control-regex -- these are what must not get into a log
  return masked.replace(/[\x00-\x1f\x7f-\x9f]/g, '?');
}
