import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

import { FhirError } from '../fhir/errors.js';
import { headerValues } from './request/header-values.js';
import { memoize } from '../fhir/memory/memoize.js';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether this names the machine itself: `localhost`, 127.0.0.0/8 or ::1 (in brackets or without). */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  if (name === 'localhost') return true;
  // Brackets are around IPv6 only; a zone (`::1%lo`) names an interface, which nothing here is about.
  const address = name.replace(/^\[([\da-f:.]*:[\da-f:.]*)\]$/, '$1').replace(/^::ffff:(?=\d+\.)/, '');
  const version = address.includes('%') ? 0 : isIP(address);
  return version !== 0 && LOOPBACK.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** Names and addresses whose judgement is kept: the same few come again and again. */
const JUDGED_AT_MOST = 1000;

/** A name or an address, IPv6 in brackets, and perhaps a port. RFC 9110, 7.2; RFC 3986, 3.2.2 */
const HOST = /^([^:[\]]+|\[[^[\]]+\])(?::(\d{0,5}))?$/;
const MAX_PORT = 65_535;

/** Whether a `Host` names this machine, port and all. */
export const isLocal = memoize((host: string): boolean => {
  const [, name = '', port = ''] = HOST.exec(host) ?? [];
  return isLoopback(name) && Number(port) <= MAX_PORT;
}, JUDGED_AT_MOST);

/**
 * The guard of open mode: without authorization only programs on this machine are served, and neither what a proxy
 * forwards, nor a browser that was tricked by DNS into taking a foreign name for this machine, nor a foreign page that
 * has a browser here write: content of any type needs no leave of CORS.
 *
 * @throws FhirError `header-invalid` for a second `Host`; `open-mode-host`, `open-mode-proxy`, `open-mode-origin`
 */
export function checkOpenMode(req: IncomingMessage): void {
  const { headers, method } = req;
  for (const name in headers) {
    if (name === 'forwarded' || name.startsWith('x-forwarded-')) {
      throw new FhirError('open-mode-proxy', `Without authorization no request with the header ${name} is served`);
    }
  }
  // Node keeps the first alone, and a proxy in between may have gone by the last. RFC 9112, 3.2
  if (headerValues(req, 'host').length > 1) throw new FhirError('header-invalid', 'A request has one Host header');
  if (!isLocal(headers.host ?? '')) throw new FhirError('open-mode-host');
  const address = req.socket.remoteAddress ?? '';
  if (address !== '127.0.0.1' && !isLoopback(address)) throw new FhirError('open-mode-host');
  const isSafe = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
  if (isSafe) return;
  const { origin } = headers;
  const isForeign = origin !== undefined && !isLocal(origin.replace(/^https?:\/\//, ''));
  if (isForeign || headers['sec-fetch-site'] === 'cross-site') throw new FhirError('open-mode-origin');
}
