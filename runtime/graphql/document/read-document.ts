import {
  GraphQLError,
  Kind,
  getVariableValues,
  parse,
  validate,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
} from 'graphql';

import { RequestError, documentError } from '../errors.js';
import { QUERY_LIMITS } from '../limits.js';
import type { GraphqlRequest } from '../request.js';
import { queryTypes, type SchemaTables, type TypeCatalog } from '../schema/schema.js';
import type { LazySchema } from '../schema/lazy.js';
import { adaptDocument, type AdaptedDocument } from './adapt.js';
import { knownDocuments } from './known-documents.js';
import { checkSize } from './check-size.js';
import { missingValues } from './missing-values.js';
import { RULES, RULES_AS_SENT } from './rules.js';

/** A query that is valid, ready to be planned. */
export interface ValidQuery {
  readonly schema: LazySchema;
  readonly catalog: TypeCatalog;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Values of the variables, defaults included. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Errors of one document that are reported. */
const MOST_ERRORS = 20;

/**
 * Parses and checks a document.
 *
 * @param type of the instance that the query is about; absent: the system
 * @throws RequestError with all that is wrong
 */
export function readDocument(
  { query, variables = {}, operationName }: GraphqlRequest,
  type: string | undefined,
  tables: SchemaTables,
): ValidQuery {
  const catalog = queryTypes(tables);
  const schema = catalog.schemaOf(type);
  const known = knownDocuments(catalog);
  const key = `${type ?? ''} ${query}`;
  let document = known.get(key);
  if (document === undefined) {
    const checked = checkDocument(query, schema, catalog, variables);
    ({ document } = checked);
    if (checked.isFixed) known.keep(key, document);
  }
  const operation = chooseOperation(document, operationName);
  const values = getVariableValues(schema, operation.variableDefinitions ?? [], variables, { maxErrors: MOST_ERRORS });
  if (values.errors !== undefined) refuse(values.errors);
  const fragments = document.definitions.flatMap((each) =>
    each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [],
  );
  const valid = { schema, operation, fragments: new Map(fragments), variables: values.coerced ?? {} };
  refuse(missingValues(valid));
  return { ...valid, catalog };
}

/** The document, found valid and adapted. */
function checkDocument(
  query: string,
  schema: LazySchema,
  catalog: TypeCatalog,
  variables: Readonly<Record<string, unknown>>,
): AdaptedDocument {
  const sent = parseDocument(query);
  const adapted = adaptDocument(sent, schema, catalog, variables);
  refuse(validate(schema, adapted.document, RULES, { maxErrors: MOST_ERRORS }));
  refuse(validate(schema, sent, RULES_AS_SENT, { maxErrors: MOST_ERRORS }));
  return adapted;
}

function parseDocument(query: string): DocumentNode {
  try {
    const document = parse(query, { maxTokens: QUERY_LIMITS.tokens });
    checkSize(document);
    return document;
  } catch (error) {
    // The parser goes as deep as the document does.
    if (error instanceof RangeError)
      throw new RequestError([documentError('The query is nested too deeply', undefined, 'graphql-limit')]);
    if (!(error instanceof GraphQLError)) throw error;
    if (error.extensions['code'] !== undefined) throw new RequestError([error]);
    // The library's words for it, which have no code.
    const isLimit = /contains more tha[nt] \d+ tokens/.test(error.message);
    const text = isLimit ? `The query has more than ${QUERY_LIMITS.tokens} tokens` : error.message;
    const { source, positions } = error;
    throw new RequestError([
      new GraphQLError(text, {
        ...(source !== undefined && { source }),
        ...(positions !== undefined && { positions }),
        extensions: { code: isLimit ? 'graphql-limit' : 'graphql-syntax' },
      }),
    ]);
  }
}

function refuse(errors: readonly GraphQLError[]): void {
  const [first, ...others] = errors;
  if (first !== undefined) throw new RequestError([first, ...others]);
}

function chooseOperation(document: DocumentNode, name: string | undefined): OperationDefinitionNode {
  const all = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  const wanted = name === undefined || name === '' ? all : all.filter((each) => each.name?.value === name);
  const [operation] = wanted;
  if (operation === undefined) {
    const text =
      all.length === 0 ? 'The document has no operation' : `The document has no operation ${JSON.stringify(name)}`;
    throw new RequestError([documentError(text, undefined)]);
  }
  if (wanted.length > 1) {
    throw new RequestError([documentError('The document has several operations; operationName says which', all)]);
  }
  if (operation.operation === 'query') return operation;
  const text = `The server executes no ${operation.operation}; resources are written with the interactions of FHIR`;
  throw new RequestError([documentError(text, operation)]);
}
