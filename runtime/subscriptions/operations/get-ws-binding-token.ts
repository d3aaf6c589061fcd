import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { socketUrl } from '../../core/socket-url.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import { SubscriptionRows } from '../engine/rows.js';
import { giveToken } from '../socket/binding-token.js';
import { readArguments, valuesOf } from '../../operations/common/arguments.js';
import { readOne, selectSubscriptions } from './status.js';

/** Subscriptions of one token. */
const MOST = 100;

/** At an instance it says nothing. */
const PARAMETERS = [{ name: 'id', use: 'in', min: 0, max: '*', type: 'id' } as const];

/**
 * `[base]/Subscription/$get-ws-binding-token` and `[base]/Subscription/[id]/$get-ws-binding-token`: a token by which a web socket gets
 * notifications of Subscriptions of the caller; without ids, of all of them that have that channel.
 * https://hl7.org/fhir/R5/subscription-operation-get-ws-binding-token.html
 *
 * @throws FhirError `not-found`, `deleted`; `subscription-refused` for another channel; `access-denied` for what another client has written
 */
export async function bindingToken(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services, PARAMETERS);
  const named = new Set(call.id === undefined ? valuesOf(found, 'id').map(String) : [call.id]);
  if (named.size > MOST) throw new FhirError('too-costly', `One token is for ${MOST} Subscriptions at most`);
  const rows = new SubscriptionRows(services.store.maps);
  const { clientId, access, scope, registration } = call.principal;
  const isOwn = async (subscription: Resource): Promise<boolean> =>
    (await rows.ownerOf(subscription))?.clientId === clientId;
  const ids: string[] = [];
  for (const id of named) {
    const subscription = await readOne(id, call, services);
    if (!isForSockets(subscription)) {
      throw new FhirError('subscription-refused', `Subscription/${id} has no channelType websocket`);
    }
    if (!(await isOwn(subscription))) {
      throw new FhirError('access-denied', `Only the client that wrote Subscription/${id} last gets its notifications`);
    }
    ids.push(id);
  }
  if (named.size === 0) {
    for (const subscription of await selectSubscriptions(found, call, services)) {
      if (isForSockets(subscription) && (await isOwn(subscription))) ids.push(String(subscription['id']));
    }
    if (ids.length === 0) {
      throw new FhirError('subscription-refused', 'The client has no Subscription whose channelType is websocket');
    }
    if (ids.length > MOST)
      throw new FhirError('too-costly', `One token is for ${MOST} Subscriptions at most; name them by id`);
  }
  const { token, expires } = await giveToken(services.store.maps, {
    clientId,
    ...(access !== OPEN_ACCESS && { scope }),
    ...(registration !== undefined && { registration }),
    ids,
    granted: Date.now(),
  });
  return {
    status: 200,
    resource: {
      resourceType: 'Parameters',
      parameter: [
        { name: 'token', valueString: token },
        { name: 'expiration', valueDateTime: formatInstant(expires) },
        ...ids.map((id) => ({ name: 'subscription', valueString: id })),
        { name: 'websocket-url', valueUrl: socketUrl(call.base) },
      ],
    },
  };
}

function isForSockets({ channelType }: Resource): boolean {
  return (channelType as JsonObject | undefined)?.['code'] === 'websocket';
}
