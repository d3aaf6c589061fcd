import { newId } from '../../fhir/id.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { AuditEvent, RestRecord } from './audit.js';
import { AGENTS, CATEGORIES, ENTITIES, interactionCode, outcomeOf, UNKNOWN_CODE } from './codings.js';
import { clientAgent, serverAgent, sourceOf } from './event-parts.js';

/** How BALP has the interactions: what is done, and what parts client and server take in it. */
interface Pattern {
  readonly action: 'C' | 'R' | 'U' | 'D' | 'E';
  readonly client: JsonObject;
  readonly server: JsonObject;
}

const { application, source, destination, custodian } = AGENTS;
const READ: Pattern = { action: 'R', client: destination, server: source };
const SEARCH: Pattern = { action: 'E', client: source, server: destination };
const CREATE: Pattern = { action: 'C', client: source, server: destination };
const UPDATE: Pattern = { action: 'U', client: source, server: destination };
const DELETE: Pattern = { action: 'D', client: application, server: custodian };

const PATTERNS: Readonly<Record<string, Pattern>> = {
  read: READ,
  vread: READ,
  'history-instance': READ,
  'history-type': READ,
  'history-system': READ,
  create: CREATE,
  update: UPDATE,
  'conditional-update': UPDATE,
  patch: UPDATE,
  'conditional-patch': UPDATE,
  delete: DELETE,
  'conditional-delete': DELETE,
};

/** The statuses by which access is denied. */
const DENIED: ReadonlySet<number> = new Set([401, 403]);

/**
 * What happened on a FHIR route, in the R5 shape of the Basic Audit Log Patterns; what was denied is a security alert.
 * https://profiles.ihe.net/ITI/BALP; authorization.md §6.4
 *
 * @param base URL that the server is known by
 */
export function restEvent(record: RestRecord, base: string): AuditEvent {
  const { interaction, status, failure, time, client } = record;
  const pattern = PATTERNS[interaction ?? ''] ?? SEARCH;
  return {
    resourceType: 'AuditEvent',
    id: newId(),
    category: DENIED.has(status) ? [CATEGORIES.alert, CATEGORIES.rest] : [CATEGORIES.rest],
    code: interaction === undefined ? UNKNOWN_CODE : interactionCode(interaction),
    action: pattern.action,
    recorded: new Date(time).toISOString(),
    outcome: outcomeOf(status, failure),
    agent: [clientAgent(client, pattern.client), serverAgent(base, pattern.server)],
    source: sourceOf(base),
    entity: entitiesOf(record),
  };
}

function entitiesOf({ type, id, versionId, query, patients, requestId }: RestRecord): JsonObject[] {
  const entities: JsonObject[] = [];
  if (type !== undefined && id !== undefined) {
    const reference = versionId === undefined ? `${type}/${id}` : `${type}/${id}/_history/${versionId}`;
    entities.push({ what: { reference }, role: ENTITIES.resource });
  }
  for (const patient of patients) {
    entities.push({ what: { reference: `Patient/${patient}` }, role: ENTITIES.patient });
  }
  if (query !== undefined) {
    entities.push({ role: ENTITIES.query, query: Buffer.from(query).toString('base64') });
  }
  entities.push({ what: { identifier: { value: requestId } }, role: ENTITIES.request });
  return entities;
}
