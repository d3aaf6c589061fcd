import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

import { FhirError } from '../fhir/errors.js';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether this names the machine itself: `localhost`, 127.0.0.0/8 or ::1 (in brackets or without). */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (name === 'localhost') return true;
  const address = name.replace(/^::ffff:(?=\d+\.)/, '');
  const version = isIP(address);
  return version !== 0 && LOOPBACK.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/**
 * The guard of open mode: without authorization only programs on this machine are served, and neither what a proxy
 * forwards nor a browser that was tricked by DNS into taking a foreign name for this machine.
 *
 * @throws FhirError `open-mode-host`, `open-mode-proxy`
 */
export function guardOpenMode(req: IncomingMessage): void {
  for (const name in req.headers) {
    if (name === 'forwarded' || name.startsWith('x-forwarded-')) {
      throw new FhirError('open-mode-proxy', `Without authorization no request with the header ${name} is served`);
    }
  }
  const host = (req.headers.host ?? '').replace(/:\d*$/, '');
  if (!isLoopback(host) || !isLoopback(req.socket.remoteAddress ?? '')) throw new FhirError('open-mode-host');
}
