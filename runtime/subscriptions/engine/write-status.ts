import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { composePut } from '../../core/write/compose-change.js';
import { SUBSCRIPTION } from '../../core/write/content-to-store.js';
import { writeCurrent } from '../../core/write/write-current.js';

/** The states that a server gives. https://hl7.org/fhir/R5/valueset-subscription-status.html */
export type SubscriptionState = 'requested' | 'active' | 'error' | 'off';

/** States in which versions make events. */
export const LIVE: ReadonlySet<unknown> = new Set(['requested', 'active', 'error']);

/**
 * Writes the state of a Subscription as a new version, unless it was changed meanwhile.
 *
 * @param version that the state was decided on
 */
export async function writeStatus(
  id: string,
  version: number,
  status: SubscriptionState,
  services: Services,
): Promise<void> {
  await writeCurrent(services.store, SUBSCRIPTION, id, async (current) => {
    if (current?.version !== version || current.json === undefined) return undefined;
    const before = await readStored(current.json, services);
    return composePut({ ...before, status }, id, current, services, { tags: 'as-sent' });
  });
}
