import { BlockList, isIP, isIPv6 } from 'node:net';

/**
 * Addresses that are not of the public internet: who may name a URL that we fetch could reach into our network with
 * them. IANA special-purpose registries, https://www.rfc-editor.org/rfc/rfc6890
 */
const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  '::/96', // IPv4-compatible
  '::ffff:0:0:0/96', // IPv4-translated
  '64:ff9b::/96', // NAT64: an IPv4 address in disguise
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23', // Teredo, ORCHID
  '2001:db8::/32',
  '2002::/16', // 6to4: an IPv4 address in disguise
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

const CIDR = /^([^/]+)\/(\d{1,3})$/;

/** Ranges of addresses. */
export interface AddressRanges {
  has(address: string): boolean;
}

/**
 * Reads ranges, each written `10.0.0.0/8`, `fd00::/8`, or as a single address.
 *
 * @throws TypeError naming the one that cannot be read
 */
export function readRanges(texts: readonly string[]): AddressRanges {
  const list = new BlockList();
  for (const text of texts) {
    const [, base = text, bits] = CIDR.exec(text) ?? [];
    const version = isIP(base);
    const length = version === 6 ? 128 : 32;
    const prefix = bits === undefined ? length : Number(bits);
    if (version === 0 || prefix > length) throw new TypeError(`"${text.slice(0, 100)}" is no range of addresses`);
    list.addSubnet(base, prefix, version === 6 ? 'ipv6' : 'ipv4');
  }
  return {
    has(address) {
      const plain = unmapped(address);
      return isIP(plain) !== 0 && list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
    },
  };
}

const notPublic = readRanges(NOT_PUBLIC);

/** Whether it is an address of the public internet. */
export function isPublic(address: string): boolean {
  const plain = unmapped(address);
  return isIP(plain) !== 0 && !plain.includes('%') && !notPublic.has(plain);
}

/** An IPv4 address where one is written as an IPv6 address (`::ffff:10.0.0.1`, `0:0:0:0:0:ffff:a00:1`). */
export function unmapped(address: string): string {
  // Asked of each request: the pattern of IPv6 is long.
  if (!address.includes(':') || !isIPv6(address) || address.includes('%')) return address;
  // A URL has one spelling for each address.
  const short = new URL(`http://[${address}]/`).hostname;
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(short) ?? [];
  if (high === undefined || low === undefined) return address;
  return [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]).join('.');
}
