import type { Call, Reply } from '../core/call.js';
import { withinBudget } from '../search-execution/execute/search-budget.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import type { JsonObject, JsonValue } from '../fhir/resource.js';
import { readDocument, type ValidQuery } from './document/read-document.js';
import { RequestError, writeError } from './errors.js';
import { Budget, type Execution, type Placed } from './execute/context.js';
import { lookUp } from './execute/look-up.js';
import { ResourceReader } from './execute/read-resources.js';
import { writeAnswer, type QueryAnswer } from './execute/write-answer.js';
import { writeTree } from './execute/written-text.js';
import { introspector } from './introspect.js';
import { knownAnswer } from './known-answers.js';
import { prepareQuery } from './plan/prepare.js';
import { QUERY_LIMITS } from './limits.js';
import { GRAPHQL_ANSWER_TYPE, type GraphqlRequest } from './request.js';

/** Characters that are sent at a time. */
const PIECE = 64 * 1024;

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Executes a query. Nothing is looked up before the document is valid and the scopes of the token are known to cover it.
 * https://hl7.org/fhir/R5/graphql.html
 *
 * @throws FhirError `scope-missing`, `not-found` for the instance that the query is about, and what is wrong with the store
 */
export async function runGraphql(request: GraphqlRequest, call: Call, services: Services): Promise<Reply> {
  try {
    const instance = call.level === 'instance' ? call.type : undefined;
    const query = readDocument(request, instance, services.tables);
    const prepared = prepareQuery(query, call, services);
    const isOfSchema = prepared.fields.every(({ facts }) => facts.is === 'introspection');
    if (isOfSchema && instance === undefined) {
      const introspect = introspector(query, prepared.planner, instance, services.tables);
      return textReply(
        200,
        knownAnswer(request, services.tables, () => inPieces(introspect.text(prepared.fields))),
      );
    }
    const { data, errors, hasTexts, reads } = await execute(query, prepared, call, services);
    const answer: JsonObject = { data, ...(errors.length > 0 && { errors: [...errors] as JsonValue[] }) };
    const reply = textReply(200, hasTexts ? writeTree(answer) : JSON.stringify(answer));
    return reads === undefined ? reply : { ...reply, reads };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return refusal(error.status, error.errors);
  }
}

/** The answer to a request that cannot be executed. */
export function refuseRequest(error: FhirError): Reply {
  return refusal(error.status, [error]);
}

async function execute(
  query: ValidQuery,
  { fields, searches, filters, planner }: ReturnType<typeof prepareQuery>,
  call: Call,
  services: Services,
): Promise<QueryAnswer & Pick<ResourceReader, 'reads'> & { readonly hasTexts: boolean }> {
  const instance = call.level === 'instance' ? call.type : undefined;
  return withinBudget(services.limits.queryTime ?? QUERY_LIMITS.time, call.signal, async (signal) => {
    const { catalog } = query;
    filters.begin(signal);
    const execution: Execution = { call, services, catalog, searches, filters, signal, budget: new Budget(signal) };
    const reader = new ResourceReader(execution);
    const start = instance === undefined ? undefined : await readInstance(instance, call.id ?? '', reader);
    try {
      const found = await lookUp(fields, start, reader, execution);
      const introspect = introspector(query, planner, instance, services.tables);
      const answer = await writeAnswer(fields, start, found, execution, (field) => introspect.value(field));
      const hasTexts = reader.hasDecimals || fields.some(({ facts }) => facts.is === 'introspection');
      return { ...answer, hasTexts, reads: reader.reads };
    } catch (error) {
      // Of what is too much nothing is answered.
      if (error instanceof FhirError && LIMITS.has(error.code)) throw new RequestError([error]);
      throw error;
    }
  });
}

const LIMITS: ReadonlySet<string> = new Set(['graphql-limit', 'too-costly']);

async function readInstance(type: string, id: string, reader: ResourceReader): Promise<Placed> {
  await reader.read([{ type, id }]);
  const found = reader.found({ type, id });
  if (found === undefined) throw new FhirError('not-found');
  if ('fault' in found) throw found.fault;
  return { resource: found.value, root: found.value };
}

function refusal(status: number, errors: RequestError['errors'] | readonly [FhirError]): Reply {
  return textReply(status, JSON.stringify({ errors: errors.map((each) => writeError(each)) }));
}

/** Text in pieces of a size that is worth sending. */
function* inPieces(texts: Iterable<string>): Iterable<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

function textReply(status: number, content: string | AsyncIterable<Uint8Array>): Reply {
  return { status, body: { contentType: JSON_TYPE, otherType: GRAPHQL_ANSWER_TYPE, content } };
}
