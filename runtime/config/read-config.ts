import { nearest } from '../fhir/nearest.js';
import type { JsonValue } from '../fhir/resource.js';
import { ConfigError } from './config-error.js';
import { readConfigFile } from './config-file.js';
import { isMongoUrl, MONGO_LIMITS } from './mongo-url.js';
import { formatSize, type Setting } from './setting.js';
import { ALL_SETTINGS, LATER, optionOf, variableOf, type Config } from './settings.js';

/** Values by the names of options without dashes, as the command line has them. */
export type Flags = Readonly<Record<string, string | undefined>>;

/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A value, and where it came from. */
export interface Origin {
  readonly key: string;
  /** What was written: an option, a variable, a key in a file; absent: it is the default. */
  readonly source?: string;
  readonly value: unknown;
}

/** A whole configuration. */
export interface ReadConfig {
  readonly config: Config;
  /** In the order of the settings. */
  readonly origins: readonly Origin[];
}

/** Variables that are no settings of the server. */
const OTHER_VARIABLES = new Set(['KILN_CONFIG', 'KILN_URL', 'KILN_TOKEN']);

/**
 * What Kubernetes sets in a pod, unasked, for services whose names begin with kiln: `KILN_SERVICE_HOST`, `KILN_PORT=tcp://10.0.0.1:80`,
 * `KILN_FHIR_PORT_80_TCP_ADDR`. https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
const SERVICE_LINK =
  /^KILN_(?:\w+_)?(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(value));
}

/** A value that was given, under the name by which its giver knows it. */
export interface GivenValue {
  /** `--port`, `KILN_PORT`, or `port` of a file. */
  readonly name: string;
  readonly file?: string;
  readonly value: JsonValue;
}

/**
 * The configuration: the command line counts before the environment, that before the file (`--config`), and that
 * before the defaults. What none of them knows is refused.
 *
 * @throws ConfigError
 */
export function readConfig(flags: Flags, env: Environment): ReadConfig {
  const given = new Map<string, GivenValue>();
  const file = flags['config'] ?? nonEmpty(env['KILN_CONFIG']);
  const source = flags['config'] === undefined ? 'KILN_CONFIG' : '--config';
  if (file !== undefined) readFile(file, source, given);
  readEnvironment(env, given);
  readFlags(flags, given);

  const origins: Origin[] = [];
  for (const [key, setting] of ALL_SETTINGS) {
    const from = given.get(key);
    if (from === undefined) origins.push({ key, value: setting.initial });
    else {
      const source = from.file === undefined ? from.name : `${from.name} in ${from.file}`;
      origins.push({ key, source, value: parse(setting, from) });
    }
  }
  const config = Object.fromEntries(origins.map(({ key, value }) => [key, value])) as unknown as Config;
  checkStoreLimits(config);
  return { config, origins };
}

/** @throws ConfigError where a limit is higher than what the store can hold */
export function checkStoreLimits(config: Config): void {
  if (!isMongoUrl(config.store)) return;
  const { resource } = MONGO_LIMITS;
  if (config['limits.resource'] > resource) {
    throw new ConfigError(
      `limits.resource ${formatSize(config['limits.resource'])}: with MongoDB at most ${formatSize(resource)}`,
    );
  }
}

function readFile(file: string, source: string, given: Map<string, GivenValue>): void {
  const objects = [...ALL_SETTINGS].filter(([, { isJson }]) => isJson).map(([key]) => key);
  for (const [key, value] of readConfigFile(file, source, new Set(ALL_SETTINGS.keys()), new Set(objects))) {
    if (ALL_SETTINGS.has(key)) given.set(key, { name: key, file, value });
    else if (isLater(key)) throw notYet(`${key} ${JSON.stringify(value)} in ${file}`);
    else throw unknown(`${key} in ${file}`, key, [...ALL_SETTINGS.keys(), ...LATER]);
  }
}

function readEnvironment(env: Environment, given: Map<string, GivenValue>): void {
  const keys = new Map([...ALL_SETTINGS.keys()].map((key) => [variableOf(key), key]));
  const later = LATER.map(variableOf);
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('KILN_') || OTHER_VARIABLES.has(name)) continue;
    if (value === undefined || value === '' || isServiceLink(name, value)) continue;
    const key = keys.get(name);
    if (key !== undefined) given.set(key, { name, value });
    else if (later.some((each) => (each.endsWith('_') ? name.startsWith(each) : name === each))) {
      throw notYet(`${name} ${JSON.stringify(value)}`);
    } else throw unknown(name, name, [...keys.keys(), ...later]);
  }
}

function readFlags(flags: Flags, given: Map<string, GivenValue>): void {
  for (const key of ALL_SETTINGS.keys()) {
    // A program that passes the key of a file would otherwise run with the default, and not notice.
    if (optionOf(key) !== key && flags[key] !== undefined) throw unknown(`--${key}`, key, [optionOf(key)]);
    const value = flags[optionOf(key)];
    if (value !== undefined) given.set(key, { name: `--${optionOf(key)}`, value });
  }
  for (const key of LATER) {
    const value = flags[optionOf(key)];
    if (value !== undefined) throw notYet(`--${optionOf(key)} ${JSON.stringify(value)}`);
  }
}

/** The value of a setting. @throws ConfigError naming what was given, and what would be right */
export function parse(setting: Setting<unknown>, { name, file, value }: GivenValue): unknown {
  try {
    return setting.parse(value);
  } catch (error) {
    const place = file === undefined ? '' : ` in ${file}`;
    const reason = error instanceof Error ? error.message : String(error);
    // What is wrong with a list of clients may hold their keys.
    const shown = setting.isJson ? '…' : typeof value === 'string' ? (setting.mask?.(value) ?? value) : value;
    throw new ConfigError(`${name} ${JSON.stringify(shown)}${place}: ${reason}`);
  }
}

function isLater(key: string): boolean {
  return LATER.some((each) => (each.endsWith('.') ? key.startsWith(each) : key === each));
}

function notYet(what: string): ConfigError {
  return new ConfigError(`${what}: this setting is not available yet`);
}

function unknown(what: string, name: string, known: readonly string[]): ConfigError {
  const near = nearest(
    name,
    known.filter((each) => !/[._]$/.test(each)),
  );
  return new ConfigError(`${what}: there is no such setting${near === undefined ? '' : `; did you mean ${near}?`}`);
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
