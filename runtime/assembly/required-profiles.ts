import { ConfigError } from '../config/config-error.js';
import type { Config } from '../config/settings.js';
import type { ProfileServices } from '../core/services.js';

const KEY = 'validation.profiles';

/** The profiles that a configuration requires, by resource type. */
export function requiredProfiles(config: Config): ReadonlyMap<string, readonly string[]> {
  return new Map(Object.entries(config[KEY]));
}

/**
 * Checks that a server can validate by all profiles that the configuration requires.
 *
 * @throws ConfigError naming the first that is unknown, cannot be used, or is for another type; where a setting needs the mode full
 */
export async function checkRequiredProfiles(
  config: Config,
  { types, profile, whyUnusable, required }: ProfileServices,
): Promise<void> {
  if (required.size > 0 && config.validation !== 'full') {
    throw new ConfigError(`${KEY} needs validation: full; it is ${config.validation}`);
  }
  if (config['validation.codes'] && config.validation !== 'full') {
    throw new ConfigError(`validation.codes needs validation: full; it is ${config.validation}`);
  }
  for (const [type, canonicals] of required) {
    if (types.kindOf(type) !== 'resource') throw new ConfigError(`${KEY}: ${type} is no resource type`);
    for (const canonical of canonicals) {
      const row = await profile(canonical);
      const why = whyUnusable?.(canonical);
      if (row === undefined && why !== undefined) {
        throw new ConfigError(`${KEY}: ${type}: the profile ${canonical} is stored, but cannot be used: ${why}`);
      }
      if (row === undefined) {
        const remedy = 'load its StructureDefinition first (kiln load), or correct its URL';
        throw new ConfigError(`${KEY}: ${type}: the profile ${canonical} is neither shipped nor stored; ${remedy}`);
      }
      if (!types.ancestors(type).includes(row.type)) {
        throw new ConfigError(`${KEY}: ${type}: the profile ${canonical} is for ${row.type}`);
      }
    }
  }
}
