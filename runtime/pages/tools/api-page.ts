import { isObject, type JsonObject, type JsonValue, objectsOf, textsOf } from '../../fhir/resource.js';
import { template } from '../engine.js';
import { framedPage, type Page } from '../framed.js';
import type { Paths, Site } from '../site.js';

interface Parameter {
  readonly name: string;
  readonly place: string;
  readonly isRequired: boolean;
  readonly about: string;
}

interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly bodies: string;
  readonly answers: string;
  readonly scopes: readonly string[];
  /** The console, with this request. */
  readonly tryIt: string;
}

interface Property {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
}

interface ApiPage {
  readonly paths: Paths;
  readonly name: string;
  readonly isType: boolean;
  readonly requests: readonly RequestLine[];
  readonly schemas: readonly { readonly name: string; readonly properties: readonly Property[] }[];
}

const renderIndex = template<{ paths: Paths; types: readonly string[]; system: string }>('api-types');
const renderApi = template<ApiPage>('api');

/** The page with the documents. @param system name of the document of requests without a type */
export function apiTypesPage(system: string, site: Site, paths: Paths): Page {
  return framedPage(site, paths, 'API', renderIndex({ paths, types: site.tables.resourceTypes, system }));
}

/** The page of an OpenAPI document: its requests with their parameters, and its schemas. https://spec.openapis.org/oas/v3.1.0 */
export function apiPage(name: string, document: JsonObject, site: Site, paths: Paths): Page {
  const requests = membersOf(document['paths']).flatMap(([path, methods]) =>
    membersOf(methods).map(([method, operation]) => requestOf(method, path, operation, paths)),
  );
  const components = isObject(document['components']) ? document['components'] : {};
  const schemas = membersOf(components['schemas']).map(([each, schema]) => ({
    name: each,
    properties: propertiesOf(schema),
  }));
  const isType = site.tables.resourceTypes.includes(name);
  return framedPage(site, paths, `API: ${name}`, renderApi({ paths, name, isType, requests, schemas }));
}

function requestOf(method: string, path: string, operation: JsonObject, { ui }: Paths): RequestLine {
  const { requestBody, security } = operation;
  const scopes = objectsOf(security).map((each) => textsOf(each['smart']).join(' '));
  return {
    ...{ method: method.toUpperCase(), path },
    summary: textOf(operation['summary']),
    description: textOf(operation['description']),
    parameters: objectsOf(operation['parameters']).map(parameterOf),
    bodies: isObject(requestBody)
      ? membersOf(requestBody['content'])
          .map(([type]) => type)
          .join(', ')
      : '',
    answers: membersOf(operation['responses'])
      .map(([status, answer]) => `${status} ${textOf(answer['description'])}`.trim())
      .join(' · '),
    tryIt: `${ui}/console?${new URLSearchParams({ method: method.toUpperCase(), path: path.replace(/^\//, '') }).toString()}`,
    scopes: scopes.filter((each) => each !== ''),
  };
}

function parameterOf(parameter: JsonObject): Parameter {
  const reference = parameter['$ref'];
  // Components are named after who takes them, a dot, and the name of the parameter.
  if (typeof reference === 'string')
    return { name: lastOf(reference).replace(/^[^.]*\./, ''), place: 'query', isRequired: false, about: '' };
  return {
    name: textOf(parameter['name']),
    place: textOf(parameter['in']),
    isRequired: parameter['required'] === true,
    about: textOf(parameter['description']),
  };
}

function propertiesOf({ properties, required }: JsonObject): Property[] {
  const needed = textsOf(required);
  return membersOf(properties)
    .filter(([name]) => !name.startsWith('_'))
    .map(([name, schema]) => ({ name, type: typeOf(schema), isRequired: needed.includes(name) }));
}

function typeOf({ type, $ref: reference, items, enum: values }: JsonObject): string {
  if (typeof reference === 'string') return lastOf(reference);
  if (isObject(items)) return `${typeOf(items)}[]`;
  const codes = textsOf(values);
  return codes.length > 0 ? codes.join(' | ') : textOf(type);
}

function lastOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function membersOf(value: JsonValue | undefined): [string, JsonObject][] {
  if (!isObject(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
