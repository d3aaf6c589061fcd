import type { Interaction, RouteRow } from '../contract/index.js';
import { formatInstant } from '../fhir/instant.js';
import type { JsonObject, Resource } from '../fhir/resource.js';
import type { Call, Reply } from './call.js';
import { checkParameters } from './parameters.js';
import type { Services } from './services.js';

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

/** The statement does not change while a server runs. */
const cache = new WeakMap<Services, Resource>();

/** `GET [base]/metadata`. https://hl7.org/fhir/R5/http.html#capabilities */
export async function capabilities(call: Call, services: Services): Promise<Reply> {
  checkParameters(call);
  let statement = cache.get(services);
  if (statement === undefined) {
    statement = composeStatement(services, new Date());
    cache.set(services, statement);
  }
  return { status: 200, resource: statement };
}

/**
 * The CapabilityStatement: types from the tables, interactions that have a route and are wired, and nothing else.
 * https://hl7.org/fhir/R5/capabilitystatement.html
 */
function composeStatement({ tables, wired, baseUrl }: Services, now: Date): Resource {
  const routed = new Set(tables.routes.filter(({ interaction }) => wired.has(interaction)).map(routeKey));
  const profiles = new Map(tables.capabilities.map((row) => [row.type, row.profile]));
  const resources = tables.resourceTypes.map((type): JsonObject => {
    const profile = profiles.get(type);
    const codes = TYPE_INTERACTIONS.filter((code) => routed.has(`${code} [type]`) || routed.has(`${code} ${type}`));
    return {
      type,
      ...(profile === undefined ? {} : { profile }),
      ...(codes.length > 0 ? { interaction: codes.map((code) => ({ code })) } : {}),
      versioning: codes.includes('update') ? 'versioned-update' : 'versioned',
      ...(codes.includes('vread') ? { readHistory: true } : {}),
      ...(codes.includes('read') ? { conditionalRead: 'full-support' } : {}),
      ...(codes.includes('update') ? { updateCreate: true } : {}),
    };
  });
  return {
    resourceType: 'CapabilityStatement',
    name: 'Kiln',
    title: 'Kiln FHIR server',
    status: 'active',
    date: formatInstant(now.getTime()),
    kind: 'instance',
    software: { name: 'Kiln' },
    implementation: { description: 'Kiln FHIR server', ...(baseUrl === undefined ? {} : { url: baseUrl }) },
    fhirVersion: tables.origin.fhirVersion,
    format: ['json'],
    rest: [
      {
        mode: 'server',
        security: { description: 'No authorization: only the machine that the server runs on is served.' },
        resource: resources,
      },
    ],
  };
}

/** Interaction and the type at the start of the path: `read [type]`. */
function routeKey({ interaction, path }: RouteRow): string {
  return `${interaction} ${path.split('/', 1)[0]}`;
}
