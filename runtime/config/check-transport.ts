import { isLoopback } from '../http/open-mode.js';
import { ConfigError } from './config-error.js';
import type { Config } from './settings.js';

/** Settings of a configuration that concern transport. */
export type Transport = Pick<
  Config,
  'host' | 'port' | 'base-url' | 'tls-cert' | 'tls-key' | 'tls.clientCa' | 'proxy.trust'
>;

/**
 * Tokens and data go over TLS: of this process, or of a proxy that is known by its address. Plain http stays on this machine.
 *
 * @throws ConfigError
 */
export function checkTransport(config: Transport): void {
  const { host, port, 'base-url': root, 'tls-cert': cert, 'tls-key': key } = config;
  if ((cert === undefined) !== (key === undefined)) {
    const [one, other] = cert === undefined ? ['tls-key', 'tls-cert'] : ['tls-cert', 'tls-key'];
    throw new ConfigError(`--${one} needs --${other}`);
  }
  if (cert === undefined) {
    if (config['tls.clientCa'] !== undefined) {
      throw new ConfigError('tls.clientCa needs TLS in this process: --tls-cert and --tls-key');
    }
    if (isLoopback(host) || (root?.startsWith('https:') && config['proxy.trust'].length > 0)) return;
    throw new ConfigError(
      `--host ${host}: plain http is for this machine only; give --tls-cert and --tls-key, or, behind a proxy with TLS, ` +
        '--base-url https://… and --proxy-trust',
    );
  }
  if (root?.startsWith('http:')) throw new ConfigError(`--base-url ${root}: has to be https, as --tls-cert is given`);
  if (root !== undefined || isLoopback(host)) return;
  if (port === 0) throw new ConfigError(`--port 0: clients of ${host} could not know it; give --port or --base-url`);
  if (host.includes('%')) throw new ConfigError(`--host ${host}: no URL can name that; give --base-url`);
}
