import type { Jwk } from '../jwks/jwk.js';

/** A key pair of the server. Instants in milliseconds since the epoch. */
export interface ServerKey {
  readonly kid: string;
  /** ES384, with its private half. */
  readonly jwk: Jwk;
  readonly made: number;
  /** From when on it signs. It is published from `made` on. */
  readonly from: number;
}

/** All keys that are published, in the order in which they sign; never empty once made. */
export interface KeyRing {
  readonly keys: readonly ServerKey[];
}

/** Periods of a key, in milliseconds. */
export interface KeyPeriods {
  /** How long it signs. */
  readonly signs: number;
  /** How long it is published before. */
  readonly ahead: number;
  /** How long it is published after: the longest life of a token, and what others may cache. */
  readonly after: number;
}

/** Thirty days, an hour, and 300 s of a token + 300 s of caches + 60 s of clocks. */
export const KEY_PERIODS: KeyPeriods = { signs: 30 * 24 * 3600_000, ahead: 3600_000, after: 660_000 };

/** The key that signs at an instant: the last one whose time has come. */
export function signingKey({ keys }: KeyRing, now: number): ServerKey | undefined {
  return keys.findLast(({ from }) => from <= now) ?? keys[0];
}

/** Whether a new key has to be made, so that it is published long enough before the present one has done its time. */
export function needsKey(ring: KeyRing, now: number, { signs, ahead }: KeyPeriods): boolean {
  const last = ring.keys.at(-1);
  return last === undefined || now >= last.from + signs - ahead;
}

/** Whether a key waits for its time. */
export function hasWaiting({ keys }: KeyRing, now: number): boolean {
  return (keys.at(-1)?.from ?? 0) > now;
}

/** With a new key, which signs as soon as it has been published for long enough: the first one at once. */
export function withKey(ring: KeyRing, jwk: Jwk & { readonly kid: string }, now: number, ahead: number): KeyRing {
  const from = ring.keys.length === 0 ? now : now + ahead;
  return { keys: [...ring.keys, { kid: jwk.kid, jwk, made: now, from }] };
}

/** Without the keys whose last tokens have expired for everybody. The same ring where there are none. */
export function pruned(ring: KeyRing, now: number, { after }: KeyPeriods): KeyRing {
  const keys = ring.keys.filter((_key, index) => {
    const next = ring.keys[index + 1];
    return next === undefined || now < next.from + after;
  });
  return keys.length === ring.keys.length ? ring : { keys };
}
