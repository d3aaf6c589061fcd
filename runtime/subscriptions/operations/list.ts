import { authorize } from '../../search-execution/authorize/authorize.js';
import { isVisible } from '../../core/access/visibility.js';
import type { Call } from '../../core/call.js';
import type { ListedSubscription } from '../../core/listed-subscription.js';
import type { Services } from '../../core/services.js';
import { SUBSCRIPTION } from '../../core/write/content-to-store.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject } from '../../fhir/resource.js';
import { SubscriptionRows } from '../engine/rows.js';
import { LIVE, writeStatus } from '../engine/write-status.js';
import { readOne, selectSubscriptions } from './status.js';

/** The Subscriptions that the caller may see. @param call of `Subscription/$status` @throws FhirError as that */
export async function listSubscriptions(call: Call, services: Services): Promise<readonly ListedSubscription[]> {
  const { access } = call.principal;
  authorize(call, access, services);
  const rows = new SubscriptionRows(services.store.maps);
  const mayUpdate = access.on(SUBSCRIPTION, 'u') !== 'nothing';
  const found = await selectSubscriptions(new Map(), call, services);
  return Promise.all(
    found.map(async (subscription): Promise<ListedSubscription> => {
      const { id, name, topic, status, channelType } = subscription;
      const channel = String((channelType as JsonObject | undefined)?.['code']);
      const row = await rows.row(String(id));
      const sent = row && (await rows.sent(String(id), row)).value;
      const events = row?.number ?? 0;
      return {
        ...{ id: String(id), name: String(name ?? ''), topic: String(topic), channel, status: String(status) },
        ...{ events, waiting: Math.max(0, events - (sent?.done ?? 0)), errors: sent?.errors ?? [] },
        mayRetry: mayUpdate && isRetried(status, channel),
      };
    }),
  );
}

/**
 * Has the handshake of a Subscription sent again. The client that presses the button does not become its owner.
 *
 * @param call of an update of it
 * @throws FhirError `scope-missing`, `access-denied`; `not-found`, `deleted`; `subscription-refused` where there is no handshake to send
 */
export async function retrySubscription(call: Call, services: Services): Promise<void> {
  authorize(call, call.principal.access, services);
  const id = call.id!;
  const { status, channelType } = await readOne(id, call, services);
  const stored = await services.store.read(SUBSCRIPTION, id);
  const { principal, signal = new AbortController().signal } = call;
  if (stored === undefined || !(await isVisible(stored, 'u', { principal, signal }, services))) {
    throw new FhirError('access-denied', `The token does not give updates of ${SUBSCRIPTION}/${id}`);
  }
  if (!isRetried(status, (channelType as JsonObject | undefined)?.['code'])) {
    throw new FhirError(
      'subscription-refused',
      `${SUBSCRIPTION}/${id} has no handshake to send: it is off, or has another channel`,
    );
  }
  await writeStatus(id, stored.version, 'requested', services);
}

/** Of a web socket the client itself begins. */
function isRetried(status: unknown, channel: unknown): boolean {
  return LIVE.has(status) && channel === 'rest-hook';
}
