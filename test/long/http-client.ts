import { Agent, request, type IncomingHttpHeaders } from 'node:http';

/** An answer of a server. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends one request over connections that stay open; rejects where there is no answer. */
export type Send = (base: string, method: string, path: string, body?: object) => Promise<Answer>;

/**
 * A client.
 *
 * @param connections greatest number of them
 * @param patience milliseconds without a sign of the server after which it gives up
 */
export function createClient(connections: number, patience: number): Send & { readonly close: () => void } {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send: Send = (base, method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/fhir+json' };
      const req = request(
        path === '' ? base : `${base}${path}`,
        { agent, method, headers, timeout: patience },
        (res) => {
          let text = '';
          res.setEncoding('utf8');
          res.on('data', (chunk: string) => (text += chunk));
          res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, text }));
          res.on('error', reject);
        },
      );
      req.on('timeout', () => req.destroy(new Error(`no answer to ${method} ${path} within ${patience} ms`)));
      req.on('error', reject);
      req.end(body === undefined ? undefined : JSON.stringify(body));
    });
  return Object.assign(send, { close: () => agent.destroy() });
}
