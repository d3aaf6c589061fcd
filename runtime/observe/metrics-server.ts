import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { EXPOSITION_TYPE } from './exposition.js';
import type { Metrics } from './metrics.js';

/** A server that listens for scrapes. */
export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `/metrics` on a port of its own, so that a firewall can tell scrapes from requests.
 *
 * @throws Error with a `code` of Node (`EADDRINUSE`)
 */
export function serveMetrics(metrics: Metrics, host: string, port: number): Promise<MetricsServer> {
  const server = createServer((req, res) => {
    const isScrape = req.url === '/metrics' && (req.method === 'GET' || req.method === 'HEAD');
    res.writeHead(isScrape ? 200 : 404, { 'Content-Type': EXPOSITION_TYPE });
    if (isScrape) void metrics.expose().then((text) => res.end(text));
    else res.end('only GET /metrics\n');
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const actual = (server.address() as AddressInfo).port;
      resolve({
        url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}/metrics`,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      });
    });
  });
}
