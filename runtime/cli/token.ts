import { DEVELOPMENT_CLIENT, developmentKeyFile, whyNoDevelopmentClient } from '../assembly/development-client.js';
import { readJsonFile } from '../assembly/read-file.js';
import type { Jwk } from '../auth/jwks/jwk.js';
import { signingKeyFault, tokenForm } from '../auth/server/client-assertion.js';
import { addressesOf } from '../auth/server/settings.js';
import { ConfigError } from '../config/config-error.js';
import { rootOf } from '../config/exposure.js';
import { readConfig, type Flags } from '../config/read-config.js';
import type { Config } from '../config/settings.js';
import { causeOf, isDistrusted, noAnswer } from './load/no-answer.js';
import { EXIT, messageOf, printable, type Terminal } from './terminal.js';

/** Options of `kiln token`. */
export interface TokenFlags {
  readonly client?: string;
  readonly key?: string;
  readonly scope?: string;
}

/** How long the server may take to answer, how long it may take to start, and the pause between looks at it. In milliseconds. */
const PATIENCE = { answer: 10_000, start: 10_000, pause: 250 };
/** What is asked for where nothing is said: what of it a client is registered with it gets. */
const EVERYTHING = 'system/*.cruds';
/** https://www.rfc-editor.org/rfc/rfc6750#section-2.1 */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

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
    terminal.out(await whileStarting(patience, () => fetchToken(options, config)));
    return EXIT.done;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    terminal.err(`kiln: ${messageOf(error)}`);
    return EXIT.failed;
  }
}

/** There is no server yet, and may be in a moment. */
class NotThere extends Error {}

async function whileStarting<T>(patience: number, action: () => Promise<T>): Promise<T> {
  const end = performance.now() + patience;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof NotThere) || performance.now() >= end) throw error;
      await new Promise((resolve) => setTimeout(resolve, PATIENCE.pause));
    }
  }
}

/** @throws Error in one line */
async function fetchToken({ client, key: file, scope = EVERYTHING }: TokenFlags, config: Config): Promise<string> {
  if (config['auth.external.mode'] !== undefined)
    throw new Error('tokens come from the external server (auth.external)');
  if (config.auth === 'open')
    throw new Error('there are no tokens without authorization (--auth open), and none is needed');
  const clientId = client ?? DEVELOPMENT_CLIENT;
  const key = client === undefined ? await developmentKey(config) : await clientKey(file!);
  const audience = addressesOf(rootOf(config)).token;
  const body = await tokenForm({ clientId, key, audience, scope }, Date.now());
  const answer = await post(audience, body);
  const { access_token: token, error, error_description: text } = await readAnswer(answer, audience);
  if (answer.status === 200 && typeof token === 'string' && TOKEN.test(token)) return token;
  const why = [error, text].filter((each) => typeof each === 'string').join(': ');
  throw new Error(`no token for ${clientId}: ${printable(why === '' ? `${audience} answered ${answer.status}` : why)}`);
}

async function post(url: string, body: string): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE.answer),
    });
  } catch (error) {
    const cause = causeOf(error);
    const text = `${noAnswer(url, error)}; is the server started, with the same options?`;
    if (isDistrusted(error)) throw new Error(noAnswer(url, error), { cause: error });
    throw cause === 'ECONNREFUSED' ? new NotThere(text, { cause: error }) : new Error(text, { cause: error });
  }
}

async function readAnswer(answer: Response, url: string): Promise<Partial<Record<string, unknown>>> {
  if (answer.status === 404) throw new Error(`there is no ${url}: that server has no authorization of its own`);
  try {
    return Object(await answer.json()) as Partial<Record<string, unknown>>;
  } catch {
    return {};
  }
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
      throw new NotThere(`${error.message}; the first start of the server makes it`, { cause: error });
    throw error;
  }
}

/** @throws ConfigError */
async function clientKey(file: string): Promise<Jwk> {
  const key = await readJsonFile('--key', file);
  const fault = signingKeyFault(key);
  if (fault !== undefined) throw new ConfigError(`--key ${JSON.stringify(file)}: the key ${fault}`);
  return key as Jwk;
}
