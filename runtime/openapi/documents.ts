import type { RouteRow, TypeRow } from '../contract/index.js';
import { patchTypes } from '../interactions/write/sent-patch.js';
import type { Services } from '../core/services.js';
import { MEDIA_TYPES } from '../format/negotiate.js';
import { PRODUCT } from '../fhir/product.js';
import { isObject, type JsonObject } from '../fhir/resource.js';
import { yieldToEventLoop } from '../fhir/yield-to-event-loop.js';
import { describeCommon, describeSearch } from '../interactions/capabilities/describe-search.js';
import { isWired } from '../interactions/registry.js';
import { controlComponents, defineControls, queryParameter } from './controls.js';
import type { PathContext } from './path-context.js';
import { operationOf, pathOf } from './paths.js';
import { ANY_RESOURCE, anyResource, schemaOf, type PrimitiveForm } from './schemas.js';

/** Services that documents are made from. */
export type DocumentServices = Pick<
  Services,
  'tables' | 'operations' | 'wired' | 'patchers' | 'formats' | 'subset' | 'authorization'
>;

/** URLs in documents. */
export interface DocumentUrls {
  /** Of the FHIR base. */
  readonly base: string;
  /** Of the token endpoint; absent: the server has no authorization. */
  readonly token?: string;
}

/** Name of the document of the interactions that name no type. */
export const SYSTEM = 'system';
/** Name of the document with what all others share. */
export const DATATYPES = 'datatypes';

/** Documents of their own. */
const FILE = (name: string): string => `${name}.json`;

/** The names of all documents but the index: one for each resource type, the system, the datatypes. */
export function documentNames({ tables }: Pick<Services, 'tables'>): readonly string[] {
  return [SYSTEM, DATATYPES, ...tables.resourceTypes];
}

/**
 * A document of the interface, made from the tables that the router goes by. https://spec.openapis.org/oas/v3.1.0
 *
 * @param name of `documentNames`
 */
export function makeDocument(
  name: string,
  services: DocumentServices,
  urls: DocumentUrls,
  form: PrimitiveForm = 'full',
): JsonObject {
  const refTo = (type: string): string => refIn(name, type, services);
  const head = headOf(name, services, urls, form);
  if (name === DATATYPES) return { ...head, paths: {}, components: sharedComponents(services, refTo, form) };
  const type = name === SYSTEM ? undefined : name;
  const schemas = Object.fromEntries(
    services.tables.types
      .filter((row) => type !== undefined && ownerOf(row) === type)
      .map((row) => [row.name, schemaOf(row, services.tables, refTo, form)]),
  );
  const paths = pathsOf(type, services, contextOf(name, services, form));
  return {
    ...head,
    tags: [tagOf(type ?? SYSTEM)],
    paths,
    components: {
      schemas,
      parameters: Object.fromEntries(searchParametersOf(type, services)),
      ...securitySchemes(paths, services, urls),
    },
  };
}

/** Everything in one document, for generators of clients. Others have turns meanwhile. */
export async function makeWhole(
  services: DocumentServices,
  urls: DocumentUrls,
  form: PrimitiveForm = 'full',
): Promise<JsonObject> {
  const yieldIfDue = yieldToEventLoop();
  const merged = { paths: {} as JsonObject, components: {} as Record<string, JsonObject> };
  for (const name of documentNames(services)) {
    const { paths, components } = localized(makeDocument(name, services, urls, form)) as JsonObject;
    Object.assign(merged.paths, paths);
    for (const [kind, each] of Object.entries((components ?? {}) as JsonObject)) {
      Object.assign((merged.components[kind] ??= {}), each);
    }
    await yieldIfDue();
  }
  const schemes = securitySchemes(merged.paths, services, urls);
  return {
    ...headOf(SYSTEM, services, urls, form),
    tags: documentNames(services)
      .filter((name) => name !== DATATYPES)
      .map(tagOf),
    paths: merged.paths,
    components: { ...merged.components, ...schemes },
  };
}

/**
 * A plain document with all that it refers to, however far: generators of clients do not follow references from one file to another.
 *
 * @param name of `documentNames`
 */
