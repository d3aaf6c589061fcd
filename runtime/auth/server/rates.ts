import { isIPv6 } from 'node:net';

import { greatest } from '../../fhir/lists.js';
import { createBoundedMap } from '../../fhir/memory/bounded-map.js';
import { unmapped } from '../jwks/addresses.js';

/**
 * Counts failed requests, by address and by (claimed client, address): never by the claimed client alone, because anyone
 * could lock a client out then. In bounded memory; of this process.
 */
export interface Rates {
  /** Seconds until the next request may come; 0: now. @param clientId absent: the request claims none */
  wait(address: string, clientId: string | undefined): number;
  failed(address: string, clientId: string | undefined): void;
}

/** In milliseconds. */
const WINDOW = 60_000;
const MOST_ADDRESSES = 10_000;
const MOST_PAIRS = 20_000;

interface Window {
  readonly start: number;
  readonly count: number;
}

/**
 * @param limits failures a minute
 * @param now the clock, in milliseconds
 */
export function createRates(
  limits: { readonly pair: number; readonly address: number },
  now: () => number = Date.now,
): Rates {
  const addresses = createBoundedMap<Window>(MOST_ADDRESSES);
  const pairs = createBoundedMap<Window>(MOST_PAIRS);

  const counters = (address: string, clientId: string | undefined) => {
    const place = networkOf(address);
    const own = { windows: addresses, key: place, limit: limits.address };
    const pair = { windows: pairs, key: JSON.stringify([place, clientId]), limit: limits.pair };
    return clientId === undefined ? [own] : [own, pair];
  };

  /** Undefined: none is open. */
  function open(window: Window | undefined): Window | undefined {
    const age = window === undefined ? WINDOW : now() - window.start;
    return age >= 0 && age < WINDOW ? window : undefined;
  }

  return {
    wait(address, clientId) {
      const waits = counters(address, clientId).map(({ windows, key, limit }) => {
        const window = open(windows.get(key));
        return window === undefined || window.count < limit ? 0 : Math.ceil((window.start + WINDOW - now()) / 1000);
      });
      return greatest(waits);
    },
    failed(address, clientId) {
      for (const { windows, key } of counters(address, clientId)) {
        const { start, count } = open(windows.get(key)) ?? { start: now(), count: 0 };
        windows.set(key, { start, count: count + 1 });
      }
    },
  };
}

/** Returns what addresses are counted by: who has one address of IPv6 has all that share its first 64 bits. */
export function networkOf(address: string): string {
  const plain = unmapped(address);
  if (!isIPv6(plain) || plain.includes('%')) return plain.slice(0, 100);
  const [head = '', tail = ''] = new URL(`http://[${plain}]/`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const gap = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...gap, ...after].slice(0, 4).join(':');
}
