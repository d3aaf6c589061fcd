import { createBoundedMap } from '../../fhir/memory/bounded-map.js';
import type { SignatureAlgorithm } from './algorithms.js';
import { readCaching, type CachingBounds } from './caching.js';
import { ExchangeError } from './exchange.js';
import { fetchDocument, type Fetching } from './fetch-document.js';
import { usableKeys, type Jwk } from './jwk.js';
import { readJwkSet } from './jwk-set.js';
import { selectKey, type Selected } from './select-key.js';

/**
 * Keys behind URLs, each set fetched when it is first needed and kept as its headers allow. Bounded: the sets of a
 * thousand URLs.
 */
export interface JwksSource {
  /**
   * The key for a signature. A kid that is not in a fresh set has it fetched again, but not more often than the floor
   * allows; the first fetch of a URL does not count.
   *
   * @throws ExchangeError where there is no set: fail closed
   */
  find(url: string, kid: string, alg: SignatureAlgorithm): Promise<Selected>;
}

/** How sets are kept. In seconds. */
export interface SourceSettings extends CachingBounds {
  /** Least time between two fetches for the sake of an unknown kid. */
  readonly floor: number;
}

/** For clients' sets: their headers are an upper bound, and may forbid caching. authorization.md §2.5 */
export const CLIENT_SETS: SourceSettings = { silent: 300, least: 0, most: 3600, floor: 30 };
/** For those of an external authorization server. §5.3 */
export const SERVER_SETS: SourceSettings = { silent: 300, least: 60, most: 3600, floor: 30 };

const MOST_URLS = 1000;

interface Kept {
  readonly keys: readonly Jwk[];
  /** Milliseconds since the epoch. */
  readonly received: number;
  readonly freshUntil: number;
  readonly staleUntil: number;
}

interface Place {
  kept?: Kept;
  /** A fetch under way, for all who wait for it. */
  running?: Promise<Kept>;
  /** When it was last fetched for an unknown kid. */
  refetched?: number;
}

/** @param now the clock, in milliseconds */
export function createJwksSource(
  fetching: Fetching,
  settings: SourceSettings = CLIENT_SETS,
  now: () => number = Date.now,
): JwksSource {
  const places = createBoundedMap<Place>(MOST_URLS);

  function placeOf(url: string): Place {
    const place = places.get(url) ?? {};
    places.set(url, place);
    return place;
  }

  async function fetchSet(url: string): Promise<Kept> {
    const answer = await fetchDocument(url, fetching);
    const set = readJwkSet(answer.body);
    if (set === undefined) throw new ExchangeError('answered with something that is no JWKS, or too large a one');
    const received = now();
    const { fresh, staleIfError } = readCaching(answer.headers, received, settings);
    const freshUntil = received + fresh * 1000;
    return { keys: usableKeys(set), received, freshUntil, staleUntil: freshUntil + staleIfError * 1000 };
  }

  /** Concurrent callers share one fetch. */
  async function renew(url: string, place: Place): Promise<Kept> {
    place.running ??= fetchSet(url).finally(() => delete place.running);
    place.kept = await place.running;
    return place.kept;
  }

  async function current(url: string, place: Place): Promise<{ readonly kept: Kept; readonly isNew: boolean }> {
    const { kept } = place;
    if (kept !== undefined && isWithin(kept, kept.freshUntil)) return { kept, isNew: false };
    try {
      return { kept: await renew(url, place), isNew: true };
    } catch (error) {
      if (kept !== undefined && isWithin(kept, kept.staleUntil)) return { kept, isNew: true };
      throw error;
    }
  }

  /** A clock that was set back makes nothing last longer. */
  function isWithin(kept: Kept, until: number): boolean {
    const time = now();
    return time < until && time >= kept.received;
  }

  return {
    async find(url, kid, alg) {
      const place = placeOf(url);
      const { kept, isNew } = await current(url, place);
      const found = selectKey(kept.keys, kid, alg);
      if (isNew || !('missing' in found) || found.missing !== 'unknown') return found;
      const last = place.refetched;
      if (last !== undefined && Math.abs(now() - last) < settings.floor * 1000) return found;
      place.refetched = now();
      try {
        return selectKey((await renew(url, place)).keys, kid, alg);
      } catch {
        // What is fresh is good still, but without this key.
        return found;
      }
    },
  };
}
