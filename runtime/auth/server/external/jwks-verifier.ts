import { isAlgorithm } from '../../jwks/algorithms.js';
import { ExchangeError } from '../../jwks/exchange.js';
import type { Jwk } from '../../jwks/jwk.js';
import type { JwksSource } from '../../jwks/jwks-source.js';
import { createBoundedMap } from '../../../fhir/memory/bounded-map.js';
import { decodeJws, verifyJws, type DecodedJws } from '../../keys/jws.js';
import { invalid, type Verification, type VerifiedToken } from '../access-token.js';
import { tokenHash, type TokenVerifier } from '../token-verifier.js';
import { readClaims } from './claims.js';
import type { ExternalEndpoints } from './endpoints.js';
import type { ExternalSettings, ForeignScopes } from './settings.js';

/** Parts that the check of tokens by published keys works with. */
export interface JwksVerifierNeeds {
  readonly settings: ExternalSettings;
  readonly endpoints: ExternalEndpoints;
  /** With the bounds `SERVER_SETS`. */
  readonly jwks: JwksSource;
  readonly scopes: ForeignScopes;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

const MOST = 10_000;
/** How long a token is taken for good without a look at the keys, in milliseconds: theirs may be withdrawn. */
const FRESH = 60_000;

interface Known {
  readonly token: VerifiedToken;
  readonly checked: number;
}

/**
 * Checks foreign tokens by their server's keys. Without a key that is fresh no token is good: `unavailable`.
 * authorization.md §5.3
 */
export function createJwksVerifier(needs: JwksVerifierNeeds): TokenVerifier {
  const { settings, now } = needs;
  const known = createBoundedMap<Known>(MOST);

  async function check(text: string): Promise<Verification> {
    const jws = decodeJws(text);
    if (jws === undefined) return { failure: 'invalid', detail: 'form' };
    const fault = headerFault(jws, settings);
    if (fault !== undefined) return fault;
    // Looked at before the keys, so that a token of elsewhere does not make us fetch them.
    const { iss } = jws.payload;
    if (iss !== settings.issuer) return invalid('issuer', settings.issuer, iss);
    const found = await findKey(jws, needs);
    if ('failure' in found) return found;
    const alg = jws.header['alg'];
    if (!isAlgorithm(alg) || !(await verifyJws(text, found.key, alg)))
      return { failure: 'invalid', detail: 'signature' };
    return readClaims(jws.payload, settings, needs.scopes, false, now());
  }

  return {
    async verify(text) {
      const hash = tokenHash(text);
      const time = now();
      const entry = known.get(hash);
      if (entry !== undefined && time >= (entry.token.exp + settings.skew) * 1000) {
        known.delete(hash);
        return { failure: 'expired' };
      }
      if (entry !== undefined && time >= entry.checked && time - entry.checked < FRESH) return { token: entry.token };
      const checked = await check(text);
      if ('token' in checked) known.set(hash, { token: checked.token, checked: time });
      else known.delete(hash);
      return checked;
    },
  };
}

function headerFault({ header }: DecodedJws, { algorithms, typ }: ExternalSettings): Verification | undefined {
  const { alg, kid, typ: own } = header;
  if (!isAlgorithm(alg) || !algorithms.includes(alg)) return invalid('alg', algorithms.join(' or '), alg);
  if (typeof kid !== 'string') return invalid('kid', 'the name of a key', kid);
  if ('crit' in header || 'b64' in header) return { failure: 'invalid', detail: 'crit' };
  if (typ === 'any' || typ.map(mediaType).includes(mediaType(own))) return undefined;
  return invalid('typ', typ.join(' or '), own);
}

/** RFC 7515 §4.1.9: what has no `/` is short for `application/…`. */
function mediaType(typ: unknown): string {
  const text = typeof typ === 'string' ? typ.toLowerCase() : '';
  return text === '' || text.includes('/') ? text : `application/${text}`;
}

async function findKey(
  { header: { alg, kid } }: DecodedJws,
  { endpoints, jwks }: JwksVerifierNeeds,
): Promise<{ readonly key: Jwk } | { readonly failure: 'invalid' | 'unavailable'; readonly detail: string }> {
  if (!isAlgorithm(alg) || typeof kid !== 'string') return { failure: 'invalid', detail: 'header' };
  try {
    const found = await jwks.find(await endpoints.find('jwksUri'), kid, alg);
    return 'key' in found ? found : { failure: 'invalid', detail: `key ${found.missing}` };
  } catch (error) {
    if (error instanceof ExchangeError) return { failure: 'unavailable', detail: error.message };
    throw error;
  }
}
