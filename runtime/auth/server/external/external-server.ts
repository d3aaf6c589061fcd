import type { Fetching } from '../../jwks/fetch-document.js';
import { createJwksSource, SERVER_SETS } from '../../jwks/jwks-source.js';
import type { TokenVerifier } from '../token-verifier.js';
import { signingKeyFault } from '../client-assertion.js';
import { createBearer } from './bearer.js';
import { createExternalEndpoints, type ExternalEndpoints } from './endpoints.js';
import { createIntrospectionVerifier } from './introspection-verifier.js';
import { createJwksVerifier } from './jwks-verifier.js';
import type { ExternalSettings, ForeignScopes } from './settings.js';

/** An external authorization server, as the resource server sees it. */
export interface ExternalServer {
  readonly verifier: TokenVerifier;
  /** For our discovery document. */
  readonly endpoints: ExternalEndpoints;
}

/**
 * The check of tokens of an external server, by its keys or by asking it.
 *
 * @param fetching without an allow list: the URLs are the operator's own
 * @param now the clock, in milliseconds
 * @throws TypeError where introspection is wanted without a client, or with a key that cannot sign; never with the key
 */
export function createExternalServer(
  settings: ExternalSettings,
  fetching: Fetching,
  scopes: ForeignScopes,
  now: () => number = Date.now,
): ExternalServer {
  const endpoints = createExternalEndpoints(settings, fetching, now);
  const { exchange } = fetching;
  if (settings.mode === 'jwks') {
    const jwks = createJwksSource(fetching, SERVER_SETS, now);
    return { endpoints, verifier: createJwksVerifier({ settings, endpoints, jwks, scopes, now }) };
  }
  if (settings.client === undefined) {
    throw new TypeError('auth.external: introspection needs clientId and keyFile');
  }
  const fault = signingKeyFault(settings.client.key);
  if (fault !== undefined) throw new TypeError(`auth.external.keyFile: the key ${fault}`);
  const bearer = createBearer(settings.client, endpoints, exchange, now);
  return { endpoints, verifier: createIntrospectionVerifier({ settings, endpoints, bearer, exchange, scopes, now }) };
}
