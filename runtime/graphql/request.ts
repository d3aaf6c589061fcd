import type { JsonObject } from '../fhir/resource.js';

/** Request of a client to `$graphql`. https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters */
export interface GraphqlRequest {
  /** A GraphQL document. */
  readonly query: string;
  readonly variables?: JsonObject;
  /** The operation of the document that is executed. */
  readonly operationName?: string;
}

/** Media type that an answer may have instead of JSON. https://graphql.github.io/graphql-over-http/draft/#sec-Media-Types */
export const GRAPHQL_ANSWER_TYPE = 'application/graphql-response+json';
