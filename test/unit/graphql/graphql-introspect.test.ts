import { executeSync, getIntrospectionQuery, parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { readDocument } from '../../../runtime/graphql/document/read-document.js';
import { introspector } from '../../../runtime/graphql/introspect.js';
import { plannerOf } from '../../../runtime/graphql/plan/planner.js';
import { describedTypes } from '../../../runtime/graphql/schema/schema.js';

function written(query: string, variables: Record<string, boolean> = {}): string {
  const valid = readDocument({ query, variables }, undefined, tables);
  const planner = plannerOf(valid);
  return [...introspector(valid, planner, undefined, tables).text(planner.root())].join('');
}

/** What the library answers on the same types. */
function expected(query: string, variableValues: Record<string, boolean> = {}): string {
  const schema = describedTypes(tables).schemaOf();
  return JSON.stringify(executeSync({ schema, document: parse(query), variableValues }));
}

describe('introspection is what the library makes of the schema', () => {
  it('what the standard query asks of a type', () => {
    const query = getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true });
    const types = ['Query', 'Patient', 'Observation', 'BundleEntry', 'Reference', 'Resource', 'code', 'PatientConnection', '__Type']; // prettier-ignore
    const asked = types.map((name, i) => `t${i}: __type(name: "${name}") { ...FullType }`).join(' ');
    const document = `{ ${asked} } ${query.slice(query.indexOf('fragment FullType'))}`;
    expect(written(document)).toBe(expected(document));
  });

  it.each([
    '{ __schema { queryType { name } mutationType { name } directives { name args { name type { name } defaultValue } locations } } }',
    '{ a: __type(name: "Patient") { __typename n: name kind fields { name args { name } } } b: __type(name: "Nothing") { name } }',
    '{ __type(name: "Resource") { kind fields { name } possibleTypes { name interfaces { name } } interfaces { name } enumValues { name } } }',
    // What a fragment selects is merged with what is beside it, which differs from place to place.
    '{ a: __type(name: "Basic") { ...F fields { type { kind } } } b: __type(name: "Basic") { ...F } } fragment F on __Type { fields { type { name } } }',
    '{ __type(name: "Basic") { fields { args { name } args { type { name ofType { name } } } more: args { name } } } }',
  ])('%s', (query) => {
    expect(written(query)).toBe(expected(query));
  });

  it.each([true, false])('with a variable: %s', (v) => {
    const query = 'query($v: Boolean!) { __type(name: "Basic") { name @skip(if: $v) fields { name @include(if: $v) type { name } } } }'; // prettier-ignore
    expect(written(query, { v })).toBe(expected(query, { v }));
  });
});
