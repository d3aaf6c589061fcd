import type { AtomicMaps } from '../../store/store.js';
import type { JwkSet } from '../jwks/jwk.js';
import { createFresh } from './fresh.js';
import { generateKey } from './jws.js';
import {
  hasWaiting,
  KEY_PERIODS,
  needsKey,
  pruned,
  signingKey,
  withKey,
  type KeyPeriods,
  type KeyRing,
  type ServerKey,
} from './key-ring.js';

/** The map in the store that holds the keys. */
export const KEYS_MAP = 'auth-keys';

/** One entry for all keys: each change is one atomic step. */
const RING = 'ring';

/** How old a ring may be that lacks a key, before it is read again for its sake. In milliseconds. */
const LOOK_AGAIN = 100;
const TRIES = 20;
const EMPTY: KeyRing = { keys: [] };

/** Result of a key rotation. Instants in milliseconds since the epoch. */
export interface Rotation {
  readonly kid: string;
  /** From when on the new key signs. */
  readonly from: number;
  /** False: one was waiting already, and this is it. */
  readonly isNew: boolean;
}

/**
 * The key pairs that the server signs tokens with, in the store: all processes have the same. Made when first needed, and
 * anew every thirty days, by whichever process comes first.
 */
export interface ServerKeys {
  /** The key to sign with. */
  current(): Promise<ServerKey>;
  /** A key that is published; undefined: there is none with this kid. */
  find(kid: string): Promise<ServerKey | undefined>;
  /** The public halves. https://www.rfc-editor.org/rfc/rfc7517#section-5 */
  published(): Promise<JwkSet>;
  /**
   * Makes the next key. It signs after an hour, so that everybody knows it by then.
   *
   * @param isCompromised it signs at once, and all others are dropped with the tokens they signed
   */
  rotate(isCompromised?: boolean): Promise<Rotation>;
}

/** @param now the clock, in milliseconds */
export function createServerKeys(
  maps: AtomicMaps,
  now: () => number = Date.now,
  periods: KeyPeriods = KEY_PERIODS,
): ServerKeys {
  let looked = 0;
  let parsed: { readonly text: string | undefined; readonly ring: KeyRing } = { text: undefined, ring: EMPTY };
  const rings = createFresh(
    async () => {
      looked = now();
      const text = await maps.get(KEYS_MAP, RING);
      // The same objects for the same text: their keys stay imported.
      if (text !== parsed.text) parsed = { text, ring: readRing(text) };
      return parsed.ring;
    },
    1,
    now,
  );

  /** Changes the ring as it is in the store; what another process did meanwhile is the base of another try. */
  async function change(step: (ring: KeyRing) => KeyRing | Promise<KeyRing>): Promise<KeyRing> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const text = await maps.get(KEYS_MAP, RING);
      const ring = readRing(text);
      const next = await step(ring);
      if (next === ring) return ring;
      if (await maps.swap(KEYS_MAP, RING, text, JSON.stringify(next))) {
        rings.forget(RING);
        return next;
      }
    }
    throw new Error('the keys of the server are changed by others all the time');
  }

  /** The ring, after what its time demands. */
  async function ring(): Promise<KeyRing> {
    const known = await rings.get(RING);
    const time = now();
    if (!needsKey(known, time, periods) && pruned(known, time, periods) === known) return known;
    return await change(async (kept) => {
      const rest = pruned(kept, time, periods);
      return needsKey(rest, time, periods) ? withKey(rest, await generateKey('ES384'), time, periods.ahead) : rest;
    });
  }

  return {
    async current() {
      const key = signingKey(await ring(), now());
      if (key === undefined) throw new Error('the server has no key');
      return key;
    },
    async find(kid) {
      const known = await rings.get(RING);
      const found = known.keys.find((key) => key.kid === kid);
      if (found !== undefined) return found;
      // Another process may have begun to sign with a key that is younger than what we know, or with the first of all.
      if (known.keys.length > 0 && Math.abs(now() - looked) < LOOK_AGAIN) return undefined;
      rings.forget(RING);
      return (await rings.get(RING)).keys.find((key) => key.kid === kid);
    },
    async published() {
      return { keys: (await ring()).keys.map(toPublic) };
    },
    async rotate(isCompromised = false) {
      const time = now();
      const jwk = await generateKey('ES384');
      const made = await change((kept) => {
        if (isCompromised) return withKey(EMPTY, jwk, time, 0);
        return hasWaiting(kept, time) ? kept : withKey(kept, jwk, time, periods.ahead);
      });
      const last = made.keys.at(-1)!;
      return { kid: last.kid, from: last.from, isNew: last.kid === jwk.kid };
    },
  };
}

/** Named one by one, so that nothing private can slip through. */
function toPublic({ kid, jwk: { kty, crv, x, y } }: ServerKey): Readonly<Record<string, unknown>> {
  return { kty, crv, x, y, kid, alg: 'ES384', use: 'sig' };
}

function readRing(text: string | undefined): KeyRing {
  return text === undefined ? EMPTY : (JSON.parse(text) as KeyRing);
}
