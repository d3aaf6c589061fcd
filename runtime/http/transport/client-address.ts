import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

import { readRanges, unmapped, type AddressRanges } from '../../auth/jwks/addresses.js';

/** Parts of a request from which the address of its client is computed. */
export type Origin = Pick<IncomingMessage, 'socket' | 'headers'>;

/** The proxies whose word counts. */
export interface Proxies {
  /** Whether a connection comes from one of them. */
  isPeer(req: Origin): boolean;
  /**
   * The address of the client: that of the connection, or where that is a proxy's, the last one that the proxies did not have
   * themselves. What is before it the client may have made up.
   */
  clientAddress(req: Origin): string;
}

/**
 * The proxies that lie within some ranges.
 *
 * @throws TypeError naming a range that cannot be read
 */
export function createProxies(trusted: readonly string[]): Proxies {
  const ranges = readRanges(trusted);
  return {
    isPeer: (req) => ranges.has(peerOf(req)),
    clientAddress(req) {
      const peer = peerOf(req);
      if (trusted.length === 0 || !ranges.has(peer)) return peer;
      const { 'x-forwarded-for': plain, forwarded } = req.headers;
      const ways: string[] = [];
      if (plain !== undefined) ways.push(lastForeign(String(plain).split(','), peer, ranges));
      if (forwarded !== undefined) ways.push(lastForeign(readForwarded(forwarded), peer, ranges));
      // A proxy writes one of the two, and may pass on the other as a client sent it.
      const [first = peer] = ways;
      return ways.every((way) => way === first) ? first : peer;
    },
  };
}

function peerOf({ socket }: Origin): string {
  return unmapped(socket.remoteAddress ?? '');
}

/** Goes from the last hop to the first that is no proxy of ours; one that cannot be read ends the way at the proxy that wrote it. */
function lastForeign(hops: readonly string[], peer: string, ranges: AddressRanges): string {
  let last = peer;
  for (const hop of hops.toReversed()) {
    const address = readHop(hop);
    if (address === undefined) return last;
    last = address;
    if (!ranges.has(address)) return last;
  }
  return last;
}

/** `1.2.3.4`, `1.2.3.4:5678`, `::1`, `[::1]:5678`, and with quotation marks around. */
const HOP = /^"?(?:\[([\da-f:.]+)\]|([\d.]+)|([\da-f:.]+))(?<!:)(?::\d{1,5})?"?$/i;

function readHop(hop: string): string | undefined {
  const [, bracketed, v4, v6] = HOP.exec(hop.trim()) ?? [];
  const address = bracketed ?? v4 ?? v6 ?? '';
  return isIP(address) === 0 ? undefined : unmapped(address);
}

/** The `for` of each element; empty where one has none. RFC 7239, 4 */
function readForwarded(header: string): string[] {
  return header.split(',').map((element) => /(?:^|;)\s*for=([^;]*)/i.exec(element)?.[1] ?? '');
}
