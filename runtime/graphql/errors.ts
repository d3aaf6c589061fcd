import { GraphQLError, type ASTNode } from 'graphql';

import { ERRORS, FhirError, type ErrorCode } from '../fhir/errors.js';
import { errorOutcome } from '../fhir/operation-outcome.js';
import type { JsonObject, JsonValue } from '../fhir/resource.js';

/** Where in the answer an error belongs. */
export type Path = readonly (string | number)[];

/** A request that is not executed: every error is the client's, and there is no data. */
export class RequestError extends Error {
  constructor(readonly errors: readonly [GraphQLError | FhirError, ...(GraphQLError | FhirError)[]]) {
    super(errors[0].message);
    this.name = 'RequestError';
  }

  /** HTTP status of the answer: that of the first error. */
  get status(): number {
    const [first] = this.errors;
    return first instanceof FhirError ? first.status : ERRORS[codeOf(first)].status;
  }
}

/** An error of the document, at a place in it. */
export function documentError(
  text: string,
  nodes: ASTNode | readonly ASTNode[] | undefined,
  code: ErrorCode = 'graphql-invalid',
) {
  return new GraphQLError(text, { ...(nodes !== undefined && { nodes }), extensions: { code } });
}

/**
 * An error as the answer shows it, with an OperationOutcome. https://hl7.org/fhir/R5/graphql.html#errors
 *
 * @param path where in the answer the value is missing
 * @param nodes the fields that ask for it
 */
export function writeError(error: GraphQLError | FhirError, path?: Path, nodes?: readonly ASTNode[]): JsonObject {
  const fault = faultOf(error);
  const located =
    error instanceof GraphQLError && error.locations !== undefined
      ? error.locations
      : nodes === undefined || nodes.length === 0
        ? undefined
        : new GraphQLError('', { nodes }).locations;
  return {
    message: error.message,
    ...(located !== undefined && { locations: located.map(({ line, column }) => ({ line, column })) }),
    ...(path !== undefined && { path: [...path] as JsonValue[] }),
    extensions: { code: fault.code, resource: errorOutcome(fault) },
  };
}

function faultOf(error: GraphQLError | FhirError): FhirError {
  if (error instanceof FhirError) return error;
  const { originalError } = error;
  return originalError instanceof FhirError ? originalError : new FhirError(codeOf(error), error.message);
}

function codeOf({ extensions }: GraphQLError): ErrorCode {
  const code = extensions['code'];
  return typeof code === 'string' && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'graphql-invalid';
}
