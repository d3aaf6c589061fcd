import type { Resource } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';
import { readStored } from '../read-stored.js';
import type { CheckedCall, Services } from '../services.js';
import { liveVersion } from './preconditions.js';

/** The type whose resources ask to be notified of others. https://hl7.org/fhir/R5/subscription.html */
export const SUBSCRIPTION = 'Subscription';

/** The content to store of what a client wants to write. @throws FhirError as `SubscriptionChecks.checkPut` */
export async function contentToStore(
  content: Resource,
  { id, current }: { readonly id: string; readonly current: StoredVersion | undefined },
  call: CheckedCall,
  services: Services,
): Promise<Resource> {
  const { subscriptions, store } = services;
  if (subscriptions?.types.has(content.resourceType) !== true) return content;
  const live = liveVersion(current);
  // The text is empty where a transaction has no room for it.
  const json = live?.json === '' ? (await store.readVersion(live.type, live.id, live.version))?.json : live?.json;
  const before = json === undefined ? undefined : await readStored(json, services);
  return subscriptions.checkPut(content, { id, before, version: current?.version ?? 0 }, call, services);
}
