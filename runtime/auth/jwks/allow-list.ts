import { isIP } from 'node:net';

import { isPublic, readRanges } from './addresses.js';

/** Which URLs may be fetched, and at which addresses. */
export interface AllowList {
  /** Why a URL may not be fetched whatever its address; undefined: it may. */
  urlFault(url: URL): string | undefined;
  /** Whether the host of a URL may be reached at this address. */
  admits(url: URL, address: string): boolean;
}

const HTTPS_PORT = '443';

/**
 * Public addresses on the port of https, and what the entries add: `host` (also at addresses that are not public),
 * `host:port` (on this port as well), and ranges of addresses (`10.0.0.0/8`).
 *
 * @param setting that has the entries
 * @param isForHttp whether hosts and addresses that are named may be reached over http too, and over https at any port
 * @throws TypeError naming an entry that cannot be read
 */
export function readAllowList(entries: readonly string[], setting = 'auth.jwks.allow', isForHttp = false): AllowList {
  const ranges = readRanges(entries.filter((entry) => entry.includes('/')));
  const places = new Set(entries.filter((entry) => !entry.includes('/')).map(placeOf));
  const hosts = new Set(isForHttp ? entries.filter((entry) => !/[/\]]|:\d+$/.test(entry)).map(hostOfEntry) : []);
  const isNamed = (url: URL): boolean => places.has(`${hostOf(url)}:${portOf(url)}`) || hosts.has(hostOf(url));
  return {
    urlFault(url) {
      if (url.protocol === 'http:' && isForHttp) {
        if (!isNamed(url) && !ranges.has(hostOf(url))) return `is http, which only hosts of ${setting} may have`;
      } else if (url.protocol !== 'https:') return 'is not https';
      if (url.username !== '' || url.password !== '') return 'names a user';
      if (url.hash !== '') return 'has a fragment';
      if (!isForHttp && portOf(url) !== HTTPS_PORT && !isNamed(url))
        return `names a port that is not allowed (${setting})`;
      return undefined;
    },
    admits: (url, address) => isPublic(address) || isNamed(url) || ranges.has(address),
  };
}

/** The host of a URL without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
}

function portOf(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'http:' ? '80' : HTTPS_PORT;
}

/** The host of an entry that names no port. */
function hostOfEntry(entry: string): string {
  return placeOf(entry).replace(/:\d+$/, '');
}

/** An entry as `host:port`. */
function placeOf(entry: string): string {
  const text = isIP(entry) === 6 ? `[${entry}]` : entry;
  const url = URL.canParse(`https://${text}/`) ? new URL(`https://${text}/`) : undefined;
  if (url === undefined || url.username !== '' || !/^[^\s?#@\\]+$/.test(entry)) {
    throw new TypeError(`"${entry.slice(0, 100)}" is neither a host, host:port nor a range of addresses`);
  }
  return `${hostOf(url)}:${portOf(url)}`;
}
