import type { AtomicMaps } from '../../store/store.js';
import { decodeJws, signJws, verifyJws } from '../keys/jws.js';
import type { ServerKeys } from '../keys/server-keys.js';
import { mismatch } from './refusals.js';

/** Content of a token that was verified. */
export interface VerifiedToken {
  readonly clientId: string;
  /** Canonical v2 scopes: what is enforced. */
  readonly scope: string;
  /** Its identifier, where it has one. */
  readonly jti?: string;
  /** `Client.registration` of the client that it was issued to, where it says so. */
  readonly registration?: string;
  /** Seconds since the epoch. */
  readonly exp: number;
  readonly issuer: string;
  readonly audience: string;
}

/** A token of our own. */
export interface OwnToken extends VerifiedToken {
  readonly jti: string;
  /** Seconds since the epoch. */
  readonly iat: number;
  /** Kid of the key that signed it. */
  readonly kid: string;
  /** The scopes as the token response gave them, where the token says so. */
  readonly spelled?: string;
}

/** Result of the check of a token. `unavailable`: the server that issued the token cannot be asked. */
export type Verification<T extends VerifiedToken = VerifiedToken> =
  { readonly token: T } | { readonly failure: 'invalid' | 'expired' | 'unavailable'; readonly detail?: string };

/** Content of a token to be written. */
export interface TokenContent {
  readonly clientId: string;
  readonly scope: string;
  /** Differs from `scope`, or is absent. */
  readonly spelled?: string;
  /** `Client.registration`. */
  readonly registration?: string | undefined;
  readonly jti: string;
  /** Seconds since the epoch. */
  readonly iat: number;
  readonly exp: number;
}

/** Issuer and audience of tokens. */
export interface TokenNames {
  readonly issuer: string;
  readonly audience: string;
}

const ALG = 'ES384';
const TYPES: readonly unknown[] = ['at+jwt', 'application/at+jwt'];

/** Makes the failure of a token in which a value differs from the expected one. `detail` is for the log, and names both. */
export function invalid(
  what: string,
  expected: string,
  received: unknown,
): { readonly failure: 'invalid'; readonly detail: string } {
  return { failure: 'invalid', detail: `${what} (${mismatch(expected, received)})` };
}

/** A signed access token. https://www.rfc-editor.org/rfc/rfc9068 */
export async function writeToken(
  { clientId, scope, spelled, registration, jti, iat, exp }: TokenContent,
  { issuer, audience }: TokenNames,
  keys: ServerKeys,
): Promise<string> {
  const { kid, jwk } = await keys.current();
  // Members that are undefined are not written.
  const own = { registration, spelled };
  const claims = { iss: issuer, sub: clientId, client_id: clientId, aud: audience, iat, exp, jti, scope, ...own };
  return await signJws({ alg: ALG, kid, typ: 'at+jwt' }, claims, jwk);
}

/**
 * Reads a token of our own: signature, type, issuer, audience, time; not whether it was revoked, or its client disabled.
 * There is no tolerance of clocks: it is our own.
 *
 * @param now milliseconds since the epoch
 */
export async function readToken(
  text: string,
  { issuer, audience }: TokenNames,
  keys: ServerKeys,
  now: number,
): Promise<Verification<OwnToken>> {
  const jws = decodeJws(text);
  if (jws === undefined) return { failure: 'invalid', detail: 'form' };
  const { alg, kid, typ, ...others } = jws.header;
  if (alg !== ALG) return invalid('alg', ALG, alg);
  if (typeof kid !== 'string') return invalid('kid', 'the name of a key', kid);
  if ('crit' in others || 'b64' in others) return { failure: 'invalid', detail: 'crit' };
  if (typeof typ !== 'string' || !TYPES.includes(typ.toLowerCase())) return invalid('typ', 'at+jwt', typ);
  const key = await keys.find(kid);
  if (key === undefined) return invalid('key', 'a kid of this server', kid);
  if (!(await verifyJws(text, key.jwk, ALG))) return { failure: 'invalid', detail: 'signature' };
  // All else is as we wrote it, but perhaps for another base URL on the same store.
  const { iss, aud, exp, iat, jti, client_id, scope, spelled, registration } = jws.payload;
  if (iss !== issuer) return invalid('issuer', issuer, iss);
  if (aud !== audience) return invalid('audience', audience, aud);
  const isWhole =
    [exp, iat].every((each) => typeof each === 'number') &&
    [jti, client_id, scope].every((each) => typeof each === 'string');
  if (!isWhole) return { failure: 'invalid', detail: 'claims' };
  if (now >= (exp as number) * 1000) return { failure: 'expired' };
  const token = {
    clientId: client_id as string,
    scope: scope as string,
    jti: jti as string,
    exp: exp as number,
    iat: iat as number,
    issuer,
    audience,
    kid,
    ...(typeof spelled === 'string' && { spelled }),
    ...(typeof registration === 'string' && { registration }),
  };
  return { token };
}

/** The map in the store that holds spellings that do not fit into their token, by its identifier. */
export const SPELLINGS_MAP = 'auth-spelled';

/** The scopes of a token as the token response gave them: introspection gives the same. */
export async function spellingOf({ spelled, jti, scope }: OwnToken, maps: AtomicMaps): Promise<string> {
  return spelled ?? (await maps.get(SPELLINGS_MAP, jti)) ?? scope;
}
