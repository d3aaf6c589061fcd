import {
  GraphQLBoolean,
  GraphQLError,
  GraphQLID,
  GraphQLInt,
  GraphQLScalarType,
  GraphQLString,
  Kind,
  type ValueNode,
} from 'graphql';

import type { SearchType } from '../../contract/search.js';

/** Primitive types that GraphQL has itself. */
const BUILT_IN: Readonly<Record<string, GraphQLScalarType>> = {
  boolean: GraphQLBoolean,
  string: GraphQLString,
  integer: GraphQLInt,
  id: GraphQLID,
};

/** Search types whose values are plain texts of GraphQL. */
const STRINGS: ReadonlySet<string> = new Set<SearchType>(['string']);

const made = new Map<string, GraphQLScalarType>();

/** The scalar of a primitive type. https://hl7.org/fhir/R5/graphql.html#fields */
export function primitiveScalar(type: string): GraphQLScalarType {
  return BUILT_IN[type] ?? named(type, `The primitive type ${type} of FHIR`);
}

/** The scalar that values of search parameters are written in. */
export function searchScalar(type: SearchType): GraphQLScalarType {
  return STRINGS.has(type) ? GraphQLString : named(type, `A value of FHIR as a text, or of a search parameter`);
}

/** Whether a scalar takes any text, so that a variable of another such type may take its place. */
export function isTextual(name: string): boolean {
  return name !== 'Boolean' && name !== 'Int' && name !== 'Float';
}

function named(name: string, description: string): GraphQLScalarType {
  let scalar = made.get(name);
  if (scalar === undefined) {
    made.set(name, (scalar = new GraphQLScalarType({ name, description, parseValue: textOf, parseLiteral })));
  }
  return scalar;
}

/** Clients may give a text, a number or a boolean: all of them are texts in a search. */
function textOf(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new GraphQLError('A value of FHIR is a text, a number or a boolean');
}

function parseLiteral(node: ValueNode): string {
  if (node.kind === Kind.BOOLEAN) return String(node.value);
  if (node.kind === Kind.STRING || node.kind === Kind.ENUM || node.kind === Kind.INT || node.kind === Kind.FLOAT) {
    return node.value;
  }
  throw new GraphQLError('A value of FHIR is a text, a number or a boolean', { nodes: node });
}
