import { createHash } from 'node:crypto';

import type { AtomicMaps } from '../../store/store.js';

/** The map in the store that holds the assertions that were used. */
export const REPLAY_MAP = 'auth-replay';

/** Remembers assertions that were used, for all processes and over restarts. */
export interface ReplayGuard {
  /**
   * To be asked once the signature has been verified, so that no other client can use up a client's identifiers.
   *
   * @param until when the assertion is not accepted any more, milliseconds since the epoch
   * @returns whether this is the first use; of many at once one gets it
   */
  use(iss: string, jti: string, until: number): Promise<boolean>;
}

/** Clocks of processes and of the store may differ by so much without an assertion being good twice. In milliseconds. */
const MARGIN = 10_000;

/** The guard in a store. */
export function createReplayGuard(maps: AtomicMaps): ReplayGuard {
  return {
    async use(iss, jti, until) {
      // A hash, so that keys are short and say nothing.
      const key = createHash('sha256')
        .update(JSON.stringify([iss, jti]))
        .digest('base64url');
      return await maps.swap(REPLAY_MAP, key, undefined, '', Math.ceil(until) + MARGIN);
    },
  };
}
