import { createClientRegister, type ClientRegister } from '../auth/clients/client-register.js';
import { ClientRefused, type RegistrationRules } from '../auth/clients/registration.js';
import { createScopes, type Scopes } from '../auth/scopes/create-scopes.js';
import { ConfigError } from '../config/config-error.js';
import type { Config } from '../config/settings.js';
import { OwnBases } from '../path/own-bases.js';
import type { AtomicMaps } from '../store/store.js';
import type { AuthorizationParts } from './authorization.js';
import { DEVELOPMENT_CLIENT } from '../config/development.js';
import { allowListOf } from './own-server.js';

/** The register of clients, and what of their scopes means nothing here. */
export interface Registration {
  readonly register: ClientRegister;
  readonly explain: Scopes['explain'];
}

/** The register in a store, with the rules of a configuration. @throws ConfigError */
export function openRegistration(
  config: Config,
  maps: AtomicMaps,
  parts: Pick<AuthorizationParts, 'tables' | 'tablesNow' | 'zone'>,
): Registration {
  // Whether a scope means something does not depend on them.
  const { read, explain } = createScopes({ ...parts, own: new OwnBases() });
  const rules: RegistrationRules = {
    allow: allowListOf(config),
    algorithms: config['auth.algorithms'],
    isScope: (registered) => read(registered).read.length > 0,
    explain,
  };
  return { register: createClientRegister(maps, rules), explain };
}

/**
 * Registers the clients of a configuration, anew where they are there already. Who was disabled by a command stays so, unless
 * the configuration says `enabled` itself.
 *
 * @param note called for scopes that mean nothing
 * @throws ConfigError naming the client that is refused
 */
export async function registerConfigured(
  { clients }: Pick<Config, 'clients'>,
  { register, explain }: Registration,
  note: (text: string) => void,
): Promise<void> {
  const seen = new Set<unknown>([DEVELOPMENT_CLIENT]);
  for (const given of clients) {
    const { id, enabled } = given;
    const name = typeof id === 'string' ? JSON.stringify(id.slice(0, 100)) : 'one without id';
    if (seen.has(id)) throw new ConfigError(`clients: ${name} is taken, or there twice`);
    seen.add(id);
    const before = typeof id === 'string' ? await register.find(id) : undefined;
    try {
      const client = await register.add({ ...given, enabled: enabled ?? before?.enabled ?? true }, true);
      for (const fault of explain(client)) note(`clients: ${name}: of its scope ${fault}`);
    } catch (error) {
      if (error instanceof ClientRefused) throw new ConfigError(`clients: ${name}: ${error.message}`);
      throw error;
    }
  }
}
