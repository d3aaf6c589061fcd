import { createOwnerRights, createResumePrincipal } from '../auth/clients/resume-principal.js';
import { externalConfiguration, SMART_PATH } from '../auth/discovery/documents.js';
import { createExchange } from '../auth/jwks/exchange.js';
import { resolveHost } from '../auth/jwks/fetch-document.js';
import type { Jwk } from '../auth/jwks/jwk.js';
import { createScopes, type Scopes } from '../auth/scopes/create-scopes.js';
import { signingKeyFault } from '../auth/server/client-assertion.js';
import { createExternalServer } from '../auth/server/external/external-server.js';
import { EXTERNAL_DEFAULTS, type ExternalSettings, type ForeignScopes } from '../auth/server/external/settings.js';
import { addressesOf } from '../auth/server/settings.js';
import { ConfigError } from '../config/config-error.js';
import type { Config } from '../config/settings.js';
import type { ScopeTable } from '../contract/index.js';
import type { AuthorizationParts, PreparedAuthorization } from './authorization.js';
import { readJsonFile, readNamedFile } from './read-file.js';

/**
 * An external authorization server: there are no endpoints of our own. authorization.md §5.3
 *
 * @throws ConfigError
 */
export async function prepareExternalServer(parts: AuthorizationParts): Promise<PreparedAuthorization> {
  const { config, tables } = parts;
  const caFile = config['auth.external.ca'];
  const ca = caFile === undefined ? undefined : await readNamedFile('auth.external.ca', caFile);
  const fetching = { exchange: createExchange(ca), resolve: resolveHost };
  const client = await readClient(config);
  const settings = readSettings(config);
  return (root, fhirPath) => {
    const { audience } = addressesOf(root, fhirPath);
    const scopes = createScopes(parts);
    const all: ExternalSettings = {
      ...settings,
      audience: settings.audience.length > 0 ? settings.audience : [audience],
      ...(client === undefined ? {} : { client }),
    };
    const foreign = foreignScopes(config['auth.external.scopes'], scopes, tables.scopes);
    const server = createExternalServer(all, fetching, foreign);
    const words = Object.keys(config['auth.external.scopes']).filter((word) => foreign([word]).startsWith('system/'));
    const smart = async () => {
      const { claims, ...found } = await server.endpoints.discovery();
      // Where it has words of its own, its clients ask it for these.
      return externalConfiguration({ ...found, claims: { ...claims, ...(words.length > 0 && { scopes: words }) } });
    };
    return {
      verifier: server.verifier,
      access: scopes.access,
      principalOf: createResumePrincipal({ scopes, tables }),
      rightsOf: createOwnerRights({ scopes, tables }),
      routes: { endpoints: new Map(), documents: new Map([[fhirPath + SMART_PATH, smart]]) },
    };
  };
}

/** @throws ConfigError for what is missing */
function readSettings(config: Config): Omit<ExternalSettings, 'client'> {
  const mode = config['auth.external.mode'];
  const issuer = config['auth.external.issuer'];
  if (mode === undefined || issuer === undefined)
    throw new ConfigError('auth.external.mode needs auth.external.issuer');
  const jwksUri = config['auth.external.jwksUri'];
  const introspectionEndpoint = config['auth.external.introspectionEndpoint'];
  const tokenEndpoint = config['auth.external.tokenEndpoint'];
  const typ = config['auth.external.typ'];
  return {
    mode,
    issuer,
    audience: config['auth.external.audience'],
    ...(jwksUri === undefined ? {} : { jwksUri }),
    ...(introspectionEndpoint === undefined ? {} : { introspectionEndpoint }),
    ...(tokenEndpoint === undefined ? {} : { tokenEndpoint }),
    algorithms: config['auth.external.algorithms'],
    typ: typ.includes('any') ? 'any' : typ,
    skew: EXTERNAL_DEFAULTS.skew,
  };
}

/** Who we are there. @throws ConfigError */
async function readClient(config: Config): Promise<ExternalSettings['client']> {
  const id = config['auth.external.clientId'];
  const file = config['auth.external.keyFile'];
  const scope = config['auth.external.scope'];
  if (config['auth.external.mode'] !== 'introspection') return undefined;
  if (id === undefined || file === undefined) {
    throw new ConfigError('auth.external.mode introspection needs auth.external.clientId and auth.external.keyFile');
  }
  const key = (await readJsonFile('auth.external.keyFile', file)) as Jwk;
  const fault = signingKeyFault(key);
  if (fault !== undefined) throw new ConfigError(`auth.external.keyFile ${JSON.stringify(file)}: the key ${fault}`);
  return { id, key, ...(scope === undefined ? {} : { scope }) };
}

/**
 * What scopes of foreign tokens mean: those in the table what it says, others themselves. No client is registered here, so
 * that everything the other server says is given.
 */
function foreignScopes(
  table: Readonly<Record<string, string>>,
  { grant }: Pick<Scopes, 'grant'>,
  { custom, withheld }: ScopeTable,
): ForeignScopes {
  const named = withheld.map(({ type }) => `system/${type}.cruds`);
  const scope = ['system/*.cruds', ...named, ...custom.map((row) => row.scope)].join(' ');
  return (words) => {
    const meant = words.map((word) => (Object.hasOwn(table, word) ? table[word] : word));
    return grant(meant.join(' '), { scope })?.canonical ?? '';
  };
}
