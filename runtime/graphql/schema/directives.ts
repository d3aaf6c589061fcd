import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  GraphQLString,
} from 'graphql';

/** Directives that flatten the answer. https://hl7.org/fhir/R5/graphql.html#flattening */
const FLATTEN = new GraphQLDirective({
  name: 'flatten',
  description: 'The field is left out; what is in it takes its place',
  locations: [DirectiveLocation.FIELD],
});

const FIRST = new GraphQLDirective({
  name: 'first',
  description: 'Only the first value of a list',
  locations: [DirectiveLocation.FIELD],
});

const SINGLETON = new GraphQLDirective({
  name: 'singleton',
  description: 'The field is one value, no list',
  locations: [DirectiveLocation.FIELD],
});

const SLICE = new GraphQLDirective({
  name: 'slice',
  description:
    'Each value of a list has a field of its own, whose name ends in "." and the result of a FHIRPath, or $index',
  locations: [DirectiveLocation.FIELD],
  args: {
    path: { type: GraphQLString, description: 'A FHIRPath on each value, or $index' },
    fhirpath: { type: GraphQLString, description: 'Another name of path' },
  },
});

/** All directives of the schema. */
export const DIRECTIVES: readonly GraphQLDirective[] = [
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  FLATTEN,
  FIRST,
  SINGLETON,
  SLICE,
];
