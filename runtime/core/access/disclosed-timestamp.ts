import type { Access } from '../../auth/scopes/access.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';

/** Rounding step, in milliseconds, of timestamps shown to clients with a restricted view. */
const GRID = 5000;

const whole = new WeakMap<Access, boolean>();

/**
 * The instant up to which an answer is complete, as it is shown to a client: a store may take that of its last write, which need not
 * be of what the client sees. An earlier one misses nothing, but shows things again: hence none before what the client
 * knows already.
 *
 * @param complete milliseconds since the epoch
 * @param known what it asked with, and the newest that it is shown
 */
export function disclosedTimestamp(
  complete: number,
  access: Access,
  resourceTypes: readonly string[],
  known: { readonly since?: number | undefined; readonly shown?: number | undefined } = {},
): number {
  if (seesAll(access, resourceTypes)) return complete;
  const { since = 0, shown = 0 } = known;
  // To ask again with the same misses nothing, whatever it is; but no client is to be sent into the future.
  return Math.max(complete - (complete % GRID), since <= Date.now() ? since : 0, Math.min(shown + 1, complete));
}

function seesAll(access: Access, resourceTypes: readonly string[]): boolean {
  if (access === OPEN_ACCESS) return true;
  let sees = whole.get(access);
  if (sees === undefined) {
    sees = resourceTypes.every((type) => access.isWhole(type, 'rs'));
    whole.set(access, sees);
  }
  return sees;
}
