import { newId } from '../fhir/id.js';
import type { JsonObject } from '../fhir/resource.js';
import type { AuthEvent } from '../auth/server/events.js';
import type { AuditEvent } from './audit.js';
import { AGENTS, CATEGORIES, ENTITIES, outcomeOf, TOKEN_CODE } from './codings.js';
import { clientPart, serverAgent, sourceOf } from './event-parts.js';

/** Longest text that a request claims and that is recorded where it is not known who sent it, in characters. */
const LONGEST_UNVERIFIED = 200;

/**
 * Returns the AuditEvent of a request to the authorization server (BALP IHE.IUA.71); undefined: the audit does not record it.
 * Introspection is not recorded: it changes nothing, and some servers ask with each request. Refusals after too many failures
 * are counted instead.
 *
 * @param base URL that the server is known by
 */
export function tokenEvent(event: AuthEvent, base: string): AuditEvent | undefined {
  const { endpoint, refusal, time, status, address, jti, isVerified } = event;
  if (endpoint === 'introspection' || refusal === 'rate') return undefined;
  // Anybody can claim anything, any number of times.
  const most = isVerified ? Infinity : LONGEST_UNVERIFIED;
  const [clientId, request] = [event.clientId, event.request].map((text) => text?.slice(0, most));
  const client = { ...(clientId !== undefined && { clientId }), address };
  const entity: JsonObject[] = [];
  if (request !== undefined) {
    const query = Buffer.from(`POST /auth/${endpoint === 'token' ? 'token' : 'revoke'} ${request}`).toString('base64');
    entity.push({ role: ENTITIES.query, query });
  }
  if (jti !== undefined) entity.push({ what: { identifier: { value: jti } }, role: ENTITIES.security });
  return {
    resourceType: 'AuditEvent',
    id: newId(),
    category: [CATEGORIES.authentication],
    code: TOKEN_CODE,
    action: 'E',
    recorded: new Date(time).toISOString(),
    outcome: outcomeOf(status, refusal),
    agent: [{ type: AGENTS.application, ...clientPart(client) }, serverAgent(base, AGENTS.destination)],
    source: sourceOf(base),
    ...(entity.length > 0 && { entity }),
  };
}
