import { newId } from '../fhir/id.js';
import { formatInstant } from '../fhir/instant.js';
import type { AuditedClient, RestRecord } from './audit.js';
import type { JsonObject } from '../fhir/resource.js';
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
  /** What events of one client and one kind have in common: most of each. Kept as long as the client object is. */
  const frames = new WeakMap<AuditedClient, Map<string, string>>();

  function frameFor({ client, interaction = '', transaction, status }: RestRecord): string {
    let known = frames.get(client);
    if (known === undefined) frames.set(client, (known = new Map()));
    const what = transaction === undefined ? interaction : `${transaction} ${interaction}`;
    const kind = status < 400 ? what : `${DENIED.has(status) ? 'denied' : 'failed'} ${what}`;
    let frame = known.get(kind);
    if (frame === undefined) known.set(kind, (frame = frameOf(client, { interaction, transaction, status }, base())));
    return frame;
  }

  return (record) => {
    const { time, status, failure, patients } = record;
    // Searches find one patient there, where there is one.
    const own = {
      ...{ resourceType: 'AuditEvent', id: newId(time), recorded: formatInstant(time) },
      ...(patients.length === 1 && { patient: { reference: `Patient/${patients[0]}` } }),
      ...(status >= 400 && { outcome: outcomeOf(status, failure) }),
    };
    return `${JSON.stringify(own).slice(0, -1)},${frameFor(record)},"entity":${JSON.stringify(entitiesOf(record))}}`;
  };
}

/** The members of an event from the outcome on, of failures from the category on, up to the entities. */
function frameOf(
  audited: AuditedClient,
  { interaction = '', transaction, status }: Pick<RestRecord, 'interaction' | 'transaction' | 'status'>,
  base: string,
): string {
  const shape = transactionShape(transaction) ?? plainShape(interaction);
  const { action, client, server } = patternOf(shape.interaction);
  const frame = {
    ...(status < 400 && { outcome: outcomeOf(status, undefined) }),
    category: [...(DENIED.has(status) ? [CATEGORIES.alert] : []), ...shape.category],
    code: shape.code,
    action,
    agent: [{ type: client, ...clientPart(audited) }, serverAgent(base, server)],
    source: sourceOf(base),
  };
  return JSON.stringify(frame).slice(1, -1);
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
