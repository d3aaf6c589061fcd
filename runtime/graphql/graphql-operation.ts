import type { Call, Reply, SentContent } from '../core/call.js';
import type { Services } from '../core/services.js';
import { Decimal } from '../fhir/decimal.js';
import { FhirError } from '../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import type { GraphqlRequest } from './request.js';
import { FORM } from '../search/control-parameters.js';
import { readArguments, valueOf } from '../operations/common/arguments.js';

/**
 * `[base]/$graphql`, `[base]/[type]/$graphql` and `[base]/[type]/[id]/$graphql`: executes a query in GraphQL. The executor and the
 * library behind it are loaded with the first query. https://hl7.org/fhir/R5/graphql.html
 *
 * @throws FhirError `scope-missing`, `not-found` for the instance in the URL
 */
export async function graphql(call: Call, services: Services): Promise<Reply> {
  const { runGraphql, refuseRequest } = await import('./run.js');
  let request: GraphqlRequest;
  try {
    request = await readRequest(call, services);
  } catch (error) {
    if (error instanceof FhirError && error.status < 500) return refuseRequest(error);
    throw error;
  }
  return runGraphql(request, call, services);
}

/** @throws FhirError for what is wrong with the parameters, or with the body */
async function readRequest(call: Call, services: Services): Promise<GraphqlRequest> {
  const { body, content } = call;
  if (content !== undefined) return { ...readUrl(call), query: await readText(content) };
  if (isObject(body) && body['resourceType'] === undefined) return { ...readUrl(call), ...readBody(body) };
  if (body !== undefined && !isObject(body)) {
    throw new FhirError(
      'not-a-resource',
      '$graphql takes a JSON object with "query" as its body, or a Parameters resource',
    );
  }
  const found = readArguments(call, services);
  const operationName = valueOf(found, 'operationName');
  const variables = valueOf(found, 'variables');
  return {
    query: String(valueOf(found, 'query')),
    ...(typeof operationName === 'string' && { operationName }),
    ...(typeof variables === 'string' && { variables: readVariables(variables) }),
  };
}

/** What the URL may add to a body. @throws FhirError `parameter-unknown` */
function readUrl({ params, prefer }: Call): Partial<GraphqlRequest> {
  for (const name of params.keys()) {
    if (FORM.has(name) || name === 'operationName' || name === 'variables' || prefer.handling === 'lenient') continue;
    const text = `Unknown parameter ${JSON.stringify(name.slice(0, 64))}; beside a body $graphql takes variables and operationName`;
    throw new FhirError('parameter-unknown', text);
  }
  const operationName = params.get('operationName');
  const variables = params.get('variables');
  return {
    ...(operationName !== null && { operationName }),
    ...(variables !== null && variables !== '' && { variables: readVariables(variables) }),
  };
}

/** https://graphql.github.io/graphql-over-http/draft/#sec-POST */
function readBody({ query, variables, operationName }: JsonObject): GraphqlRequest {
  if (typeof query !== 'string') throw invalid('The body needs "query", a GraphQL document as a text', 'query');
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') {
    throw invalid('"operationName" has to be a text', 'operationName');
  }
  if (variables !== undefined && variables !== null && !isObject(variables)) {
    throw invalid('"variables" has to be an object', 'variables');
  }
  return {
    query,
    ...(typeof operationName === 'string' && { operationName }),
    ...(isObject(variables) && { variables: plain(variables) }),
  };
}

async function readText(content: SentContent): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content.bytes) pieces.push(piece);
  content.text = Buffer.concat(pieces).toString('utf8');
  return content.text;
}

function readVariables(text: string): JsonObject {
  const value = readJsonText(text);
  if (isObject(value)) return plain(value);
  throw invalid('"variables" has to be a JSON object as a text', 'variables');
}

function readJsonText(text: string): JsonValue {
  try {
    return readJson(text);
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    throw invalid(`"variables" has to be a JSON object as a text: ${error.message}`, 'variables');
  }
}

/** Numbers of variables are those of GraphQL, which keep no more than a double does. */
function plain<T extends JsonValue>(value: T): T {
  if (value instanceof Decimal) return Number(value.text) as T;
  if (Array.isArray(value)) return value.map(plain) as T;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)])) as T;
}

function invalid(text: string, expression: string): FhirError {
  return new FhirError('parameter-invalid', text, { expression });
}
