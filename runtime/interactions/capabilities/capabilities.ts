import { PRODUCT } from '../../fhir/product.js';
import { createHash } from 'node:crypto';

import type { Interaction, RouteRow } from '../../contract/index.js';
import { FhirError } from '../../fhir/errors.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { memoizeWeak } from '../../fhir/memory/memoize.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import { MEDIA_TYPES, PAGE_NAMES } from '../../format/negotiate.js';
import { writeJson } from '../../format/write-json.js';
import { CAPABILITY_PARAMETERS } from '../../search/control-parameters.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import type { Call, Reply } from '../../core/call.js';
import { describeCommon, describeControls, describeSearch } from './describe-search.js';
import { describeOperations, isOfType } from './describe-operations.js';
import { describeInteraction } from './describe-interaction.js';
import { describeStaleIndex } from '../../core/definitions/index-status.js';
import { checkParameters, singleParameter } from '../../core/parameters.js';
import { isKnown } from '../../core/write/preconditions.js';
import { includableOf } from '../../search-execution/parse/read-include.js';
import { BEGUN, composeTerminology } from './terminology-capabilities.js';
import { patchTypes } from '../write/sent-patch.js';
import type { ActorClaim } from '../../core/actors.js';
import type { Services } from '../../core/services.js';
import { socketUrl } from '../../core/socket-url.js';
import { readView, viewJson, viewParameters } from '../../core/view.js';

/** Interactions that a type can claim. https://hl7.org/fhir/R5/valueset-type-restful-interaction.html */
const TYPE_INTERACTIONS: readonly Interaction[] = [
  'read',
  'vread',
  'update',
  'patch',
  'delete',
  'history-instance',
  'history-type',
  'create',
  'search-type',
];

/** Interactions that the server as a whole can claim. https://hl7.org/fhir/R5/valueset-system-restful-interaction.html */
const SYSTEM_INTERACTIONS: readonly Interaction[] = ['search-system', 'history-system'];

/** What is claimed where Bundles are executed. */
const BUNDLES = ['transaction', 'batch'] as const;

/** Values of `mode`. https://hl7.org/fhir/R5/http.html#capabilities */
const MODES = ['full', 'normative', 'terminology'] as const;

/**
 * References that are stored as they are. `enforced` is not claimed, whatever the configuration says: what was written before that may lead
 * to nothing. https://hl7.org/fhir/R5/valueset-reference-handling-policy.html
 */
const REFERENCE_POLICY = ['literal', 'logical'] as const;

const SECURITY_SERVICE = 'http://terminology.hl7.org/CodeSystem/restful-security-service';

/** How access is given: SMART, and IHE IUA. */
const SECURITY_SERVICES = [
  [SECURITY_SERVICE, 'SMART-on-FHIR'],
  ['http://profiles.ihe.net/fhir/ihe.securityTypes/CodeSystem/securityTypes', 'IUA'],
] as const;

/** What is certain where tokens come from another server. */
const EXTERNAL_SERVICES = [[SECURITY_SERVICE, 'OAuth']] as const;

/** What was composed. It changes only where index entries become current while the server runs, and with the base where that is not configured. */
interface Composed {
  readonly currency: string | undefined;
  /** The JSON of the statement, with `BASE` in place of the base. */
  readonly text: string;
  readonly base: string;
  readonly statement: Reply;
  /** Views of it, by what is asked for. */
  readonly views: Map<string, Promise<Reply>>;
}

/** Stands for the base in what was composed: clients may name the server in many ways, and to compose takes a while. */
const BASE = String.fromCharCode(1);

/** Stands for the URL of web sockets. */
const SOCKET = String.fromCharCode(2);

/** Writes a text as JSON has it inside of quotes. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Views of a statement that are kept: of those that no token is needed for there may be as many as clients can think of. */
const MOST_VIEWS = 16;

const cache = new WeakMap<Services, Composed>();

/**
 * `GET [base]/metadata`. All that is claimed is claimed of every type alike, so `mode=normative` has nothing to leave
 * out. `mode=terminology` describes the terminology operations.
 * https://hl7.org/fhir/R5/http.html#capabilities
 */
