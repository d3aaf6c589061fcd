import { newId } from '../fhir/id.js';
import { formatInstant } from '../fhir/instant.js';
import type { AuditEvent, NotificationRecord } from './audit.js';
import { AGENTS, CATEGORIES, ENTITIES, EXPORT_CODE, outcomeOf } from './codings.js';
import { clientPart, serverAgent, sourceOf } from './event-parts.js';

/**
 * Returns the AuditEvent of a notification: what left the server, for which client. https://hl7.org/fhir/R5/subscriptions.html#security
 *
 * @param base URL that the server is known by
 */
export function notificationEvent(record: NotificationRecord, base: string): AuditEvent {
  const { client, time, subscription, first, last, foci, status, failure } = record;
  const numbers = {
    type: { text: 'numbers of the events' },
    valueString: first === last ? `${first}` : `${first}-${last}`,
  };
  // A receiver that was not reached failed as one that answers 5xx.
  const outcome = failure === undefined ? outcomeOf(200, undefined) : outcomeOf(status >= 400 ? status : 500, failure);
  return {
    resourceType: 'AuditEvent',
    id: newId(time),
    category: [CATEGORIES.rest],
    code: EXPORT_CODE,
    action: 'R',
    recorded: formatInstant(time),
    outcome,
    agent: [{ type: AGENTS.destination, ...clientPart(client) }, serverAgent(base, AGENTS.source)],
    source: sourceOf(base),
    entity: [
      { what: { reference: `Subscription/${subscription}` }, role: ENTITIES.job, detail: [numbers] },
      ...foci.map(({ type, id, version }) => ({
        what: { reference: `${type}/${id}/_history/${version}` },
        role: type === 'Patient' ? ENTITIES.patient : ENTITIES.resource,
      })),
    ],
  };
}
