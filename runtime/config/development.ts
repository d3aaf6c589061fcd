import { dirname, join } from 'node:path';

import { sqlitePathOf } from '../store/sqlite-path.js';
import { whyExposed } from './exposure.js';
import { isMongoUrl } from './mongo-url.js';
import { SETTINGS, type Config } from './settings.js';

/** Id of the development client: no other client can have it. */
export const DEVELOPMENT_CLIENT = 'dev-client';

/** What of a configuration decides on the development client. */
type DevelopmentConfig = Parameters<typeof whyExposed>[0] & Pick<Config, 'auth' | 'auth.external.mode' | 'store'>;

/** Why a server has no development client, in words for people; undefined: it has one. */
export function whyNoDevelopmentClient(config: DevelopmentConfig): string | undefined {
  if (config['auth.external.mode'] !== undefined) return 'tokens come from an external server (auth.external)';
  if (config.store === 'sqlite::memory:') return 'a memory store has none';
  if (isMongoUrl(config.store)) return 'a store in MongoDB has none';
  const exposed = whyExposed(config);
  return exposed === undefined ? undefined : `the server is for more than this machine (${exposed})`;
}

/** File of its private key: beside that of a SQLite store. */
export function developmentKeyFile(config: Pick<Config, 'store'>): string {
  return join(dirname(sqlitePathOf(config.store)), 'dev-client.jwk');
}

/**
 * The command that prints a token of a server for its development client; undefined: it has none, or asks for no tokens. Only
 * programs on this machine reach a server that has one, so every client may learn of it.
 *
 * @param place port that the server listens on; or, of one that is mounted in another application, its FHIR base
 * @param reader `everybody`: a path is left out, which may tell the name of the user
 */
export function tokenCommand(
  config: DevelopmentConfig,
  place: { readonly port: number } | { readonly base: string },
  reader: 'operator' | 'everybody',
): string | undefined {
  if (config.auth === 'open' || whyNoDevelopmentClient(config) !== undefined) return undefined;
  const isInitial = config.store === SETTINGS.store.initial;
  const address =
    'base' in place
      ? ([['url', place.base, undefined]] as const)
      : ([
          ['host', config.host, SETTINGS.host.initial],
          ['port', place.port, SETTINGS.port.initial],
        ] as const);
  const options = [
    ...address,
    ['store', reader === 'operator' || isInitial ? config.store : '…', SETTINGS.store.initial],
  ] as const;
  const given = options.filter(([, value, initial]) => value !== initial);
  return ['npx kiln token', ...given.map(([name, value]) => `--${name} ${quoted(String(value))}`)].join(' ');
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w:./…-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
