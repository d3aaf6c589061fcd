import { isLoopback } from './http/open-mode.js';

/** Options of `kiln serve`. */
export interface ServeConfig {
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  /** `sqlite:PATH` or `sqlite::memory:`. */
  readonly store: string;
  readonly auth: 'open';
}

/** A setting that cannot be: one line, naming the key and the value. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

/** One setting: an option on the command line, or a variable of the environment. */
interface Setting<T> {
  /** Name of the option without dashes; the variable is `KILN_` and this in capitals. */
  readonly name: string;
  readonly placeholder: string;
  readonly help: string;
  readonly initial: string;
  /** @throws Error saying what is wrong with the value */
  readonly parse: (text: string) => T;
}

const PORT: Setting<number> = {
  name: 'port',
  placeholder: 'N',
  help: 'port to listen on (0: any free one)',
  initial: '8080',
  parse(text) {
    if (!/^[0-9]{1,5}$/.test(text) || Number(text) > 65_535) throw new Error('has to be a number from 0 to 65535');
    return Number(text);
  },
};

const HOST: Setting<string> = {
  name: 'host',
  placeholder: 'ADDRESS',
  help: 'address to listen on',
  initial: '127.0.0.1',
  parse(text) {
    if (isLoopback(text)) return text.replace(/^\[(.*)\]$/, '$1');
    throw new Error('is not loopback; without authorization only 127.0.0.1, ::1 and localhost can be served');
  },
};

const STORE: Setting<string> = {
  name: 'store',
  placeholder: 'URL',
  help: 'where data is kept: sqlite:PATH or sqlite::memory:',
  initial: 'sqlite:./data/kiln.db',
  parse(text) {
    if (/^mongodb(\+srv)?:/.test(text)) throw new Error('MongoDB is not available yet; use sqlite:PATH');
    if (/^sqlite:./.test(text)) return text;
    throw new Error('has to be sqlite:PATH or sqlite::memory:');
  },
};

const AUTH: Setting<'open'> = {
  name: 'auth',
  placeholder: 'MODE',
  help: 'authorization; for now "open": none, loopback only',
  initial: 'open',
  parse(text) {
    if (text === 'open') return 'open';
    throw new Error(text === 'smart' ? 'authorization is not available yet; use open' : 'has to be open');
  },
};

/** The settings of `kiln serve`, for its help. */
export const SERVE_SETTINGS: readonly Setting<unknown>[] = [PORT, HOST, STORE, AUTH];

/** The setting of `kiln load`. */
export const STORE_SETTING: Setting<string> = STORE;

/** Settings whose names are fixed but that nothing stands behind yet: refused, so that nobody relies on them. */
export const LATER_SETTINGS: readonly string[] = [
  'base-url',
  'tls-cert',
  'tls-key',
  'config',
  'workers',
  'metrics-port',
];

/** Values by the names of options, as the command line has them. */
export type Flags = Readonly<Record<string, string | undefined>>;

/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The configuration of a server: the command line counts before the environment, and that before what is built in.
 *
 * @throws ConfigError
 */
export function readServeConfig(flags: Flags, env: Environment): ServeConfig {
  for (const name of LATER_SETTINGS) {
    const [key, value] = origin(name, flags, env) ?? [];
    if (key !== undefined) throw new ConfigError(`${key} (${JSON.stringify(value)}) is not available yet`);
  }
  return {
    port: readSetting(PORT, flags, env),
    host: readSetting(HOST, flags, env),
    store: readSetting(STORE, flags, env),
    auth: readSetting(AUTH, flags, env),
  };
}

/**
 * One setting, from where it is set.
 *
 * @throws ConfigError naming key and value
 */
export function readSetting<T>(setting: Setting<T>, flags: Flags, env: Environment): T {
  const [key, value] = origin(setting.name, flags, env) ?? [setting.name, setting.initial];
  try {
    return setting.parse(value);
  } catch (error) {
    throw new ConfigError(`${key} ${JSON.stringify(value)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function origin(name: string, flags: Flags, env: Environment): [key: string, value: string] | undefined {
  const flag = flags[name];
  if (flag !== undefined) return [`--${name}`, flag];
  const variable = `KILN_${name.toUpperCase().replaceAll('-', '_')}`;
  const value = env[variable];
  return value === undefined || value === '' ? undefined : [variable, value];
}