export function makePlain(name: string, services: DocumentServices, urls: DocumentUrls): JsonObject {
  const { components: own, ...document } = makeDocument(name, services, urls, 'plain');
  const shared = sharedComponents(services, (type) => refIn(DATATYPES, type, services), 'plain');
  const { tables } = services;
  const schemaNamed = (type: string): JsonObject => {
    const row = tables.types.find((each) => each.name === type);
    return row === undefined
      ? anyResource([], 'plain')
      : schemaOf(row, tables, (each) => refIn(name, each, services), 'plain');
  };
  const components: Record<string, JsonObject> = { ...(own as Record<string, JsonObject>) };
  const left = [document, own];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const [kind = '', key = ''] of componentsIn(next)) {
      if (components[kind]?.[key] !== undefined) continue;
      const found = kind === 'schemas' ? schemaNamed(key) : (shared[kind] as JsonObject)[key];
      components[kind] = { ...components[kind], [key]: found as JsonObject };
      left.push(found as JsonObject);
    }
  }
  return localized({ ...document, components }) as JsonObject;
}

/** Kind and name of each component that a part of a document refers to. */
function componentsIn(value: JsonObject[string] | undefined): string[][] {
  if (Array.isArray(value)) return value.flatMap(componentsIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === '$ref'
      ? [
          String(each)
            .replace(/^.*#\/components\//, '')
            .split('/'),
        ]
      : componentsIn(each),
  );
}

/** The index: name and place of each document. */
export function makeIndex(services: DocumentServices): JsonObject {
  return {
    product: `${PRODUCT.name} ${PRODUCT.version}`,
    openapi: '3.1.0',
    whole: FILE('all'),
    plain: `${FILE('all')}?primitives=plain`,
    documents: documentNames(services).map((name) => ({ name, url: FILE(name) })),
  };
}

function headOf(
  name: string,
  { authorization }: DocumentServices,
  { base }: DocumentUrls,
  form: PrimitiveForm,
): JsonObject {
  const title = name === SYSTEM ? `${PRODUCT.name}: the system` : `${PRODUCT.name}: ${name}`;
  const [about, license] = ['FHIR R5 REST interface', 'Apache-2.0'];
  return {
    // More generators read 3.0, which is enough for what is plain.
    openapi: form === 'plain' ? '3.0.3' : '3.1.0',
    info: {
      title,
      version: PRODUCT.version,
      ...(form === 'plain'
        ? { description: about, license: { name: license } }
        : { summary: about, license: { name: license, identifier: license } }),
    },
    servers: [{ url: base }],
    // That no token is needed has to be said.
    ...(authorization === undefined && { security: [] }),
  };
}

function tagOf(name: string): JsonObject {
  return {
    name,
    description: name === SYSTEM ? 'What names no resource type' : `Interactions and operations of ${name}`,
  };
}

/** The type that a row belongs to: `Patient.contact` to Patient. */
function ownerOf({ name }: TypeRow): string {
  return name.split('.')[0] ?? name;
}

function refIn(document: string, type: string, { tables }: Pick<Services, 'tables'>): string {
  const owner = type.split('.')[0] ?? type;
  const place = tables.resourceTypes.includes(owner) ? owner : DATATYPES;
  return `${place === document ? '' : FILE(place)}#/components/schemas/${type}`;
}

function contextOf(document: string, services: DocumentServices, form: PrimitiveForm): PathContext {
  const { tables, authorization } = services;
  const shared = document === DATATYPES ? '' : FILE(DATATYPES);
  return {
    tables,
    refTo: (kind, name) =>
      kind === 'schemas' ? refIn(document, name, services) : `${shared}#/components/${kind}/${name}`,
    searchParameters: (type) =>
      searchParametersOf(type, services).map(([name]) => ({ $ref: `#/components/parameters/${name}` })),
    form,
    controls: controlComponents(services),
    patchTypes: patchTypes(services),
    formats: services.formats.map((format) => MEDIA_TYPES[format]),
    isGuarded: authorization !== undefined,
  };
}

/** The search parameters of a type, or those of all, by the names of their components. Several operations refer to each. */
function searchParametersOf(type: string | undefined, services: DocumentServices): (readonly [string, JsonObject])[] {
  const none = { forwards: new Map(), backwards: new Map() };
  const { searchParam = [] } = type === undefined ? describeCommon(services) : describeSearch(type, services, none);
  return (searchParam as JsonObject[]).map(({ name, type: kind, documentation }) => {
    const text = `${String(kind)}. ${String(documentation)}`;
    const parameter = queryParameter(String(name), text, { type: 'array', items: { type: 'string' } });
    return [`${type ?? SYSTEM}.${String(name)}`.replace(/[^\w.-]/g, '_'), parameter];
  });
}

function pathsOf(type: string | undefined, services: DocumentServices, context: PathContext): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const row of rowsOf(type, services)) {
    // Generators cannot make a form of parameters whose names are not fixed; by GET they have each of them.
    if (context.form === 'plain' && row.path.endsWith('_search')) continue;
    const path = pathOf(row, type);
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operationOf(row, type, context) };
  }
  return paths;
}

