import {
  Kind,
  NoUnusedVariablesRule,
  VariablesInAllowedPositionRule,
  getNamedType,
  getNullableType,
  isListType,
  isScalarType,
  specifiedRules,
  typeFromAST,
  type ASTVisitor,
  type FieldNode,
  type GraphQLType,
  type ValidationContext,
  type ValidationRule,
  type ValueNode,
} from 'graphql';

import { documentError } from '../errors.js';
import { isTextual } from '../schema/scalars.js';

/** The rules that an adapted document has to keep. https://spec.graphql.org/October2021/#sec-Validation */
export const RULES: readonly ValidationRule[] = [
  ...specifiedRules.filter((rule) => rule !== VariablesInAllowedPositionRule && rule !== NoUnusedVariablesRule),
  variablesFit,
  directivesFit,
];

/** The rules for the document as it was sent: a variable that names a type is gone from the adapted one. */
export const RULES_AS_SENT: readonly ValidationRule[] = [NoUnusedVariablesRule];

/**
 * A variable fits where its values do: a `String` where FHIR has a `token`, one value where a list is expected. The types of search
 * values have names of FHIR, which clients need not know.
 */
function variablesFit(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition: {
      leave(operation) {
        const types = new Map<string, GraphQLType | undefined>();
        for (const { variable, type } of operation.variableDefinitions ?? []) {
          types.set(variable.name.value, typeFromAST(context.getSchema(), type));
        }
        for (const { node, type } of context.getRecursiveVariableUsages(operation)) {
          const own = types.get(node.name.value);
          if (own === undefined || type === null || type === undefined || fits(own, type)) continue;
          const text = `The variable "$${node.name.value}" is of the type ${String(own)}, which does not fit where ${String(type)} is expected`;
          context.reportError(documentError(text, node));
        }
      },
    },
  };
}

function fits(own: GraphQLType, expected: GraphQLType): boolean {
  const [from, to] = [getNamedType(own), getNamedType(expected)];
  if (depthOf(own) > depthOf(expected)) return false;
  if (from.name === to.name) return true;
  return isScalarType(from) && isScalarType(to) && isTextual(to.name);
}

function depthOf(type: GraphQLType): number {
  const nullable = getNullableType(type);
  return isListType(nullable) ? 1 + depthOf(nullable.ofType as GraphQLType) : 0;
}

/** What the directives that flatten cannot do. */
function directivesFit(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      const has = (name: string): boolean => node.directives?.some((each) => each.name.value === name) === true;
      const report = (text: string): void => context.reportError(documentError(text, node));
      if (has('flatten') && node.selectionSet === undefined) {
        report(`"${node.name.value}" has no fields that could take its place; @flatten is for fields that have some`);
      }
      if (has('flatten') && has('singleton'))
        report('@flatten and @singleton exclude each other: the field is left out');
      if (has('slice') && has('first')) report('@slice and @first exclude each other: one value needs no slices');
      if (has('slice') && !isText(pathArgument(node))) report(NO_PATH);
    },
  };
}

const NO_PATH = '@slice needs the argument path, a FHIRPath as a text';

/** Returns the path of the field's `@slice`; undefined: the directive has none, or the field has no such directive. */
export function pathArgument(node: FieldNode): ValueNode | undefined {
  const slice = node.directives?.find(({ name }) => name.value === 'slice');
  return slice?.arguments?.find(({ name }) => name.value === 'path' || name.value === 'fhirpath')?.value;
}

function isText(value: ValueNode | undefined): boolean {
  return value?.kind === Kind.STRING || value?.kind === Kind.VARIABLE;
}

/** The path of `@slice`; undefined: there is no such directive. @throws GraphQLError where it is a variable without a value */
export function pathOf(node: FieldNode, variables: Readonly<Record<string, unknown>>): string | undefined {
  const value = pathArgument(node);
  if (value === undefined) return undefined;
  const path = value.kind === Kind.VARIABLE ? variables[value.name.value] : value.kind === Kind.STRING && value.value;
  if (typeof path === 'string') return path;
  throw documentError(NO_PATH, node);
}
