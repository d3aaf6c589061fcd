import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';

const many = (count: number, of: (i: number) => string): string => Array.from({ length: count }, (_, i) => of(i)).join(' '); // prettier-ignore

/** What is wrong with a request, the status and code of the answer, and what its message says. */
type Case = readonly [what: string, query: string, code: string, text: string];

const DOCUMENTS: readonly Case[] = [
  ['a syntax error', '{ Patient(', 'graphql-syntax', 'Syntax Error'],
  ['an empty document', ' ', 'graphql-syntax', 'Syntax Error'],
  ['a document without an operation', 'fragment F on Patient { id }', 'graphql-invalid', 'F'],
  ['an unknown field', '{ Patient(id: "a") { nothing } }', 'graphql-invalid', 'nothing'],
  ['an unknown field of the root', '{ NothingList { id } }', 'graphql-invalid', 'NothingList'],
  ['a field of another type', '{ Patient(id: "a") { valueQuantity { value } } }', 'graphql-invalid', 'valueQuantity'],
  ['an unknown argument', '{ PatientList(nothing: "x") { id } }', 'graphql-invalid', 'nothing'],
  ['an argument that is missing', '{ Patient { id } }', 'graphql-invalid', 'id'],
  ['an argument of another type', '{ PatientList(_count: "x") { id } }', 'graphql-invalid', 'Int cannot represent'],
  ['a negative count', '{ PatientList(_count: -1) { id } }', 'parameter-invalid', '_count'],
  ['a negative count of values', '{ Patient(id: "a") { name(_count: -1) { id } } }', 'parameter-invalid', '_count'],
  ['a negative offset of values', '{ Patient(id: "a") { name(_offset: -1) { id } } }', 'parameter-invalid', '_offset'],
  ['an unknown type', '{ Patient(id: "a") { ... on Nothing { id } } }', 'graphql-invalid', 'Nothing'],
  ['a type that is not possible', '{ Patient(id: "a") { ... on Group { id } } }', 'graphql-invalid', 'Group'],
  ['no selection of an object', '{ Patient(id: "a") { name } }', 'graphql-invalid', 'name'],
  ['a selection of a value', '{ Patient(id: "a") { id { x } } }', 'graphql-invalid', 'id'],
  ['a mutation', 'mutation { PatientDelete(id: "x") { id } }', 'graphql-invalid', 'mutation'],
  ['a subscription', 'subscription { Patient(id: "x") { id } }', 'graphql-invalid', 'subscription'],
  ['several operations', 'query A { Patient(id: "a") { id } } query B { Patient(id: "a") { id } }', 'graphql-invalid', 'operationName'], // prettier-ignore
  ['a fragment that is not there', '{ Patient(id: "a") { ...F } }', 'graphql-invalid', 'F'],
  ['a fragment within itself', '{ Patient(id: "a") { ...F } } fragment F on Patient { id ...F }', 'graphql-invalid', 'F'], // prettier-ignore
  ['an unknown directive', '{ Patient(id: "a") { id @nothing } }', 'graphql-invalid', 'nothing'],
  ['fields that cannot be one', '{ Patient(id: "a") { x: id x: gender } }', 'graphql-invalid', 'x'],
  ['a variable that is not declared', '{ Patient(id: $id) { id } }', 'graphql-invalid', '$id'],
  ['a variable that is not used', 'query($id: ID) { Patient(id: "a") { id } }', 'graphql-invalid', '$id'],
  ['a variable of an unknown type', 'query($id: Nothing) { Patient(id: $id) { id } }', 'graphql-invalid', 'Nothing'],
  ['@flatten of a value', '{ Patient(id: "a") { id @flatten } }', 'graphql-invalid', '@flatten'],
  ['@flatten with @singleton', '{ Patient(id: "a") { name @flatten @singleton { id } } }', 'graphql-invalid', '@singleton'], // prettier-ignore
  ['@slice with @first', '{ Patient(id: "a") { name @first @slice(path: "use") { id } } }', 'graphql-invalid', '@slice'], // prettier-ignore
  ['a list without alternatives', '{ PatientList(_id: []) { id } }', 'parameter-invalid', '_id'],
  ['a list of nulls', '{ PatientConnection(name: [null]) { count } }', 'parameter-invalid', 'name'],
  ['@slice without a path', '{ Patient(id: "a") { name @slice { id } } }', 'graphql-invalid', 'path'],
  ['a search value that is none', '{ PatientList(birthdate: "yesterday") { id } }', 'parameter-invalid', 'birthdate'],
  ['a FHIRPath that is none', '{ Patient(id: "a") { name(fhirpath: "(") { id } } }', 'parameter-invalid', 'FHIRPath'],
  ['a FHIRPath of another type', '{ PatientList(fhirpath: "nothing.exists()") { id } }', 'parameter-invalid', 'nothing'], // prettier-ignore
  ['an unknown _reference', '{ Patient(id: "a") { ObservationList(_reference: nothing) { id } } }', 'parameter-invalid', '_reference may be'], // prettier-ignore
  ['no _reference', '{ Patient(id: "a") { ObservationList { id } } }', 'graphql-invalid', '_reference'],
  ['a cursor with more', '{ PatientConnection(cursor: "x", _count: 3) { count } }', 'parameter-invalid', 'cursor'],
  ['too many levels', `{ Patient(id: "a") ${'{ extension '.repeat(30)}{ url }${' }'.repeat(30)} }`, 'graphql-limit', '25'], // prettier-ignore
  ['too many fields', `{ ${many(700, (i) => `a${i % 400}: Patient(id: "${i % 400}") { id active }`)} }`, 'graphql-limit', '2000'], // prettier-ignore
  ['too many aliases', `{ Patient(id: "a") { ${many(501, (i) => `a${i}: id`)} } }`, 'graphql-limit', '500'],
  ['too many tokens', `{ Patient(id: "a") { ${'id '.repeat(21_000)} } }`, 'graphql-limit', '20000'],
  ['too much nesting to be read', `{ a${'{a'.repeat(9000)}${'}'.repeat(9001)}`, 'graphql-limit', ''],
  ['too many resources', '{ PatientList(_count: 5000) { ObservationList(_reference: subject, _count: 100) { id } } }', 'graphql-limit', '_count'], // prettier-ignore
  ['a list longer than lists may be', '{ PatientList(_count: 5001) { id } }', 'graphql-limit', '5000'],
];

