import { newId } from '../../fhir/id.js';
import { formatInstant } from '../../fhir/instant.js';
import type { RestRecord } from './audit.js';
import type { JsonObject } from '../../fhir/resource.js';
import { CATEGORIES, ENTITIES, interactionCode, outcomeOf, UNKNOWN_CODE } from './codings.js';
import { clientPart, serverAgent, sourceOf } from './event-parts.js';
import { patternOf } from './patterns.js';
import { roleOf, transactionShape } from './transactions.js';

/** The statuses by which access is denied. */
const DENIED: ReadonlySet<number> = new Set([401, 403]);

/**
 * Tells what happened on FHIR routes, in the R5 shape of the Basic Audit Log Patterns; what was denied is a security alert.
 * https://profiles.ihe.net/ITI/BALP; authorization.md §6.4
 *
 * @param base URL that the server is known by, by the time of the first event
 * @returns writes the AuditEvent as JSON, on one line: each request makes one
 */
export function createRestEvents(base: () => string): (record: RestRecord) => string {
  return (record) => {
    const { client: audited, time, interaction = '', transaction, status, failure, patients } = record;
    const shape = transactionShape(transaction) ?? plainShape(interaction);
    const { action, client, server } = patternOf(shape.interaction);
    return JSON.stringify({
      ...{ resourceType: 'AuditEvent', id: newId(time), recorded: formatInstant(time) },
      // Searches find one patient there, where there is one.
      ...(patients.length === 1 && { patient: { reference: `Patient/${patients[0]}` } }),
      outcome: outcomeOf(status, failure),
      category: [...(DENIED.has(status) ? [CATEGORIES.alert] : []), ...shape.category],
      code: shape.code,
      action,
      agent: [{ type: client, ...clientPart(audited) }, serverAgent(base(), server)],
      source: sourceOf(base()),
      entity: entitiesOf(record),
    });
  };
}

/** The shape of events of the RESTful interface. */
function plainShape(interaction: string): NonNullable<ReturnType<typeof transactionShape>> {
  const code = interaction === '' ? UNKNOWN_CODE : interactionCode(interaction);
  return { interaction, category: [CATEGORIES.rest], code };
}

function entitiesOf(record: RestRecord): readonly JsonObject[] {
  const { type, id, versionId, transaction, query, patients, hasMorePatients, requestId } = record;
  const entities: JsonObject[] = [];
  if (type !== undefined && id !== undefined) {
    const reference = `${type}/${id}${versionId === undefined ? '' : `/_history/${versionId}`}`;
    entities.push({ what: { reference }, role: roleOf(transaction) });
  }
  for (const id of patients) entities.push({ what: { reference: `Patient/${id}` }, role: ENTITIES.patient });
  if (query !== undefined && query !== '') {
    entities.push({ role: ENTITIES.query, query: Buffer.from(query).toString('base64') });
  }
  const more = { type: { text: 'more patients than are named' }, valueBoolean: true };
  entities.push({
    what: { identifier: { value: requestId } },
    role: ENTITIES.request,
    ...(hasMorePatients === true && { detail: [more] }),
  });
  return entities;
}
