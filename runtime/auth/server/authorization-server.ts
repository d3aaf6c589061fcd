import type { AtomicMaps } from '../../store/store.js';
import { createClientReader, type ClientReader } from '../clients/client-reader.js';
import type { JwksSource } from '../jwks/jwks-source.js';
import { createServerKeys, type ServerKeys } from '../keys/server-keys.js';
import type { AuthEvents } from './events.js';
import type { OAuthEndpoint } from './messages.js';
import { createIntrospectionEndpoint } from './introspection-endpoint.js';
import { createRates } from './rates.js';
import { createReplayGuard } from './replay.js';
import { createRevocationEndpoint } from './revocation-endpoint.js';
import { createRevokedTokens } from './revoked.js';
import type { AuthSettings } from './settings.js';
import { createTokenEndpoint, type GrantScopes } from './token-endpoint.js';
import { createTokenVerifier, type OwnTokenVerifier } from './token-verifier.js';

/** Our own authorization server: its endpoints, its keys, and the check of its tokens. */
export interface AuthorizationServer {
  readonly token: OAuthEndpoint;
  readonly introspection: OAuthEndpoint;
  readonly revocation: OAuthEndpoint;
  readonly keys: ServerKeys;
  readonly clients: ClientReader;
  readonly verifier: OwnTokenVerifier;
}

/** Parts that the authorization server is made of. */
export interface AuthorizationServerParts {
  readonly settings: AuthSettings;
  readonly maps: AtomicMaps;
  /** Keys of clients that are registered by URL. */
  readonly jwks: JwksSource;
  readonly grant: GrantScopes;
  readonly events: AuthEvents;
  /** The clock, in milliseconds. */
  readonly now?: () => number;
}

/**
 * The authorization server over a store. It keeps nothing that another process would miss, so there may be many on one
 * store.
 */
export function createAuthorizationServer(parts: AuthorizationServerParts): AuthorizationServer {
  const { settings, maps, now = Date.now } = parts;
  const clients = createClientReader(maps, settings.noClients, now);
  const keys = createServerKeys(maps, now);
  const revoked = createRevokedTokens(maps, now);
  const verifier = createTokenVerifier({ names: settings.addresses, keys, clients, revoked, now });
  const rates = createRates(settings.failures, now);
  const needs = { ...parts, now, clients, keys, revoked, verifier, rates, replay: createReplayGuard(maps) };
  return {
    token: createTokenEndpoint(needs),
    introspection: createIntrospectionEndpoint(needs),
    revocation: createRevocationEndpoint(needs),
    keys,
    clients,
    verifier,
  };
}