const VARIABLES: readonly (readonly [what: string, declared: string, variables: object, text: string])[] = [
  ['one that is missing', '$id: ID!', {}, '$id'],
  ['null where there has to be a value', '$id: ID!', { id: null }, '$id'],
  ['an object', '$id: ID!', { id: {} }, '$id'],
  ['a boolean', '$id: ID!', { id: true }, '$id'],
  ['one that may be null where it may not', '$id: Int', { id: [1] }, '$id'],
  ['a list', '$id: [ID!]!', { id: ['a'] }, '$id'],
];

/** What `$graphql` refuses, and how. https://hl7.org/fhir/R5/graphql.html#errors */
export function graphqlErrors(store: Store): void {
  const server = scopedServer(store);
  const send = (body: unknown, type = 'application/json', path = '/$graphql') =>
    server.all.send('POST', path, body, { 'content-type': type });
  const expectErrors = (answer: Awaited<ReturnType<typeof send>>, code: string, text: string): void => {
    expect(answer.status, answer.text).toBe(400);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    const { errors, ...others } = answer.json();
    expect(others).toEqual({});
    const [{ message, extensions }] = errors;
    expect(message).toContain(text);
    expect(extensions).toMatchObject({ code, resource: { resourceType: 'OperationOutcome', issue: [{ severity: 'error' }] } }); // prettier-ignore
    expect(answer.text).not.toMatch(/node_modules|\.js:\d/);
  };

  beforeAll(async () => {
    const patient = { resourceType: 'Patient', id: 'a', name: [{ given: ['A', 'B'] }, { given: ['C'] }] };
    expect((await server.all.send('PUT', '/Patient/a', patient)).status).toBe(201);
  });

  it.each(DOCUMENTS)('%s: 400', async (_what, query, code, text) => {
    expectErrors(await send({ query }), code, text);
    // What was refused once is refused again, with the same words.
    expect((await send({ query })).status).toBe(400);
  });

  it('says where in the document the error is', async () => {
    const { errors } = (await send({ query: '{\n  Patient(id: "a") { nothing }\n}' })).json();
    expect(errors).toMatchObject([{ locations: [{ line: 2, column: 22 }] }]);
  });

  it('names all errors of a document', async () => {
    const { errors } = (await send({ query: '{ Patient(id: "a") { one two } }' })).json();
    expect(errors).toHaveLength(2);
  });

  describe('variables', () => {
    it.each(VARIABLES)('%s: 400', async (_what, declared, variables, text) => {
      const query = `query(${declared}) { Patient(id: $id) { id } }`;
      expectErrors(await send({ query, variables }), 'graphql-invalid', text);
    });

    it.each([
      ['@include of a field', 'query($v: Boolean) { Patient(id: "a") { id active @include(if: $v) } }', '$v'],
      ['@skip of an inline fragment', 'query($v: Boolean) { Patient(id: "a") { id ... @skip(if: $v) { active } } }', '$v'], // prettier-ignore
      ['@include of a fragment', 'query($v: Boolean) { Patient(id: "a") { id ...F @include(if: $v) } } fragment F on Patient { active }', '$v'], // prettier-ignore
      ['an id', 'query($v: ID) { Patient(id: $v) { id } }', '$v'],
      ['the name of a type', 'query($v: String) { __type(name: $v) { name } }', '$v'],
    ])('a variable without a value in %s: 400', async (_what, query, text) => {
      expectErrors(await send({ query }), 'graphql-invalid', text);
      const answer = await send({ query, variables: { v: null } });
      expect(answer.status, answer.text).toBe(400);
    });

    it('an operation that the document does not have: 400', async () => {
      const query = 'query A { Patient(id: "a") { id } } query B { Patient(id: "a") { id } }';
      expectErrors(await send({ query, operationName: 'C' }), 'graphql-invalid', '"C"');
    });
  });

  describe('requests', () => {
    it.each<[string, unknown, string, string]>([
      ['no query', {}, 'parameter-invalid', 'query'],
      ['a query that is no text', { query: 1 }, 'parameter-invalid', 'query'],
      ['variables that are no object', { query: '{ Patient(id: "a") { id } }', variables: 'x' }, 'parameter-invalid', 'variables'], // prettier-ignore
      ['an operationName that is no text', { query: '{ Patient(id: "a") { id } }', operationName: {} }, 'parameter-invalid', 'operationName'], // prettier-ignore
    ])('%s: 400', async (_what, body, code, text) => {
      expectErrors(await send(body), code, text);
    });

    it('variables in the URL that are no JSON: 400', async () => {
      const answer = await server.all.send('GET', '/$graphql?query={Patient(id:"a"){id}}&variables={');
      expect(answer.status, answer.text).toBe(400);
      expectErrors(answer, 'parameter-invalid', '"variables"');
    });

    it('a body that is no object: 400', async () => expectErrors(await send([]), 'not-a-resource', '"query"'));

    it('no query in the URL, an unknown parameter: 400', async () => {
      for (const params of ['', '?nothing=1', '?query={Patient(id:"a"){id}}&nothing=1']) {
        expect((await server.all.send('GET', `/$graphql${params}`)).status).toBe(400);
      }
    });

    it('another method or type: 405, 415', async () => {
      expect((await server.all.send('DELETE', '/$graphql')).status).toBe(405);
      const form = await send('query=x', 'application/x-www-form-urlencoded');
      expect(form.status, form.text).toBe(415);
      expect(form.text).toContain('application/graphql');
    });

    it.each<[accept: string, type: string]>([
      ['application/graphql-response+json', 'application/graphql-response+json; charset=utf-8'],
      ['application/graphql-response+json, application/json;q=0.9', 'application/json; charset=utf-8'],
    ])('accepts %s', async (accept, type) => {
      const headers = { 'content-type': 'application/json', accept };
      const answer = await server.all.send('POST', '/$graphql', { query: '{ Patient(id: "a") { id } }' }, headers);
      expect([answer.status, answer.headers['content-type']]).toEqual([200, type]);
      expect((await server.all.send('GET', '/Patient/a', undefined, headers)).status).toBe(
        type.startsWith('application/json') ? 200 : 406,
      );
    });

    it('an instance that is not there: 404', async () => {
      const answer = await send({ query: '{ id }' }, 'application/json', '/Patient/none/$graphql');
      expect(answer.status).toBe(404);
    });
  });

  describe('what could not be had is null, beside the rest', () => {
    it.each<[string, string, object, string]>([
      ['a resource that is not there', '{ x: Patient(id: "none") { id } Patient(id: "a") { id } }', { x: null, Patient: { id: 'a' } }, 'not-found'], // prettier-ignore
      ['a cursor that is none', '{ PatientConnection(cursor: "x") { count } Patient(id: "a") { id } }', { PatientConnection: null, Patient: { id: 'a' } }, 'page-invalid'], // prettier-ignore
      ['several values of @singleton', '{ Patient(id: "a") { id name(_count: 1) @flatten { given @singleton } } }', { Patient: { id: 'a' } }, 'graphql-flatten'], // prettier-ignore
    ])('%s', async (_what, query, data, code) => {
      const answer = await send({ query });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.json()).toMatchObject({ data, errors: [{ extensions: { code } }] });
    });
  });

  it('a value that flattening brings to a name that has one is an error', async () => {
    const answer = await send({ query: '{ Patient(id: "a") { id name @flatten { id: given } } }' });
    expect(answer.status, answer.text).toBe(200);
    const { data, errors } = answer.json();
    expect(data.Patient.id).not.toEqual(['A', 'B', 'C']);
    expect(errors[0].extensions.code).toBe('graphql-flatten');
  });
}
