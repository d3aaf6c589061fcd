import { newId } from '../../fhir/id.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { RestRecord } from './audit.js';
import { AGENTS, CATEGORIES, ENTITIES, interactionCode, outcomeOf, UNKNOWN_CODE } from './codings.js';
import { clientPart, serverAgent, sourceOf } from './event-parts.js';

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

/** What events of one kind have in common, as JSON: most of each. */
interface Frame {
  readonly what: string;
  readonly clientType: string;
  readonly server: string;
}

/**
 * Tells what happened on FHIR routes, in the R5 shape of the Basic Audit Log Patterns; what was denied is a security alert.
 * https://profiles.ihe.net/ITI/BALP; authorization.md §6.4
 *
 * @param base URL that the server is known by, by the time of the first event
 * @returns the AuditEvent as JSON, on one line: each request makes one, and waits for it
 */
export function createRestEvents(base: () => string): (record: RestRecord) => string {
  const frames = new Map<string, Frame>();
  return (record) => {
    const { interaction, status, failure, time, client } = record;
    const isDenied = DENIED.has(status);
    const kind = `${interaction ?? ''} ${isDenied}`;
    let frame = frames.get(kind);
    if (frame === undefined) frames.set(kind, (frame = frameOf(interaction, isDenied, base())));
    return (
      `{"resourceType":"AuditEvent","id":"${newId()}",${frame.what},"recorded":"${new Date(time).toISOString()}",` +
      patientOf(record) +
      `"outcome":${status < 400 ? SUCCESS : JSON.stringify(outcomeOf(status, failure))},` +
      `"agent":[{"type":${frame.clientType},${JSON.stringify(clientPart(client)).slice(1)},${frame.server},` +
      `"entity":[${entitiesOf(record)}]}`
    );
  };
}

/** For searches, where there is one. */
function patientOf({ patients }: RestRecord): string {
  const [only] = patients;
  return patients.length === 1 ? `"patient":{"reference":${JSON.stringify(`Patient/${only}`)}},` : '';
}

const SUCCESS = JSON.stringify(outcomeOf(200, undefined));

function frameOf(interaction: string | undefined, isDenied: boolean, base: string): Frame {
  const { action, client, server } = PATTERNS[interaction ?? ''] ?? SEARCH;
  const category = isDenied ? [CATEGORIES.alert, CATEGORIES.rest] : [CATEGORIES.rest];
  const code = interaction === undefined ? UNKNOWN_CODE : interactionCode(interaction);
  return {
    what: JSON.stringify({ category, code, action }).slice(1, -1),
    clientType: JSON.stringify(client),
    server: `${JSON.stringify(serverAgent(base, server))}],"source":${JSON.stringify(sourceOf(base))}`,
  };
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
    const reference = versionId === undefined ? `${type}/${id}` : `${type}/${id}/_history/${versionId}`;
    text += `{"what":{"reference":${JSON.stringify(reference)}},"role":${ROLES.resource}},`;
  }
  for (const patient of patients) {
    text += `{"what":{"reference":${JSON.stringify(`Patient/${patient}`)}},"role":${ROLES.patient}},`;
  }
  if (query !== undefined && query !== '') {
    text += `{"role":${ROLES.query},"query":"${Buffer.from(query).toString('base64')}"},`;
  }
  return `${text}{"what":{"identifier":{"value":${JSON.stringify(requestId)}}},"role":${ROLES.request}}`;
}
