import { ConfigError } from '../config/config-error.js';
import type { Config } from '../config/settings.js';
import type { AuthorizationParts, PreparedAuthorization } from './authorization.js';

/**
 * The authorization of a configuration: an authorization server of our own, or an external one. Files are read here, so
 * that the listening server can have the rest at once.
 *
 * @throws ConfigError naming a setting that is missing, or a file that cannot be read
 */
export async function prepareAuthorization(parts: AuthorizationParts): Promise<PreparedAuthorization> {
  if (parts.config['auth.external.mode'] === undefined) {
    refuseExternal(parts.config);
    return (await import('./own-server.js')).prepareOwnServer(parts);
  }
  return (await import('./external-server.js')).prepareExternalServer(parts);
}

/** What is said about an external server means nothing without its mode, and would be missed. */
function refuseExternal(config: Config): void {
  const given = (['issuer', 'jwksUri', 'introspectionEndpoint', 'tokenEndpoint'] as const).find(
    (name) => config[`auth.external.${name}`] !== undefined,
  );
  if (given !== undefined)
    throw new ConfigError(`auth.external.${given} needs auth.external.mode: jwks or introspection`);
}
