import type { AtomicMaps } from '../../store/store.js';
import { createFresh } from '../keys/fresh.js';

/** The map in the store that holds the identifiers of revoked tokens. */
export const REVOKED_MAP = 'auth-revoked';

/** Which tokens were revoked before their time. */
export interface RevokedTokens {
  /** @param exp when the token ends anyway, seconds since the epoch */
  add(jti: string, exp: number): Promise<void>;
  /** As it was `AGE` ago at most. */
  has(jti: string): Promise<boolean>;
}

const MOST = 10_000;
/** How long it is remembered beyond the end of the token, for clocks that differ. In milliseconds. */
const MARGIN = 60_000;

/** @param now the clock, in milliseconds */
export function createRevokedTokens(maps: AtomicMaps, now: () => number = Date.now): RevokedTokens {
  const known = createFresh((jti) => maps.get(REVOKED_MAP, jti), MOST, now);
  return {
    async add(jti, exp) {
      await maps.swap(REVOKED_MAP, jti, undefined, '', exp * 1000 + MARGIN);
      known.forget(jti);
    },
    has: async (jti) => (await known.get(jti)) !== undefined,
  };
}
