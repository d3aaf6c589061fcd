import { newId } from '../../fhir/id.js';
import { formatInstant } from '../../fhir/instant.js';
import type { AuditedClient, RestRecord } from './audit.js';
import { CATEGORIES, ENTITIES, interactionCode, outcomeOf, UNKNOWN_CODE } from './codings.js';
import { clientPart, serverAgent, sourceOf } from './event-parts.js';
import { patternOf } from './patterns.js';

/** The statuses by which access is denied. */
const DENIED: ReadonlySet<number> = new Set([401, 403]);

/**
 * Tells what happened on FHIR routes, in the R5 shape of the Basic Audit Log Patterns; what was denied is a security alert.
 * https://profiles.ihe.net/ITI/BALP; authorization.md §6.4
 *
 * @param base URL that the server is known by, by the time of the first event
 * @returns the AuditEvent as JSON, on one line: each request makes one, and waits for it
 */
export function createRestEvents(base: () => string): (record: RestRecord) => string {
  /** What events of one client and one kind have in common: most of each. As long as somebody has the client. */
  const frames = new WeakMap<AuditedClient, Map<string, string>>();

  function frameFor({ client, interaction = '', status }: RestRecord): string {
    let known = frames.get(client);
    if (known === undefined) frames.set(client, (known = new Map()));
    const isDenied = DENIED.has(status);
    const kind = isDenied ? `denied ${interaction}` : interaction;
    let frame = known.get(kind);
    if (frame === undefined) known.set(kind, (frame = frameOf(client, interaction, isDenied, base())));
    return frame;
  }

  return (record) =>
    `{"resourceType":"AuditEvent","id":"${newId()}","recorded":"${formatInstant(record.time)}",${patientOf(record)}` +
    `${outcomeText(record)}${frameFor(record)}${entitiesOf(record)}]}`;
}

/** For searches, where there is one. */
function patientOf({ patients }: RestRecord): string {
  return patients.length === 1 ? `"patient":{"reference":"Patient/${inQuotes(patients[0]!)}"},` : '';
}

const SUCCESS = JSON.stringify(outcomeOf(200, undefined));

function outcomeText({ status, failure }: RestRecord): string {
  return `"outcome":${status < 400 ? SUCCESS : JSON.stringify(outcomeOf(status, failure))},`;
}

/** From the category up to the entities. */
function frameOf(told: AuditedClient, interaction: string, isDenied: boolean, base: string): string {
  const { action, client, server } = patternOf(interaction);
  const frame = {
    category: isDenied ? [CATEGORIES.alert, CATEGORIES.rest] : [CATEGORIES.rest],
    code: interaction === '' ? UNKNOWN_CODE : interactionCode(interaction),
    action,
    agent: [{ type: client, ...clientPart(told) }, serverAgent(base, server)],
    source: sourceOf(base),
    entity: [],
  };
  return JSON.stringify(frame).slice('{'.length, -']}'.length);
}

const ROLES = {
  patient: JSON.stringify(ENTITIES.patient),
  resource: JSON.stringify(ENTITIES.resource),
  query: JSON.stringify(ENTITIES.query),
  request: JSON.stringify(ENTITIES.request),
} as const;

function entitiesOf({ type, id, versionId, query, patients, requestId }: RestRecord): string {
  let text = '';
  if (type !== undefined && id !== undefined) {
    const version = versionId === undefined ? '' : `/_history/${inQuotes(versionId)}`;
    text = `{"what":{"reference":"${inQuotes(type)}/${inQuotes(id)}${version}"},"role":${ROLES.resource}},`;
  }
  for (const patient of patients) {
    text += `{"what":{"reference":"Patient/${inQuotes(patient)}"},"role":${ROLES.patient}},`;
  }
  if (query !== undefined && query !== '') {
    text += `{"role":${ROLES.query},"query":"${Buffer.from(query).toString('base64')}"},`;
  }
  return `${text}{"what":{"identifier":{"value":"${inQuotes(requestId)}"}},"role":${ROLES.request}}`;
}

const PLAIN = /^[\w.-]*$/;

/** A text as it stands in a string of JSON. */
function inQuotes(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1);
}
