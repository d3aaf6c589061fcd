import { readJsonFile } from '../../assembly/read-file.js';
import type { Jwk } from '../../auth/jwks/jwk.js';
import { addressesOf } from '../../auth/server/settings.js';
import { ConfigError } from '../../config/config-error.js';
import { DEVELOPMENT_CLIENT, developmentKeyFile, whyNoDevelopmentClient } from '../../config/development.js';
import { rootOf } from '../../config/exposure.js';
import { readConfig, type Flags } from '../../config/read-config.js';
import { duration } from '../../config/setting.js';
import type { Config } from '../../config/settings.js';
import { findTokenEndpoint, ServerUnreachable, readClientKey, requestToken } from './request-token.js';
import { EXIT, messageOf, type Terminal } from '../terminal.js';

/** Options of `kiln token`. */
export interface TokenFlags {
  readonly client?: string;
  readonly key?: string;
  readonly scope?: string;
  readonly wait?: string;
  /** FHIR base of a server that is mounted in another application. */
  readonly url?: string;
}

/** How long a server that is not there is waited for in silence, and the pause between attempts. In milliseconds. */
const PATIENCE = { silence: 1000, pause: 250 };

/** How long the server may take to start. */
const WAIT = duration(0, 600_000, { help: '', initial: 10_000 });

/**
 * `kiln token`: prints a bearer token of the server that `serve` would start with the same options, for the development client
 * or for another one. A server that is not there is a failure, at once or after the time of `wait`.
 *
 * @returns the exit code
 * @throws ConfigError
 */
export async function runToken(options: TokenFlags, flags: Flags, terminal: Terminal): Promise<number> {
  const patience = readWait(options.wait);
  const { config } = readConfig(flags, terminal.env);
  if ((options.client === undefined) !== (options.key === undefined)) {
    throw new ConfigError('--client and --key go together');
  }
  if (config['base-url'] === undefined && config.port === 0)
    throw new ConfigError('--port 0: say the port that it got');
  try {
    const place = options.url ?? tokenEndpoint(config);
    const notice = setTimeout(() => terminal.err(`kiln: waiting for an answer of ${place}`), PATIENCE.silence);
    const token = await whileStarting(patience, () => fetchToken(options, config)).finally(() => clearTimeout(notice));
    terminal.out(token);
    return EXIT.done;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const hint =
      error instanceof ServerUnreachable && patience === 0 ? '; --wait 10s waits for one that is starting' : '';
    terminal.err(`kiln: ${messageOf(error)}${hint}`);
    return EXIT.failed;
  }
}

/** @throws ConfigError */
function readWait(wait: string | undefined): number {
  if (wait === undefined) return 0;
  try {
    return WAIT.parse(wait);
  } catch (error) {
    throw new ConfigError(`--wait ${JSON.stringify(wait)}: ${messageOf(error)}`);
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
async function fetchToken({ client, key: file, scope, url }: TokenFlags, config: Config): Promise<string> {
  if (config['auth.external.mode'] !== undefined)
    throw new Error('tokens come from the external server (auth.external)');
  if (config.auth === 'open')
    throw new Error('there are no tokens without authorization (--auth open), and none is needed');
  const clientId = client ?? DEVELOPMENT_CLIENT;
  const key = client === undefined ? await developmentKey(config) : await readClientKey(file!);
  const endpoint = url === undefined ? tokenEndpoint(config) : await findTokenEndpoint(url);
  return requestToken({ clientId, key, endpoint, scope });
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
