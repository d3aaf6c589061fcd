import { nearest } from '../fhir/nearest.js';
import type { JsonValue } from '../fhir/resource.js';
import { ConfigError } from './config-error.js';
import { checkStoreLimits, parse } from './read-config.js';
import { ALL_SETTINGS, type Config } from './settings.js';

/** Settings of what listens: where Kiln is mounted in another application, that is the application's affair. */
const OF_LISTENER = [
  'port',
  'host',
  'tls-cert',
  'tls-key',
  'tls.clientCa',
  'tls.hsts',
  'workers',
  'shutdown.delay',
  'limits.keepAliveTime',
] as const satisfies readonly (keyof Config)[];

/** A value as a configuration file has it: amounts may be texts with units (`'2 MB'`, `'30 s'`). */
type Given<T> = T extends number ? number | string : T;

/**
 * The settings of `docs/configuration.md`, by their keys, for Kiln in another application: without those of what listens. What is left
 * out has its default. The environment is not read.
 */
export type KilnSettings = {
  readonly [K in Exclude<keyof Config, (typeof OF_LISTENER)[number]>]?: Given<Config[K]>;
};

/**
 * A configuration from settings that a program gives.
 *
 * @throws ConfigError for what is no setting, or not its value
 */
export function readOptions(options: Readonly<Record<string, unknown>>): Config {
  const config = Object.fromEntries([...ALL_SETTINGS].map(([key, { initial }]) => [key, initial]));
  for (const [key, value] of Object.entries(options)) {
    const setting = ALL_SETTINGS.get(key);
    if ((OF_LISTENER as readonly string[]).includes(key)) {
      throw new ConfigError(`${key}: the application that Kiln is mounted in listens, and decides on that`);
    }
    if (setting === undefined) {
      const near = nearest(key, ALL_SETTINGS.keys());
      throw new ConfigError(`${key}: there is no such setting${near === undefined ? '' : `; did you mean ${near}?`}`);
    }
    if (value !== undefined) config[key] = parse(setting, { name: key, value: value as JsonValue });
  }
  checkStoreLimits(config as unknown as Config);
  return config as unknown as Config;
}