/** The routes that lead anywhere, of one type or of the system. */
export function rowsOf(
  type: string | undefined,
  { tables, operations, wired }: Pick<DocumentServices, 'tables' | 'operations' | 'wired'>,
): readonly RouteRow[] {
  return tables.routes.filter((row) => {
    const [first = ''] = row.path.split('/');
    const isOf = type === undefined ? !/^(?:\[type\]|[A-Z])/.test(first) : first === '[type]' || first === type;
    if (!isOf || !isWired(row, operations)) return false;
    return row.operation !== undefined || wired.has(row.interaction);
  });
}

function sharedComponents(
  services: DocumentServices,
  refTo: (type: string) => string,
  form: PrimitiveForm,
): JsonObject {
  const { tables } = services;
  const datatypes = tables.types.filter((row) => !tables.resourceTypes.includes(ownerOf(row)) && !isBase(row));
  const schemas = datatypes.map((row) => [row.name, schemaOf(row, tables, refTo, form)] as const);
  const content = { 'application/fhir+json': { schema: { $ref: refTo('OperationOutcome') } } };
  return {
    schemas: { ...Object.fromEntries(schemas), [ANY_RESOURCE]: anyResource(tables.resourceTypes, form) },
    parameters: defineControls(services),
    responses: { Error: { description: 'An OperationOutcome that says what was wrong, and where', content } },
  };
}

/** Types that no value is of. */
function isBase({ name, kind, abstract }: TypeRow): boolean {
  return kind === 'resource' && abstract === true && name !== ANY_RESOURCE;
}

/** The scheme with the scopes that the operations of some paths name. */
function securitySchemes(
  paths: JsonObject,
  { authorization }: Pick<Services, 'authorization'>,
  { token }: DocumentUrls,
): JsonObject {
  if (authorization === undefined || token === undefined) return {};
  const { issuer } = authorization;
  if (issuer !== undefined) {
    const text = `A token of ${issuer}: [base]/.well-known/smart-configuration says where it comes from.`;
    return { securitySchemes: { smart: { type: 'http', scheme: 'bearer', description: text } } };
  }
  const items = Object.values(paths) as Record<string, { readonly security?: readonly Record<string, string[]>[] }>[];
  const operations = items.flatMap((item) => Object.values(item));
  const named = new Set(operations.flatMap(({ security = [] }) => security.flatMap(({ smart = [] }) => smart)));
  const scopes = [...named].sort().map((scope) => [scope, describeScope(scope)] as const);
  const flow = { tokenUrl: token, scopes: Object.fromEntries(scopes) };
  const description = 'SMART Backend Services: the client authenticates with a signed assertion (private_key_jwt).';
  return { securitySchemes: { smart: { type: 'oauth2', description, flows: { clientCredentials: flow } } } };
}

const LETTERS: Readonly<Record<string, string>> = {
  c: 'create',
  r: 'read',
  u: 'update',
  d: 'delete',
  s: 'search',
};

/** `system/Patient.rs`: read, search Patient. */
function describeScope(scope: string): string {
  const [, type, letters] = /^system\/(.+)\.([cruds]+)$/.exec(scope) ?? [];
  if (type === undefined || letters === undefined) return scope;
  const verbs = [...letters].map((letter) => LETTERS[letter]).join(', ');
  return `${verbs} ${type === '*' ? 'resources of all types' : type}`;
}

/** The same with references into this document alone. */
function localized(value: JsonObject[string]): JsonObject[string] {
  if (Array.isArray(value)) return value.map(localized);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) =>
      name === '$ref' && typeof each === 'string' ? [name, each.replace(/^[^#]*/, '')] : [name, localized(each)],
    ),
  );
}
