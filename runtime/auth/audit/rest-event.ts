import { formatInstant } from '../../fhir/instant.js';
import type { AuditedClient, EventText, RestRecord } from './audit.js';
import type { JsonObject } from '../../fhir/resource.js';
import {
  CATEGORIES,
  ENTITIES,
  IMPORT_CODE,
  interactionCode,
  outcomeOf,
  transactionCode,
  UNKNOWN_CODE,
} from './codings.js';
import { clientPart, serverAgent, sourceOf } from './event-parts.js';
import { patternOf } from './patterns.js';

/** Transactions whose events name what they are about in another role. */
const [IMPORT, RETRIEVAL] = ['ITI-65', 'ITI-68'] as const;

/** The statuses by which access is denied. */
const DENIED: ReadonlySet<number> = new Set([401, 403]);

/**
 * Tells what happened on FHIR routes, in the R5 shape of the Basic Audit Log Patterns; what was denied is a security alert.
 * https://profiles.ihe.net/ITI/BALP; authorization.md §6.4
 *
 * @param base URL that the server is known by, by the time of the first event
 * @returns writes the AuditEvent as JSON, on one line: each request makes one
 */
export function createRestEvents(base: () => string): (record: RestRecord, to: EventText) => void {
  /** What events of one client and one kind have in common: most of each. Kept as long as the client object is. */
  const frames = new WeakMap<AuditedClient, Map<string, Uint8Array>>();

  function frameFor({ client, interaction = '', transaction, status }: RestRecord): Uint8Array {
    let known = frames.get(client);
    if (known === undefined) frames.set(client, (known = new Map()));
    const what = transaction === undefined ? interaction : `${transaction} ${interaction}`;
    const kind = status < 400 ? what : `${DENIED.has(status) ? 'denied' : 'failed'} ${what}`;
    let frame = known.get(kind);
    if (frame === undefined)
      known.set(kind, (frame = encode(frameOf(client, { interaction, transaction, status }, base()))));
    return frame;
  }

  return (record, to) => {
    to.bytes(BEGIN);
    to.newId(record.time);
    to.bytes(RECORDED);
    to.quoted(formatInstant(record.time));
    writePatient(record, to);
    if (record.status >= 400) to.text(`,"outcome":${JSON.stringify(outcomeOf(record.status, record.failure))}`);
    to.bytes(frameFor(record));
    writeEntities(record, to);
  };
}

const encode = (text: string): Uint8Array => Buffer.from(text);

const BEGIN = encode('{"resourceType":"AuditEvent","id":"');
const RECORDED = encode('","recorded":"');
const PATIENT = encode('","patient":{"reference":"Patient/');
const PATIENT_END = encode('"}');
const QUOTE = encode('"');

/** Ends the string before it. Searches have a patient there, where there is one. */
function writePatient({ patients }: RestRecord, to: EventText): void {
  if (patients.length !== 1) return to.bytes(QUOTE);
  to.bytes(PATIENT);
  to.quoted(patients[0]!);
  to.bytes(PATIENT_END);
}

/** From the outcome, of failures from the category, up to the entities. */
function frameOf(
  audited: AuditedClient,
  { interaction = '', transaction, status }: Pick<RestRecord, 'interaction' | 'transaction' | 'status'>,
  base: string,
): string {
  const { action, client, server } = patternOf(interaction);
  const frame = {
    ...(status < 400 && { outcome: outcomeOf(status, undefined) }),
    category: [...(DENIED.has(status) ? [CATEGORIES.alert] : []), ...categoriesOf(interaction, transaction)],
    code: codeOf(interaction, transaction),
    action,
    agent: [{ type: client, ...clientPart(audited) }, serverAgent(base, server)],
    source: sourceOf(base),
    entity: [],
  };
  return `,${JSON.stringify(frame).slice('{'.length, -']}'.length)}`;
}

/** The profiles of a transaction of IHE have the interaction as a category. https://profiles.ihe.net/ITI/MHD */
function categoriesOf(interaction: string, transaction: string | undefined): readonly JsonObject[] {
  if (transaction === undefined) return [CATEGORIES.rest];
  if (transaction === IMPORT) return [transactionCode(transaction)];
  return [interactionCode(interaction === 'operation' ? 'search-type' : interaction), transactionCode(transaction)];
}

function codeOf(interaction: string, transaction: string | undefined): JsonObject {
  if (transaction !== undefined) return transaction === IMPORT ? IMPORT_CODE : CATEGORIES.rest;
  return interaction === '' ? UNKNOWN_CODE : interactionCode(interaction);
}

const REFERENCE = encode('{"what":{"reference":"');
const PATIENT_REFERENCE = encode('{"what":{"reference":"Patient/');
const REQUEST = encode('{"what":{"identifier":{"value":"');
const QUERY = encode(`{"role":${JSON.stringify(ENTITIES.query)},"query":"`);
const QUERY_END = encode('"},');
const IN_ROLE = {
  job: encode(`"},"role":${JSON.stringify(ENTITIES.job)}},`),
  report: encode(`"},"role":${JSON.stringify(ENTITIES.report)}},`),
  resource: encode(`"},"role":${JSON.stringify(ENTITIES.resource)}},`),
  patient: encode(`"},"role":${JSON.stringify(ENTITIES.patient)}},`),
  request: encode(`"}},"role":${JSON.stringify(ENTITIES.request)}}]}`),
  requestOfMore: encode(
    `"}},"role":${JSON.stringify(ENTITIES.request)},"detail":[{"type":{"text":"more patients than are named"},"valueBoolean":true}]}]}`,
  ),
} as const;

/** And the end of the event. */
function writeEntities(record: RestRecord, to: EventText): void {
  const { type, id, versionId, transaction, query, patients, hasMorePatients, requestId } = record;
  if (type !== undefined && id !== undefined) {
    to.bytes(REFERENCE);
    to.quoted(type);
    to.quoted('/');
    to.quoted(id);
    if (versionId !== undefined) {
      to.quoted('/_history/');
      to.quoted(versionId);
    }
    to.bytes(transaction === RETRIEVAL ? IN_ROLE.report : transaction === IMPORT ? IN_ROLE.job : IN_ROLE.resource);
  }
  for (const patient of patients) {
    to.bytes(PATIENT_REFERENCE);
    to.quoted(patient);
    to.bytes(IN_ROLE.patient);
  }
  if (query !== undefined && query !== '') {
    to.bytes(QUERY);
    to.text(Buffer.from(query).toString('base64'));
    to.bytes(QUERY_END);
  }
  to.bytes(REQUEST);
  to.quoted(requestId);
  to.bytes(hasMorePatients === true ? IN_ROLE.requestOfMore : IN_ROLE.request);
}
