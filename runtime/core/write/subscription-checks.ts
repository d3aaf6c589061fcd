import type { Resource } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';
import type { Call } from '../call.js';
import { readStored } from '../read-stored.js';
import type { Services } from '../services.js';
import { liveVersion } from './preconditions.js';

/** The parts of a call that checks of topics and Subscriptions read. */
export type CheckedCall = Pick<Call, 'principal' | 'signal'> & { readonly prefer?: Call['prefer'] };

/** What is written: its id, and its content before; undefined: nothing was current. */
export interface CheckedWrite {
  readonly id: string;
  readonly before: Resource | undefined;
}

/** Checks the writes of topics and Subscriptions, so that what is accepted fires. https://hl7.org/fhir/R5/subscriptions.html */
export interface SubscriptionChecks {
  /** Types whose writes are checked. */
  readonly types: ReadonlySet<string>;
  /**
   * @returns the content to store: the status of a Subscription may be another
   * @throws FhirError `topic-refused`, `topic-in-use`, `subscription-refused`, `subscriptions-too-many`, `scope-missing`
   */
  checkPut(content: Resource, write: CheckedWrite, call: CheckedCall, services: Services): Promise<Resource>;
  /** @throws FhirError `topic-in-use` */
  checkDelete(type: string, id: string): Promise<void>;
}

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
  return subscriptions.checkPut(content, { id, before }, call, services);
}
