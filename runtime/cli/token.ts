import { DEVELOPMENT_CLIENT, developmentKeyFile, whyNoDevelopmentClient } from '../assembly/development-client.js';
import { readJsonFile } from '../assembly/read-file.js';
import type { Jwk } from '../auth/jwks/jwk.js';
import { addressesOf } from '../auth/server/settings.js';
import { ConfigError } from '../config/config-error.js';
import { rootOf } from '../config/exposure.js';
import { readConfig, type Flags } from '../config/read-config.js';
import type { Config } from '../config/settings.js';
import { ServerUnreachable, readClientKey, requestToken } from './request-token.js';
import { EXIT, messageOf, type Terminal } from './terminal.js';

/** Options of `kiln token`. */
export interface TokenFlags {
  readonly client?: string;
  readonly key?: string;
  readonly scope?: string;
}

/** How long the server may take to start, how long that is waited for in silence, and the pause between looks. In milliseconds. */
const PATIENCE = { start: 3000, silence: 1000, pause: 250 };

/**
 * `kiln token`: prints a bearer token of the server that `serve` would start with the same options, for the development client
 * or for another one. The server may just be starting.
 *
 * @param patience how long it may take to start, in milliseconds
 * @returns the exit code
 * @throws ConfigError
 */
export async function runToken(
  options: TokenFlags,
  flags: Flags,
  terminal: Terminal,
  patience = PATIENCE.start,
): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  if ((options.client === undefined) !== (options.key === undefined)) {
    throw new ConfigError('--client and --key go together');
  }
  if (config['base-url'] === undefined && config.port === 0)
    throw new ConfigError('--port 0: say the port that it got');
  try {
    const endpoint = tokenEndpoint(config);
    const notice = setTimeout(() => terminal.err(`kiln: waiting for an answer of ${endpoint}`), PATIENCE.silence);
    const token = await whileStarting(patience, () => fetchToken(options, config)).finally(() => clearTimeout(notice));
    terminal.out(token);
    return EXIT.done;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    terminal.err(`kiln: ${messageOf(error)}`);
    return EXIT.failed;
  }
}

async function whileStarting<T>(patience: number, action: () => Promise<T>): Promise<T> {
  const end = performance.now() + patience;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof ServerUnreachable) || performance.now() >= end) throw error;
      await new Promise((resolve) => setTimeout(resolve, PATIENCE.pause));
    }
  }
}

function tokenEndpoint(config: Config): string {
  return addressesOf(rootOf(config)).token;
}

/** @throws Error in one line */
async function fetchToken({ client, key: file, scope }: TokenFlags, config: Config): Promise<string> {
  if (config['auth.external.mode'] !== undefined)
    throw new Error('tokens come from the external server (auth.external)');
  if (config.auth === 'open')
    throw new Error('there are no tokens without authorization (--auth open), and none is needed');
  const clientId = client ?? DEVELOPMENT_CLIENT;
  const key = client === undefined ? await developmentKey(config) : await readClientKey(file!);
  return requestToken({ clientId, key, endpoint: tokenEndpoint(config), scope });
}

async function developmentKey(config: Config): Promise<Jwk> {
  const why = whyNoDevelopmentClient(config);
  if (why !== undefined) {
    throw new Error(`there is no development client: ${why}; give --client ID --key FILE`);
  }
  const file = developmentKeyFile(config);
  try {
    return (await readJsonFile('the key of the development client', file)) as Jwk;
  } catch (error) {
    if (error instanceof ConfigError)
      throw new ServerUnreachable(`${error.message}; the first start of the server makes it`, { cause: error });
    throw error;
  }
}
