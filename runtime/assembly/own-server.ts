import { createOwnerRights, createResumePrincipal } from '../auth/clients/resume-principal.js';
import {
  jwksDocument,
  metadataUrl,
  serverMetadata,
  smartConfiguration,
  SMART_PATH,
  type DiscoverySettings,
} from '../auth/discovery/documents.js';
import { readAllowList, type AllowList } from '../auth/jwks/allow-list.js';
import { signDetached } from '../auth/keys/jws.js';
import { createExchange } from '../auth/jwks/exchange.js';
import { resolveHost } from '../auth/jwks/fetch-document.js';
import { createJwksSource } from '../auth/jwks/jwks-source.js';
import { createScopes } from '../auth/scopes/create-scopes.js';
import { createAuthorizationServer } from '../auth/server/authorization-server.js';
import { addressesOf, AUTH_DEFAULTS, type AuthAddresses, type AuthSettings } from '../auth/server/settings.js';
import { ConfigError } from '../config/config-error.js';
import { DEVELOPMENT_CLIENT, whyNoDevelopmentClient } from '../config/development.js';
import type { Config } from '../config/settings.js';
import type { AuthRoutes } from '../http/auth-routes.js';
import type { AuthorizationParts, PreparedAuthorization } from './authorization.js';
import { readNamedFile } from './read-file.js';

/**
 * Our own authorization server.
 *
 * @throws ConfigError
 */
export async function prepareOwnServer(parts: AuthorizationParts): Promise<PreparedAuthorization> {
  const { config, maps, events } = parts;
  const allow = allowListOf(config);
  const caFile = config['auth.jwks.ca'];
  const ca = caFile === undefined ? undefined : await readNamedFile('auth.jwks.ca', caFile);
  const jwks = createJwksSource({ exchange: createExchange(ca), resolve: resolveHost, allow });
  return (root, fhirPath) => {
    const addresses = addressesOf(root, fhirPath);
    const scopes = createScopes(parts);
    const settings = settingsOf(config, addresses);
    const server = createAuthorizationServer({ settings, maps, jwks, events, grant: scopes.grant });
    const discovery = discoveryOf(settings);
    return {
      verifier: server.verifier,
      access: scopes.access,
      principalOf: createResumePrincipal({ scopes, tables: parts.tables, clients: server.clients }),
      rightsOf: createOwnerRights({ scopes, tables: parts.tables, clients: server.clients }),
      async sign(body) {
        const { kid, jwk } = await server.keys.current();
        // Not the type of an access token: what is signed here is as clients wrote it.
        return signDetached({ alg: 'ES384', kid, typ: 'kiln-notification+jws' }, body, jwk);
      },
      routes: {
        endpoints: new Map([
          ['/auth/token', server.token],
          ['/auth/introspect', server.introspection],
          ['/auth/revoke', server.revocation],
        ]),
        documents: documentsOf(discovery, fhirPath, async () => jwksDocument(await server.keys.published())),
      },
    };
  };
}

/** Where the keys of clients may be fetched from. @throws ConfigError */
export function allowListOf(config: Config): AllowList {
  try {
    return readAllowList(config['auth.jwks.allow']);
  } catch (error) {
    throw new ConfigError(`auth.jwks.allow: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function settingsOf(config: Config, addresses: AuthAddresses): AuthSettings {
  return {
    addresses,
    skew: AUTH_DEFAULTS.skew,
    lifetime: Math.floor(config['auth.lifetime'] / 1000),
    algorithms: config['auth.algorithms'],
    acceptsIssuerAsAudience: config['auth.acceptsIssuerAsAudience'],
    noClients: new Set(whyNoDevelopmentClient(config) === undefined ? [] : [DEVELOPMENT_CLIENT]),
    failures: AUTH_DEFAULTS.failures,
  };
}

function discoveryOf({ addresses, algorithms }: AuthSettings): DiscoverySettings {
  return {
    issuer: addresses.issuer,
    tokenEndpoint: addresses.token,
    introspectionEndpoint: addresses.introspection,
    revocationEndpoint: addresses.revocation,
    jwksUri: addresses.jwks,
    algorithms,
  };
}

function documentsOf(
  discovery: DiscoverySettings,
  fhirPath: string,
  keys: () => Promise<ReturnType<typeof jwksDocument>>,
) {
  const metadata = serverMetadata(discovery);
  const smart = smartConfiguration(discovery);
  const { origin, pathname } = new URL(metadataUrl(discovery.issuer));
  return new Map<string, Exclude<ReturnType<AuthRoutes['documents']['get']>, undefined>>([
    ['/auth/jwks.json', keys],
    // With the path of the issuer, and without, for a proxy that strips it.
    [pathname, () => metadata],
    [new URL(metadataUrl(origin)).pathname, () => metadata],
    [fhirPath + SMART_PATH, () => smart],
  ]);
}
