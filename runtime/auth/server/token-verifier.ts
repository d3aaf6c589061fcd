import { hash as digest } from 'node:crypto';

import type { ClientReader } from '../clients/client-reader.js';
import { createBoundedMap } from '../../fhir/memory/bounded-map.js';
import { AGE } from '../keys/fresh.js';
import type { ServerKeys } from '../keys/server-keys.js';
import { readToken, type OwnToken, type TokenNames, type Verification, type VerifiedToken } from './access-token.js';
import type { RevokedTokens } from './revoked.js';

/**
 * Checks access tokens. What is good is remembered by the SHA-256 of the token until it expires; what is not, never.
 */
export interface TokenVerifier<T extends VerifiedToken = VerifiedToken> {
  /**
   * At once where the token is known, so that most requests wait for nothing.
   *
   * @throws FhirError where the store cannot serve: fail closed
   */
  verify(text: string): Verification<T> | Promise<Verification<T>>;
}

/** Checks tokens of our own. */
export interface OwnTokenVerifier extends TokenVerifier<OwnToken> {
  /** It was revoked here: looks at the store again the next time. */
  forget(text: string): void;
}

/** Parts that the check of our own tokens works with. */
export interface VerifierNeeds {
  readonly names: TokenNames;
  readonly keys: ServerKeys;
  readonly clients: ClientReader;
  readonly revoked: RevokedTokens;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

/** Tokens that are remembered. */
const MOST = 10_000;

interface Known {
  readonly token: OwnToken;
  /** When the look at the store began that found it good, in milliseconds. */
  readonly looked: number;
}

/** Of the tokens that came last: they come again and again, as the same string, so that to find them costs next to nothing. */
const hashes = createBoundedMap<string>(64);

/** Under which it is remembered that a token is good: not under the token itself. */
export function tokenHash(text: string): string {
  let hash = hashes.get(text);
  if (hash === undefined) hashes.set(text, (hash = digest('sha256', text, 'base64')));
  return hash;
}

/**
 * Checks tokens of our own. Whether a token was revoked, its client disabled or its key dropped is looked up again when
 * that was done some time ago (`AGE`), so every process honours it within 2 s.
 */
export function createTokenVerifier({ names, keys, clients, revoked, now }: VerifierNeeds): OwnTokenVerifier {
  const known = createBoundedMap<Known>(MOST);
  /** Looks under way, by token: of many requests at once one looks. */
  const looking = new Map<string, Promise<Verification<OwnToken>>>();

  async function look(hash: string, text: string, before: OwnToken | undefined): Promise<Verification<OwnToken>> {
    const started = now();
    const read = before === undefined ? await readToken(text, names, keys, started) : { token: before };
    if (!('token' in read)) return read;
    const detail = await whyNot(read.token);
    if (detail !== undefined) {
      known.delete(hash);
      return { failure: 'invalid', detail };
    }
    known.set(hash, { token: read.token, looked: started });
    return read;
  }

  /** Why a token that is well signed is good for nothing. */
  async function whyNot({ kid, clientId, registration, jti }: OwnToken): Promise<string | undefined> {
    const [key, client, isRevoked] = await Promise.all([keys.find(kid), clients.find(clientId), revoked.has(jti)]);
    if (key === undefined) return 'key';
    if (client?.enabled !== true || client.registration !== registration) return 'client';
    return isRevoked ? 'revoked' : undefined;
  }

  return {
    forget: (text) => known.delete(tokenHash(text)),
    verify(text) {
      const hash = tokenHash(text);
      const found = known.get(hash);
      const time = now();
      if (found !== undefined && time >= found.token.exp * 1000) {
        known.delete(hash);
        return { failure: 'expired' };
      }
      if (found !== undefined && time - found.looked < AGE && time >= found.looked) return found;
      const running = looking.get(hash) ?? look(hash, text, found?.token).finally(() => looking.delete(hash));
      looking.set(hash, running);
      return running;
    },
  };
}
