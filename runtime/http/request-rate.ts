import { networkOf } from '../auth/server/rates.js';
import { FhirError } from '../fhir/errors.js';
import { createBoundedMap } from '../fhir/memory/bounded-map.js';

/** How many requests clients may send: a bucket of tokens for each, in bounded memory, of this process. */
export interface RequestRate {
  /**
   * Takes a token of the client, or of the network of its address where it has no name.
   *
   * @throws FhirError `too-many-requests` with `Retry-After`, where there is none
   */
  take(clientId: string | undefined, address: string): void;
}

/** One that is forgotten has a full bucket again. */
const MOST_CLIENTS = 20_000;

interface Bucket {
  tokens: number;
  /** When tokens were last added, in milliseconds. */
  at: number;
}

/**
 * @param perSecond tokens that each client gets in a second
 * @param burst how many it can have
 * @param now the clock, in milliseconds
 */
export function createRequestRate(
  perSecond: number,
  burst: number,
  now: () => number = () => performance.now(),
): RequestRate {
  const buckets = createBoundedMap<Bucket>(MOST_CLIENTS);
  return {
    take(clientId, address) {
      const key = clientId ? `client ${clientId}` : networkOf(address);
      const time = now();
      let bucket = buckets.get(key);
      if (bucket === undefined) buckets.set(key, (bucket = { tokens: burst, at: time }));
      bucket.tokens = Math.min(burst, bucket.tokens + ((time - bucket.at) * perSecond) / 1000);
      bucket.at = time;
      if (bucket.tokens < 1) {
        const seconds = Math.ceil((1 - bucket.tokens) / perSecond);
        const text = `At most ${perSecond} requests a second are answered, and ${burst} at once`;
        throw new FhirError('too-many-requests', text, { headers: { 'Retry-After': String(seconds) } });
      }
      bucket.tokens--;
    },
  };
}
