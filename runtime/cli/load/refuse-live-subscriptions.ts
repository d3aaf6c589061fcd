import type { SubscriptionChecks } from '../../core/services.js';
import { SUBSCRIPTION } from '../../core/write/content-to-store.js';
import { refuse } from '../../core/write/validate-resource.js';
import type { Resource } from '../../fhir/resource.js';
import { isLive } from '../../subscriptions/check/status.js';
import { Faults, textOf } from '../../subscriptions/faults.js';

/**
 * Refuses a Subscription that would have to fire: whether it can, and whose rights it has, is known to a server only.
 *
 * @throws FhirError `subscription-refused`
 */
export function refuseLive(resource: Resource): void {
  if (resource.resourceType !== SUBSCRIPTION || !isLive(resource)) return;
  const faults = new Faults(SUBSCRIPTION, 'subscription-refused');
  const text = `is ${textOf(resource['status'])}, but what is put straight into a store never fires: load it through a server (--url or --running), or with status off`;
  faults.add('status', text, 'not-supported');
  refuse(faults.issues);
}

/** Checks of Bundles that are executed straight on a store. */
export const WITHOUT_SERVER: SubscriptionChecks = {
  types: new Set([SUBSCRIPTION]),
  checkPut(content) {
    refuseLive(content);
    return Promise.resolve(content);
  },
  checkDelete: () => Promise.resolve(),
};
