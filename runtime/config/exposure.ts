import { addressesOf } from '../auth/server/settings.js';
import { isLoopback } from '../http/open-mode.js';
import { baseKey } from '../path/base-key.js';
import { OwnBases } from '../path/own-bases.js';
import { ConfigError } from './config-error.js';
import type { Config } from './settings.js';

/**
 * Returns the setting that opens the server to other machines, with its value; undefined: no setting does. Open mode and the
 * development client exist only then.
 */
export function whyExposed(
  config: Pick<Config, 'host' | 'base-url' | 'tls-cert' | 'tls-key' | 'proxy.trust'>,
): string | undefined {
  if (!isLoopback(config.host)) return `--host ${config.host}`;
  if (config['base-url'] !== undefined) return `--base-url ${config['base-url']}`;
  if (config['tls-cert'] !== undefined || config['tls-key'] !== undefined) return '--tls-cert';
  return config['proxy.trust'].length > 0 ? `--proxy-trust ${config['proxy.trust'].join(',')}` : undefined;
}

/** The root under which clients know a server. @param port that it listens on */
export function rootOf(config: Config, port: number = config.port): string {
  const { host, 'base-url': root, 'tls-cert': certificate } = config;
  const scheme = certificate === undefined ? 'http' : 'https';
  return root ?? `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * The URLs by which references lead to resources of a server. A configured one is the only one; without, all names of this machine are
 * right. With port 0 they are not known before it listens.
 */
export function ownBasesOf(config: Config): OwnBases {
  const url = addressesOf(rootOf(config)).audience;
  if (config['base-url'] !== undefined || !isLoopback(config.host)) return new OwnBases([baseKey(url)]);
  return config.port === 0 ? new OwnBases() : OwnBases.onThisMachine(url);
}

/** Addresses that stand for all, and so for none that a client could use. */
const ALL = /^(?:0\.0\.0\.0|::|0:0:0:0:0:0:0:0)$/;

/**
 * Settings that do not go together, because tokens or data would be open to others.
 *
 * @throws ConfigError
 */
export function checkExposure(config: Config): void {
  const exposed = whyExposed(config);
  if (exposed === undefined) return;
  if (config.auth === 'open') {
    throw new ConfigError(`${exposed}: without authorization (--auth open) only this machine is served, and directly`);
  }
  if (config['pages.keepToken']) {
    throw new ConfigError(`${exposed}: pages keep tokens (--pages-keep-token) only of a server for this machine alone`);
  }
  if (config['base-url'] === undefined && ALL.test(config.host)) {
    throw new ConfigError(`--host ${config.host}: clients cannot reach that; say by which URL they do with --base-url`);
  }
}