export async function capabilities(call: Call, services: Services): Promise<Reply> {
  checkParameters(call, [...Object.keys(CAPABILITY_PARAMETERS), ...viewParameters(services)]);
  const asked = singleParameter(call, 'mode') ?? 'full';
  const mode = MODES.find((each) => each === asked);
  if (mode === undefined) {
    throw new FhirError('parameter-invalid', `mode is ${MODES.join(', ')}, not ${JSON.stringify(asked.slice(0, 32))}`);
  }
  const currency = describeStaleIndex(await services.indexStatus.notCurrent());
  let replies = cache.get(services);
  const { base } = call;
  if (replies === undefined || replies.currency !== currency) {
    const text = writeJson(composeStatement(services, currency, BASE));
    replies = { ...composedFor(base, text), currency };
    cache.set(services, replies);
  } else if (replies.base !== base) {
    replies = { ...composedFor(base, replies.text), currency };
    cache.set(services, replies);
  }
  const reply = mode === 'terminology' ? terminologyReply(services) : replies.statement;
  const { ifNoneMatch } = call.conditions;
  const { versionId = '', json } = reply;
  const view = readView(call, services);
  if (ifNoneMatch !== undefined && isKnown(ifNoneMatch, versionId)) return { status: 304, versionId };
  if (view === undefined || json === undefined) return reply;
  const { views } = replies;
  const key = JSON.stringify([mode, view.summary, [...new Set(view.elements)].sort()]);
  const known = views.get(key);
  if (known !== undefined) return known;
  const make = async (): Promise<Reply> => {
    await turn();
    return { ...reply, json: viewJson(json, view, services) };
  };
  const made = make();
  const [oldest] = views.keys();
  if (views.size >= MOST_VIEWS && oldest !== undefined) views.delete(oldest);
  views.set(key, made);
  made.catch(() => views.delete(key));
  return made;
}

/** Views are made one at a time, with a turn for others between them. */
const turn = yieldToEventLoop();

const terminologyReply = memoizeWeak((services: Services) => lastingReply(writeJson(composeTerminology(services))));

function composedFor(base: string, text: string): Omit<Composed, 'currency'> {
  const json = text
    .replaceAll(inJson(BASE), () => inJson(base))
    .replaceAll(inJson(SOCKET), () => inJson(socketUrl(base)));
  return { text, base, statement: lastingReply(json), views: new Map() };
}

function lastingReply(json: string): Reply {
  const versionId = createHash('sha256').update(json).digest('base64url').slice(0, 22);
  return { status: 200, json, versionId, lasting: true };
}

/**
 * The CapabilityStatement: types from the tables, interactions that have a route and are wired, and nothing else.
 * https://hl7.org/fhir/R5/capabilitystatement.html
 */
function composeStatement(services: Services, currency: string | undefined, base: string): Resource {
  const { tables, wired, formats, baseUrl } = services;
  const routed = new Set(tables.routes.filter(({ interaction }) => wired.has(interaction)).map(routeKey));
  const operations = tables.operations.filter(({ id }) => services.operations.has(id));
  const includable = includableOf(searchDefinitions(tables));
  const claims = new Map(tables.capabilities.map((row) => [row.type, row]));
  const added = profilesOfGuides(services);
  const controls = describeControls('type', services);
  const resources = tables.resourceTypes.map((type): JsonObject => {
    const { profile, supportedProfiles = [] } = claims.get(type) ?? {};
    const supported = [...new Set([...supportedProfiles, ...(added.get(type) ?? [])])];
    const codes = TYPE_INTERACTIONS.filter((code) => routed.has(`${code} [type]`) || routed.has(`${code} ${type}`));
    return {
      type,
      ...(profile === undefined ? {} : { profile }),
      ...(supported.length > 0 && { supportedProfile: supported }),
      ...(codes.length > 0 ? { interaction: codes.map((code) => describeInteraction(code, services)) } : {}),
      versioning: codes.includes('update') ? 'versioned-update' : 'versioned',
      ...(codes.includes('vread') ? { readHistory: true } : {}),
      ...(codes.includes('read') ? { conditionalRead: 'full-support' } : {}),
      ...(codes.includes('update') ? { updateCreate: true } : {}),
      referencePolicy: [...REFERENCE_POLICY],
      ...describeConditions(codes, routed, services),
      ...(codes.includes('search-type') ? withControls(describeSearch(type, services, includable), controls) : {}),
      ...describeOperations(
        operations.filter((row) => isOfType(row, type)),
        base,
      ),
    };
  });
  const isServed = (code: Interaction): boolean =>
    wired.has(code) && tables.routes.some(({ interaction }) => interaction === code);
  const system = [...(isServed('bundle') ? BUNDLES : []), ...SYSTEM_INTERACTIONS.filter(isServed)];
  return {
    resourceType: 'CapabilityStatement',
    name: 'Kiln',
    title: 'Kiln FHIR server',
    status: 'active',
    ...describeActors(services),
    date: BEGUN,
    kind: 'instance',
    software: PRODUCT,
    implementation: { description: 'Kiln FHIR server', ...(baseUrl === undefined ? {} : { url: baseUrl }) },
    fhirVersion: tables.origin.fhirVersion,
    format: [...formats.flatMap((format) => [MEDIA_TYPES[format], format]), ...PAGE_NAMES],
    ...(routed.has('patch [type]') ? { patchFormat: [...patchTypes(services)] } : {}),
    rest: [
      {
        ...describeSockets(services),
        mode: 'server',
        ...describeState(services, currency),
        security: describeSecurity(services),
        resource: resources,
        ...(system.length > 0 ? { interaction: system.map((code) => describeInteraction(code, services)) } : {}),
        ...(isServed('search-system')
          ? withControls(describeCommon(services), describeControls('system', services))
          : {}),
        ...describeOperations(
          operations.filter(({ levels }) => levels.includes('system')),
          base,
        ),
        ...(isServed('search-compartment') ? { compartment: tables.compartments.map(({ url }) => url) } : {}),
      },
    ],
  };
}

