import { TypeInfo, isNonNullType, visit, visitWithTypeInfo, type GraphQLError, type GraphQLSchema } from 'graphql';

import { documentError } from '../errors.js';
import { reachable, type OperationOfDocument } from './reachable.js';

/** An operation whose variables have their values. */
interface WithValues extends OperationOfDocument {
  readonly schema: GraphQLSchema;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * The places that need a value and have a variable without one. The type of a variable that may be null fits there, for it may have a value.
 */
export function missingValues(query: WithValues): readonly GraphQLError[] {
  const { operation, schema, variables } = query;
  const lacks = (name: string): boolean => variables[name] === undefined || variables[name] === null;
  if (!operation.variableDefinitions?.some(({ variable }) => lacks(variable.name.value))) return [];
  const errors: GraphQLError[] = [];
  const info = new TypeInfo(schema);
  const look = visitWithTypeInfo(info, {
    VariableDefinition: () => false,
    Variable(node) {
      const isNeeded = isNonNullType(info.getInputType()) && info.getDefaultValue() === undefined;
      if (!isNeeded || !lacks(node.name.value)) return;
      errors.push(documentError(`The variable "$${node.name.value}" has no value, and one is needed here`, node));
    },
  });
  for (const each of reachable(query)) visit(each, look);
  return errors;
}
