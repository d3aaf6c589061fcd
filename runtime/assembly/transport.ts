import type { RequestListener } from 'node:http';

import { rootOf } from '../config/exposure.js';
import type { Config } from '../config/settings.js';
import { FHIR_PATH, type AppOptions } from '../http/app.js';
import { isLoopback } from '../http/open-mode.js';
import { isFor } from '../http/transport/certificate.js';
import { createProxies, type Proxies } from '../http/transport/client-address.js';
import { createStripPath } from '../http/transport/base-path.js';
import type { UpgradeListener } from '../http/listen.js';
import { withFront } from '../http/transport/front.js';
import type { Tls } from '../http/transport/tls.js';
import type { Log } from '../observe/log.js';

/** Transport between clients and the request listener: TLS, trusted proxies, and the front of each listener. */
export interface Transport {
  /** Absent: plain http. */
  readonly tls: Tls | undefined;
  /** Whose word on the addresses of clients counts. */
  readonly proxies: Proxies;
  /** What the application has to know of it. */
  readonly app: Pick<AppOptions, 'baseUrl' | 'proxies' | 'corsOrigins'>;
  /** What secures a listener. */
  front(listener: RequestListener): RequestListener;
  /** Secures what takes requests for web sockets, as `front` secures a listener. */
  frontOf(upgrade: UpgradeListener): UpgradeListener;
}

/**
 * The transport of a configuration.
 *
 * @throws Error in one line, where certificates cannot be read or are not good enough
 */
export async function openTransport(config: Config, log: Log): Promise<Transport> {
  const root = rootOf(config);
  const tls = await startTls(config, log);
  if (tls !== undefined && !isFor(tls.certificate, new URL(root).hostname)) {
    log.info(`the certificate is not for ${new URL(root).hostname}: clients will refuse it`);
  }
  const proxies = createProxies(config['proxy.trust']);
  // On this machine it has several names, and all are right.
  const isNamed = config['base-url'] !== undefined || !isLoopback(config.host);
  return {
    tls,
    proxies,
    app: {
      ...(isNamed ? { baseUrl: root + FHIR_PATH } : {}),
      ...(tls === undefined && config['proxy.trust'].length > 0 ? { proxies } : {}),
      corsOrigins: config['cors.origins'],
    },
    frontOf(upgrade) {
      const strip = createStripPath(root);
      return (req, ...rest) => {
        strip?.(req);
        upgrade(req, ...rest);
      };
    },
    front: (listener) => withFront(listener, { root, hsts: config['tls.hsts'] }),
  };
}

async function startTls(config: Config, log: Log): Promise<Tls | undefined> {
  const { 'tls-cert': cert, 'tls-key': key, 'tls.clientCa': clientCa } = config;
  if (cert === undefined || key === undefined) return undefined;
  const { openTls } = await import('../http/transport/tls.js');
  return openTls({ cert, key, clientCa }, log);
}
