import { ExchangeError, type Exchange, type IncomingAnswer } from '../../jwks/exchange.js';
import { createBoundedMap } from '../../../fhir/memory/bounded-map.js';
import { MAX_JWS } from '../../keys/jws.js';
import type { Verification, VerifiedToken } from '../access-token.js';
import { tokenHash, type TokenVerifier } from '../token-verifier.js';
import { postForm, readObject, type Bearer } from './bearer.js';
import { readClaims } from './claims.js';
import type { ExternalEndpoints } from './endpoints.js';
import type { ExternalSettings, ForeignScopes } from './settings.js';

/** Parts that the check of tokens by introspection works with. */
export interface IntrospectionVerifierNeeds {
  readonly settings: ExternalSettings;
  readonly endpoints: ExternalEndpoints;
  readonly bearer: Bearer;
  readonly exchange: Exchange;
  readonly scopes: ForeignScopes;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

const MOST = 10_000;
/** How long an answer is used, in milliseconds, so that a revocation shows. */
const FRESH = 60_000;
/** Questions under way: beyond that the server is too busy for more. */
const MOST_AT_ONCE = 100;

interface Known {
  readonly token: VerifiedToken;
  readonly asked: number;
}

/**
 * Checks tokens by introspection. Answers are kept by the hash of the token, where they say when it ends; who cannot be asked
 * lets no client in: `unavailable`. https://www.rfc-editor.org/rfc/rfc7662; authorization.md §5.3
 */
export function createIntrospectionVerifier(needs: IntrospectionVerifierNeeds): TokenVerifier {
  const { settings, scopes, now } = needs;
  const known = createBoundedMap<Known>(MOST);
  const asking = new Map<string, Promise<Verification>>();

  async function ask(hash: string, text: string): Promise<Verification> {
    const asked = now();
    const claims = await introspect(text, needs);
    if (claims['active'] !== true) return { failure: 'invalid', detail: 'not active' };
    const read = readClaims(claims, settings, scopes, true, now());
    if ('token' in read && claims['exp'] !== undefined) known.set(hash, { token: read.token, asked });
    return read;
  }

  return {
    async verify(text) {
      if (text.length > MAX_JWS) return { failure: 'invalid', detail: 'length' };
      const hash = tokenHash(text);
      const time = now();
      const entry = known.get(hash);
      const isGood = entry !== undefined && time < entry.token.exp * 1000 && time >= entry.asked;
      if (isGood && time - entry.asked < FRESH) return { token: entry.token };
      known.delete(hash);
      if (!asking.has(hash) && asking.size >= MOST_AT_ONCE) return { failure: 'unavailable', detail: 'too many' };
      const running = asking.get(hash) ?? ask(hash, text).finally(() => asking.delete(hash));
      asking.set(hash, running);
      try {
        return await running;
      } catch (error) {
        if (error instanceof ExchangeError) return { failure: 'unavailable', detail: error.message };
        throw error;
      }
    },
  };
}

/** @throws ExchangeError */
async function introspect(text: string, needs: IntrospectionVerifierNeeds): Promise<Readonly<Record<string, unknown>>> {
  const first = await post(text, needs);
  // Our own token may have been revoked, or its key dropped: once more with a new one.
  const isRefused = first.status === 401;
  if (isRefused) needs.bearer.drop();
  const answer = isRefused ? await post(text, needs) : first;
  if (answer.status !== 200) throw new ExchangeError(`answered ${answer.status} at its introspection endpoint`);
  return readObject(answer);
}

async function post(
  text: string,
  { endpoints, bearer, exchange }: IntrospectionVerifierNeeds,
): Promise<IncomingAnswer> {
  const url = await endpoints.find('introspectionEndpoint');
  const headers = { Authorization: `Bearer ${await bearer.get()}` };
  return await postForm(exchange, url, new URLSearchParams({ token: text }).toString(), headers);
}
