import { dirname, join } from 'node:path';

import type { RestRecord } from '../audit/audit.js';
import { createAudit, type Audit } from '../audit/create-audit.js';
import { createClients } from '../audit/clients.js';
import { argumentsOf } from './audited-arguments.js';
import { createPatientFinder, type PatientList } from '../audit/patients.js';
import { openFileTarget, ROTATION } from '../audit/sinks/file.js';
import { createLineSink, type LineTarget, type LineTroubles } from '../audit/sinks/lines.js';
import { storeTarget } from '../audit/sinks/store.js';
import { streamTarget } from '../audit/sinks/stream.js';
import { ANONYMOUS, OPEN_ACCESS, type Principal } from '../auth/scopes/principal.js';
import { maskParameter, maskTokens } from '../auth/server/mask-tokens.js';
import type { Config } from '../config/settings.js';
import { isMongoUrl } from '../config/mongo-url.js';
import type { Resource } from '../fhir/resource.js';
import type { Reply } from '../core/call.js';
import type { AnsweredCall, CallAudit, FailedCall } from '../core/call-audit.js';
import { composePut } from '../core/write/compose-change.js';
import type { Services } from '../core/services.js';
import { transactionOf } from '../exchange/transaction-of.js';
import type { Log } from '../observe/log.js';
import { sqlitePathOf } from '../store/sqlite-path.js';
import { VersionConflict } from '../store/store.js';

/** Where the events go. */
type AuditKind = Exclude<Config['audit.sink'], 'off' | undefined>;

/** Services that the audit uses. */
export type AuditServices = Pick<Services, 'store' | 'extract' | 'refit' | 'limits' | 'tables' | 'exchange'>;

/** An audit that runs: of calls, of notifications, and of the endpoints of the authorization server. */
export interface RunningAudit extends CallAudit, Pick<Audit, 'token' | 'notification' | 'close'> {}

/** The type that events have as resources: reading them is no event. */
const EVENT = 'AuditEvent';
const FILE = 'audit.ndjson';

/**
 * The audit that a configuration asks for.
 *
 * @param base URL that the server is known by, once it listens
 * @throws Error where the file cannot be written
 */
export async function prepareAudit(
  kind: AuditKind,
  config: Config,
  services: AuditServices,
  log: Log,
  base: () => string,
): Promise<RunningAudit> {
  const target = await openTarget(kind, config, services);
  const sink = createLineSink(target, tellTroubles(log));
  const patients = createPatientFinder(services.tables);
  const audit = createAudit(sink, base, kind === 'store' ? EVENT : undefined);
  const clientOf = createClients();
  const names = new Map(services.tables.operations.map(({ id, name }) => [id, `$${name}`]));
  const operationOf = ({ operation = '' }: FailedCall): string | undefined => names.get(operation);
  return {
    token: (event) => audit.token(event),
    notification: (record) => audit.notification(record),
    close: () => audit.close(),
    answered: (call, reply) => {
      if (call.interaction !== undefined && UNTOLD.has(call.interaction)) return;
      const { ids, isCut } = patientsOf(call, reply);
      const transaction = transactionIn(call, reply);
      audit.rest(recordOf(call, reply.status, placeOf(call, reply, operationOf(call)), ids, { isCut, transaction }));
    },
    failed: (call, error) => {
      // What is for everybody is no matter of the audit.
      if (call.interaction === 'capabilities') return;
      const [{ detail }] = error.issues;
      const place = { query: requestText(call, operationOf(call)) };
      const transaction = transactionIn(call, undefined);
      audit.rest(recordOf(call, error.status, place, [], { failure: detail ?? error.code, transaction }));
    },
    notes: () => patients.begin(),
  };

  function transactionIn(call: FailedCall, reply: Reply | undefined): string | undefined {
    return transactionOf(call, operationOf(call), reply, services.exchange.actors);
  }

  /** All records are of one form: each read makes one. */
  function recordOf(
    { interaction, principal, trace }: FailedCall,
    status: number,
    place: Place,
    named: readonly string[],
    more: Pick<RestRecord, 'failure' | 'transaction'> & { readonly isCut?: boolean },
  ): RestRecord {
    const { type } = place;
    const { failure, transaction, isCut } = more;
    const longest = isUnknown(principal) ? UNKNOWN_LONGEST : LONGEST;
    // Ids are any text where nothing has to be there.
    const id = place.id === undefined ? undefined : maskTokens(place.id).slice(0, longest.id);
    const versionId = place.versionId?.slice(0, longest.id);
    const query = place.query?.slice(0, longest.query);
    const patients = named.map(maskTokens);
    const client = clientOf(principal ?? ANONYMOUS, trace?.address);
    const requestId = trace?.requestId ?? '';
    const time = Date.now();
    return { client, time, requestId, interaction, transaction, type, id, versionId, status, failure, query, patients, hasMorePatients: isCut }; // prettier-ignore
  }

  function patientsOf(call: AnsweredCall, reply: Reply): PatientList {
    const { interaction = '', type = '', id, member, params = NO_PARAMS, form, body } = call;
    const list = patients.begin();
    if (interaction.startsWith('search-')) {
      if (member !== undefined) list.about(type, id, undefined);
      list.add(patients.ofSearch(member ?? type, form === undefined ? params : new URLSearchParams([...params, ...form]))); // prettier-ignore
    } else if (interaction === 'operation' || interaction.startsWith('history-')) {
      list.about(type, id, undefined);
      // What is written by an operation says itself whom it is about; a document that is sent has patients of its own.
      if (reply.about === undefined) addNamed(call, list);
      addShown(reply, list);
    } else list.about(type, id, reply.json ?? body);
    for (const { type: of, id: one, json } of reply.about ?? []) list.about(of, one, json);
    if (reply.reads !== undefined) list.addAll(reply.reads as PatientList);
    return list;
  }

  /** Adds the patients that the arguments of an operation name. */
  function addNamed({ type, params = NO_PARAMS, body, content }: AnsweredCall, list: PatientList): void {
    const all = new URLSearchParams([...params, ...argumentsOf(body, content)]);
    list.add(patients.ofSearch(type, all));
    for (const value of all.values()) list.value(value);
    if (body !== undefined) list.tree(body);
  }
}

