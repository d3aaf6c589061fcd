import { ConfigError } from '../config/config-error.js';
import type { Config } from '../config/settings.js';
import { createIntegrity, isElementPath, type Integrity, type IntegrityParts } from '../core/references/integrity.js';
import { didYouMean } from '../fhir/nearest.js';

const KEY = 'integrity.paths';

/**
 * Returns what references have to lead to by a configuration; undefined: they may lead anywhere.
 *
 * @throws ConfigError naming the first type or element that there is not
 */
export function integrityOf(config: Config, parts: IntegrityParts): Integrity | undefined {
  const paths = config[KEY];
  for (const path of Object.keys(paths)) {
    if (isElementPath(path, parts.tables)) continue;
    const [type = ''] = path.split('.');
    const isType = parts.tables.resourceTypes.includes(type);
    const what = isType ? `there is no element ${path}` : `there is no resource type ${type}`;
    throw new ConfigError(`${KEY}: ${what}${isType ? '' : didYouMean(type, parts.tables.resourceTypes)}`);
  }
  return createIntegrity({ mode: config.integrity, paths }, parts);
}
