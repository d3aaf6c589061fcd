import { invalid, type Verification } from '../access-token.js';
import type { ExternalSettings, ForeignScopes } from './settings.js';

type Claims = Readonly<Record<string, unknown>>;

/**
 * Checks the claims of a token of another server. Their author has been verified already: by a signature, or because the server
 * itself was asked.
 *
 * @param isAsked they are an answer of introspection, in which issuer and audience may be missing
 * @param now milliseconds since the epoch
 */
export function readClaims(
  claims: Claims,
  settings: ExternalSettings,
  scopes: ForeignScopes,
  isAsked: boolean,
  now: number,
): Verification {
  const { iss, aud, exp, nbf, jti } = claims;
  const time = now / 1000;
  // What another server answered is not logged.
  const wrong: typeof invalid = (what, expected, received) =>
    isAsked ? { failure: 'invalid', detail: what } : invalid(what, expected, received);
  if (iss !== settings.issuer && !(isAsked && iss === undefined)) return wrong('issuer', settings.issuer, iss);
  const audience = (Array.isArray(aud) ? aud : [aud]).find((each) => settings.audience.includes(each as string));
  if (audience === undefined && !(isAsked && aud === undefined)) {
    return wrong('audience', settings.audience.join(' or '), aud);
  }
  if (exp === undefined ? !isAsked : !isTime(exp)) return wrong('expiry', 'exp as a number', exp);
  // The answer to a question is of now; our clock and the server's need not be the same for a signature.
  const skew = isAsked ? 0 : settings.skew;
  if (isTime(exp) && time >= exp + skew) return { failure: 'expired' };
  if (nbf !== undefined && !(isTime(nbf) && time >= nbf - settings.skew)) {
    return wrong('not-before', `nbf up to ${Math.floor(time)}`, nbf);
  }
  const clientId = [claims['client_id'], claims['azp'], isAsked ? claims['sub'] : undefined].find(isText);
  if (clientId === undefined) return wrong('client', 'client_id or azp', undefined);
  return {
    token: {
      clientId,
      scope: scopes(wordsOf(claims['scope'] ?? claims['scp'])),
      // Without an end it is good for this answer only.
      exp: isTime(exp) ? exp : time,
      issuer: settings.issuer,
      audience: typeof audience === 'string' ? audience : (settings.audience[0] ?? ''),
      ...(isText(jti) ? { jti } : {}),
    },
  };
}

function wordsOf(scope: unknown): readonly string[] {
  const texts = Array.isArray(scope) ? scope.filter(isText) : isText(scope) ? [scope] : [];
  return texts.flatMap((text) => text.split(' ')).filter((word) => word !== '');
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 16 * 1024;
}