const NO_PARAMS = new URLSearchParams();

/** Adds the patients that an answer shows. */
function addShown({ json, bundle, resource }: Reply, list: PatientList): void {
  if (json !== undefined) list.text(json);
  for (const entry of bundle?.entries ?? []) list.text(entry);
  if (resource !== undefined) list.tree(resource);
}

/** What shows or changes no data itself: the entries of a Bundle have events of their own. */
const UNTOLD: ReadonlySet<string> = new Set(['bundle', 'capabilities']);

function openTarget(kind: AuditKind, config: Config, services: AuditServices): LineTarget | Promise<LineTarget> {
  if (kind === 'stdout') return streamTarget(process.stdout);
  if (kind === 'store') return storeTarget((events) => writeEvents(events, services));
  return openFileTarget(fileBeside(config.store), { ...ROTATION, days: config['audit.days'] });
}

/** Beside the SQLite file, else where that is by default. */
function fileBeside(store: string): string {
  const isFile = !isMongoUrl(store) && !store.includes(':memory:');
  return join(isFile ? dirname(sqlitePathOf(store)) : 'data', FILE);
}

/** One that is there already was written by an attempt whose answer did not come. */
async function writeEvents(events: readonly Resource[], services: AuditServices): Promise<void> {
  const composed = await Promise.all(
    events.map((event) => composePut(event, String(event['id']), undefined, services)),
  );
  const changes = composed.filter((each) => each !== undefined);
  try {
    await services.store.write(changes, []);
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    for (const change of changes) {
      await services.store.write([change], []).catch((again: unknown) => {
        if (!(again instanceof VersionConflict)) throw again;
      });
    }
  }
}

/** An outage is two lines of the log, however long it lasts. */
function tellTroubles(log: Log): LineTroubles {
  return {
    began: (error) => {
      const why = error instanceof Error ? error.message : 'more come than can be written';
      log.defect('none', new Error(`audit: events cannot be written: ${why}`));
    },
    ended: (lost) => log.info(`audit: the trouble with writing events is over; ${lost} are lost`),
  };
}

type Place = Pick<RestRecord, 'type' | 'id' | 'versionId' | 'query'>;

/** What a call was about: the version that was read or written, or the search or operation itself. */
function placeOf(
  call: AnsweredCall,
  { location, contentLocation, versionId }: Reply,
  operation: string | undefined,
): Place {
  const written = location ?? contentLocation;
  const found = written === undefined ? null : /^([^/]+)\/([^/]+)\/_history\//.exec(written);
  const type = found?.[1] ?? call.type;
  const id = found?.[2] ?? (call.interaction?.startsWith('search-') === true ? undefined : call.id);
  if (type === undefined || id === undefined) return { type, query: requestText(call, operation) };
  return { type, id, versionId, ...(operation !== undefined && { query: requestText(call, operation) }) };
}

/** Longest texts of a request that are recorded, in characters. */
const LONGEST = { query: 16_384, id: 16_384 };

/** Bounds of the event of a request without a token: any client can send any number of them. */
const UNKNOWN_LONGEST = { query: 200, id: 64 };

/** Whether a request came from no client, to a server that asks for one. */
function isUnknown({ clientId, access }: Principal = ANONYMOUS): boolean {
  return clientId === '' && access !== OPEN_ACCESS;
}

/** The path below the base and the parameters, those of the body too, without the tokens that a client put there. */
function requestText(
  { type, id, member, params, form, body, content }: FailedCall,
  operation: string | undefined,
): string {
  const path = maskTokens([type, id, member, operation].filter((part) => part !== undefined).join('/'));
  const sent = operation === undefined ? [] : argumentsOf(body, content);
  const masked = [...(params ?? []), ...(form ?? []), ...sent].map(maskParameter);
  const query = new URLSearchParams(masked).toString();
  return (query === '' ? path : `${path}?${query}`).slice(0, LONGEST.query);
}
