import { readJsonFile } from '../../assembly/read-file.js';
import { addressesOf } from '../../auth/server/settings.js';
import { ConfigError } from '../../config/config-error.js';
import { DEVELOPMENT_CLIENT, developmentKeyFile, whyNoDevelopmentClient } from '../../config/development.js';
import { rootOf } from '../../config/exposure.js';
import { SETTINGS, type Config } from '../../config/settings.js';
import { findTokenEndpoint, NoTokenEndpoint, ServerUnreachable } from '../auth/request-token.js';
import { messageOf, type Terminal } from '../terminal.js';
import type { HttpTarget } from './http-sink.js';
import { clientTokens } from './load-tokens.js';
import type { Tokens } from './sink.js';

/** How long the server may take to say what it is, in milliseconds. */
const PATIENCE = 10_000;

/**
 * Finds the server that `serve` starts with this configuration, and says whether it is loaded into, or the store.
 *
 * @returns undefined: no server answers, or the one that does takes no development client, so the store is loaded into
 * @throws Error in one line where a server answers that does not know the development client of this store: it serves another one
 */
export async function findRunning(config: Config, terminal: Pick<Terminal, 'err'>): Promise<HttpTarget | undefined> {
  if (config['base-url'] === undefined && config.port === 0)
    throw new ConfigError('--port 0: say the port that it got');
  const url = addressesOf(rootOf(config)).audience;
  const store = SETTINGS.store.mask?.(config.store) ?? config.store;
  try {
    await findTokenEndpoint(url);
  } catch (error) {
    if (error instanceof ServerUnreachable) {
      terminal.err(`kiln: no server runs at ${url}; loading into ${store}`);
      return undefined;
    }
    if (!(error instanceof NoTokenEndpoint)) throw error;
    await expectFhir(url);
    terminal.err(`kiln: loading into the server at ${url}`);
    return { url };
  }
  const why = whyNoDevelopmentClient(config);
  if (why !== undefined) {
    terminal.err(`kiln: the server at ${url} has no development client (${why}); loading into ${store}`);
    return undefined;
  }
  const tokens = await developmentTokens(url, config, store);
  terminal.err(`kiln: loading into the server at ${url}`);
  return { url, tokens };
}

/** @throws Error where what answers is another program */
async function expectFhir(url: string): Promise<void> {
  const answer = await fetch(`${url}/metadata`, {
    headers: { Accept: 'application/fhir+json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(PATIENCE),
  });
  await answer.body?.cancel();
  if (!answer.ok)
    throw new Error(
      `what answers at ${url} is no FHIR server (${answer.status}); say where it is with --host and --port`,
    );
}

/** @throws Error that says what to do where the server does not let the development client of the store in */
async function developmentTokens(url: string, config: Config, store: string): Promise<Tokens> {
  try {
    const file = developmentKeyFile(config);
    await readJsonFile('the key of the development client', file);
    const tokens = await clientTokens(url, DEVELOPMENT_CLIENT, file);
    await tokens.current();
    return tokens;
  } catch (error) {
    throw new Error(
      `nothing was loaded: the server at ${url} does not let the development client of ${store} in, so it serves another ` +
        `store (name that with --store), or the client is disabled there: ${messageOf(error)}`,
      { cause: error },
    );
  }
}