/** The CapabilityStatements and guides of the actors that the server is, and the guides that it was made with, or that were installed. */
function describeActors({ exchange: { actors }, guides, tables }: Services): JsonObject {
  const isThere = ({ type, parameter }: NonNullable<ActorClaim['needs']>): boolean =>
    searchDefinitions(tables).rowsOf(type).has(parameter);
  const claims = actors.instantiates.filter(({ needs }) => needs === undefined || isThere(needs));
  const instantiates = [...new Set(claims.map(({ canonical }) => canonical))];
  const named = [...(tables.guides ?? []), ...guides].flatMap(({ guide }) => guide ?? []);
  const all = [...new Set([...actors.guides, ...named])];
  return {
    ...(instantiates.length > 0 && { instantiates }),
    ...(all.length > 0 && { implementationGuide: all }),
  };
}

/** The profiles of the guides that were installed, by type. */
function profilesOfGuides({ guides }: Services): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [type, url] of guides.flatMap(({ profiles = [] }) => profiles))
    found.set(type, [...(found.get(type) ?? []), url]);
  return found;
}

/** What searches take, parameters that are no criteria included. */
function withControls({ searchParam = [], ...rest }: JsonObject, controls: readonly JsonObject[]): JsonObject {
  return { ...rest, searchParam: [...(searchParam as JsonObject[]), ...controls] };
}

/** Parameters that are named one by one, where they are not in effect. */
const TOLD = 20;

/** What is not as the definitions have it at the moment. */
function describeState({ notInEffect }: Services, currency: string | undefined): JsonObject {
  const more = notInEffect.length - TOLD;
  const names = `${notInEffect.slice(0, TOLD).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  // Why is for those who may read them: a PUT of one is answered with it, and the log has it.
  const told = `Active SearchParameters that are not in effect (the log says why): ${names}`;
  const texts = [...(currency === undefined ? [] : [currency]), ...(notInEffect.length === 0 ? [] : [told])];
  return texts.length === 0 ? {} : { documentation: texts.join('\n\n') };
}

/** Where web sockets are offered: http://hl7.org/fhir/extensions/StructureDefinition-capabilitystatement-websocket.html */
function describeSockets({ operations }: Services): JsonObject {
  if (!operations.has('Subscription-get-ws-binding-token')) return {};
  const url = 'http://hl7.org/fhir/StructureDefinition/capabilitystatement-websocket';
  return { extension: [{ url, valueUri: SOCKET }] };
}

/** https://hl7.org/fhir/R5/security.html; authorization.md §1.5 */
function describeSecurity({ authorization }: Services): JsonObject {
  if (authorization === undefined) {
    return { description: 'No authorization: only the machine that the server runs on is served.' };
  }
  const { cors, issuer } = authorization;
  return {
    cors,
    service: (issuer === undefined ? SECURITY_SERVICES : EXTERNAL_SERVICES).map(([system, code]) => ({
      coding: [{ system, code }],
    })),
    description:
      (issuer === undefined
        ? 'Bearer tokens of SMART Backend Services: client_credentials with private_key_jwt, scopes system/[type].cruds, '
        : `Bearer tokens of ${issuer}, scopes system/[type].cruds, `) +
      'also in the words read, search, create and write. Where tokens come from is published at [base]/.well-known/smart-configuration.',
  };
}

/** What of a type can be done by criteria. https://hl7.org/fhir/R5/http.html#cond-update */
function describeConditions(
  codes: readonly Interaction[],
  routed: ReadonlySet<string>,
  { deletesMultiple }: Services,
): JsonObject {
  return {
    ...(codes.includes('create') && codes.includes('search-type') ? { conditionalCreate: true } : {}),
    ...(routed.has('conditional-update [type]') ? { conditionalUpdate: true } : {}),
    ...(routed.has('conditional-patch [type]') ? { conditionalPatch: true } : {}),
    ...(routed.has('conditional-delete [type]') ? { conditionalDelete: deletesMultiple ? 'multiple' : 'single' } : {}),
  };
}

/** Interaction and the type at the start of the path: `read [type]`. */
function routeKey({ interaction, path }: RouteRow): string {
  return `${interaction} ${path.split('/', 1)[0]}`;
}
