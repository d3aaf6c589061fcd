import { randomUUID } from 'node:crypto';

import type { AtomicMaps } from '../../store/store.js';
import type { ServerKeys } from '../keys/server-keys.js';
import { SPELLINGS_MAP, writeToken, type TokenNames } from './access-token.js';
import { Refused } from './refusals.js';

/** Content of a token to be issued, and its client. */
export interface Issue {
  readonly clientId: string;
  /** `Client.registration`. */
  readonly registration?: string | undefined;
  /** Canonical. */
  readonly scope: string;
  /** For the client to read. */
  readonly spelled: string;
  /** Seconds. */
  readonly lifetime: number;
}

/** Longest token, in characters: headers are commonly limited to 8 KiB. */
export const MAX_TOKEN = 4095;

/**
 * Makes a token. The spelling of its scopes is in it, where they fit, and else beside it in the store.
 *
 * @param now milliseconds since the epoch
 * @throws Refused where the scopes themselves do not fit
 */
export async function issueToken(
  { clientId, registration, scope, spelled, lifetime }: Issue,
  names: TokenNames,
  keys: ServerKeys,
  maps: AtomicMaps,
  now: number,
): Promise<{ readonly text: string; readonly jti: string }> {
  const iat = Math.floor(now / 1000);
  const content = { clientId, registration, scope, jti: randomUUID(), iat, exp: iat + lifetime };
  const { jti, exp } = content;
  if (spelled !== scope) {
    const text = await writeToken({ ...content, spelled }, names, keys);
    if (text.length <= MAX_TOKEN) return { text, jti };
  }
  const text = await writeToken(content, names, keys);
  if (text.length > MAX_TOKEN) throw new Refused('scope-long');
  if (spelled !== scope) await maps.swap(SPELLINGS_MAP, jti, undefined, spelled, (exp + 60) * 1000);
  return { text, jti };
}
