import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { neededBy, scopedServer } from '../../auth/scoped.js';
import { batch, responsesOf } from '../../bundles/bundle-server.js';
import type { Answer } from '../../server.js';

const PATIENT = {
  resourceType: 'Patient',
  id: 'example',
  active: true,
  identifier: [{ system: 'urn:oid:1.2.36.146.595.217.0.1', value: '12345' }],
  name: [
    { use: 'official', family: 'Chalmers', given: ['Peter', 'James'] },
    { use: 'usual', given: ['Jim'] },
    { use: 'maiden', family: 'Windsor', given: ['Peter', 'James'] },
  ],
  gender: 'male',
  birthDate: '1974-12-25',
  _birthDate: { extension: [{ url: 'urn:time', valueDateTime: '1974-12-25T14:35:45-05:00' }] },
  managingOrganization: { reference: '#o' },
  contained: [{ resourceType: 'Organization', id: 'o', name: 'Within' }],
};

const observation = (id: string, more: object = {}) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '1-1' }] },
  subject: { reference: 'Patient/example' },
  encounter: { reference: 'Encounter/e' },
  valueQuantity: { value: 1.5, unit: 'kg' },
  ...more,
});

const RESOURCES = [
  PATIENT,
  { resourceType: 'Patient', id: 'other', gender: 'female', name: [{ family: 'Other' }] },
  { resourceType: 'Encounter', id: 'e', status: 'completed', subject: { reference: 'Patient/example' } },
  observation('o1'),
  observation('o2', { subject: { reference: 'Patient/missing' } }),
  observation('o3', { subject: { reference: 'Patient/other' } }),
];

/** `$graphql`. https://hl7.org/fhir/R5/graphql.html */
export function graphql(store: Store): void {
  const server = scopedServer(store);
  const post = (query: string, more: object = {}, path = '/$graphql') =>
    server.all.send('POST', path, { query, ...more }, { 'content-type': 'application/json' });
  const onPatient = (query: string) => post(query, {}, '/Patient/example/$graphql');
  const dataOf = (answer: Answer) => {
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    const { data, errors } = answer.json();
    expect(errors, answer.text).toBeUndefined();
    return data;
  };

  beforeAll(async () => {
    for (const each of RESOURCES) {
      const { status, text } = await server.all.send('PUT', `/${each.resourceType}/${each.id}`, each);
      expect(status, text).toBe(201);
    }
  });

  describe('forms of requests', () => {
    const query = '{ Patient(id: example) { id active } }';
    const expected = { Patient: { id: 'example', active: true } };

    it('GET', async () =>
      expect(dataOf(await server.all.send('GET', `/$graphql?query=${encodeURIComponent(query)}`))).toEqual(expected));
    it('POST of JSON', async () => expect(dataOf(await post(query))).toEqual(expected));
    it('POST on a type', async () => expect(dataOf(await post(query, {}, '/Patient/$graphql'))).toEqual(expected));
    it('POST of the query', async () => {
      const headers = { 'content-type': 'application/graphql' };
      expect(dataOf(await server.all.send('POST', '/$graphql', query, headers))).toEqual(expected);
    });
    it('POST of Parameters', async () => {
      const body = { resourceType: 'Parameters', parameter: [{ name: 'query', valueString: query }] };
      expect(dataOf(await server.all.send('POST', '/$graphql', body))).toEqual(expected);
    });
    it('variables, operationName, aliases, fragments, @include and @skip', async () => {
      const text = `query A { Patient(id: "other") { id } }
        query B($id: ID!, $no: Boolean = false) {
          p: Patient(id: $id) { ...F gender @include(if: $no) birthDate @skip(if: $no) }
        }
        fragment F on Patient { id }`;
      expect(dataOf(await post(text, { operationName: 'B', variables: { id: 'example' } }))).toEqual({
        p: { id: 'example', birthDate: '1974-12-25' },
      });
    });
  });

  describe('variables', () => {
    const observed = (of: string, variables: object) => post(`query(${of}) { Observation(id: "o1") { subject { resource(type: $t) { id } } } }`, { variables }); // prettier-ignore
    it('name the type of a target', async () => {
      const expected = { Observation: { subject: { resource: { id: 'example' } } } };
      for (const of of ['$t: code', '$t: String!'])
        expect(dataOf(await observed(of, { t: 'Patient' }))).toEqual(expected);
      expect(dataOf(await observed('$t: code = "Patient"', {}))).toEqual(expected);
      expect(dataOf(await observed('$t: code', { t: 'Group' }))).toEqual({ Observation: { subject: {} } });
    });
    it('are the path of @slice', async () => {
      const query = 'query($p: String) { name @slice(path: $p) { family } }';
      const send = (variables: object) => post(query, { variables }, '/Patient/example/$graphql');
      expect(dataOf(await send({ p: 'use' }))).toMatchObject({ 'name.official': [{ family: 'Chalmers' }] });
      expect(dataOf(await send({ p: '$index' }))).toMatchObject({ 'name.0': [{ family: 'Chalmers' }] });
      for (const variables of [{}, { p: null }, { p: '(' }]) {
        const answer = await send(variables);
        expect(answer.status, answer.text).toBe(400);
      }
    });
    it('that are not used are an error', async () => {
      const answer = await post('query($v: ID) { Patient(id: "example") { id } }');
      expect(answer.status, answer.text).toBe(400);
      expect(answer.text).toContain('$v');
    });
  });

  describe('elements', () => {
    it('beside primitives, choices, filters', async () => {
      const query =
        '{ birthDate _birthDate { extension { valueDateTime } } name(use: official) { family } ' +
        'path: name(fhirpath: "family.exists()") { use } some: name(_offset: 1, _count: 1) { use } resourceType __typename }';
      expect(dataOf(await onPatient(query))).toEqual({
        birthDate: '1974-12-25',
        _birthDate: { extension: [{ valueDateTime: '1974-12-25T14:35:45-05:00' }] },
        name: [{ family: 'Chalmers' }],
        path: [{ use: 'official' }, { use: 'maiden' }],
        some: [{ use: 'usual' }],
        resourceType: 'Patient',
        __typename: 'Patient',
      });
    });
    it('@flatten, @first, @singleton and @slice as in the specification', async () => {
      const flat = '{ identifier @flatten { system value } active name @flatten { text given family } }';
      const common = { system: ['urn:oid:1.2.36.146.595.217.0.1'], value: ['12345'], active: true };
      expect(dataOf(await onPatient(flat))).toEqual({
        ...common,
        given: ['Peter', 'James', 'Jim', 'Peter', 'James'],
        family: ['Chalmers', 'Windsor'],
      });
      const first = '{ identifier @flatten { system value } active name @flatten { text given @first family } }';
      expect(dataOf(await onPatient(first))).toEqual({
        ...common,
        given: ['Peter', 'Jim', 'Peter'],
        family: ['Chalmers', 'Windsor'],
      });
      const single =
        '{ identifier @flatten { system @singleton value @singleton } name @flatten @first { text given family @singleton } }';
      expect(dataOf(await onPatient(single))).toEqual({
        system: 'urn:oid:1.2.36.146.595.217.0.1',
        value: '12345',
        given: ['Peter', 'James'],
        family: 'Chalmers',
      });
      const slice = '{ name @flatten @slice(path: "use") { given family @singleton } }';
      expect(dataOf(await onPatient(slice))).toEqual({
        'given.official': ['Peter', 'James'],
        'family.official': 'Chalmers',
        'given.usual': ['Jim'],
        'given.maiden': ['Peter', 'James'],
        'family.maiden': 'Windsor',
      });
    });
  });

  describe('references and searches', () => {
    it('contained and reverse', async () => {
      const query =
        '{ managingOrganization { resource { ... on Organization { name } } } ObservationList(_reference: subject) { id encounter { resource { status } } } }';
      expect(dataOf(await onPatient(query))).toEqual({
        managingOrganization: { resource: { name: 'Within' } },
        ObservationList: [{ id: 'o1', encounter: { resource: { status: 'completed' } } }],
      });
    });
    it('of several resources at once, each with its own', async () => {
      const query = '{ PatientList(_sort: "_id") { id ObservationList(_reference: subject) { id } } }';
      expect(dataOf(await post(query))).toEqual({
        PatientList: [
          { id: 'example', ObservationList: [{ id: 'o1' }] },
          { id: 'other', ObservationList: [{ id: 'o3' }] },
        ],
      });
    });
    it('by the type of the target', async () => {
      const query =
        '{ Observation(id: "o1") { subject { resource(type: Patient) { birthDate } resource(type: Group) { name } } a: subject { resource { active } } } }';
      expect(dataOf(await post(query))).toEqual({
        Observation: { subject: { resource: { birthDate: '1974-12-25' } }, a: { resource: { active: true } } },
      });
    });
    it('a target that is not there is an error, unless it is optional', async () => {
      const answer = (await post('{ Observation(id: "o2") { id subject { resource { id } } } }')).json();
      expect(answer.data).toEqual({ Observation: { id: 'o2', subject: { resource: null } } });
      expect(answer.errors[0]).toMatchObject({ path: ['Observation', 'subject', 'resource'] });
      expect(answer.errors[0].extensions.resource.resourceType).toBe('OperationOutcome');
      const query = '{ Observation(id: "o2") { id subject { reference resource(optional: true) { id } } } }';
      expect(dataOf(await post(query))).toEqual({
        Observation: { id: 'o2', subject: { reference: 'Patient/missing' } },
      });
    });
    it('a variable of the type String for a token, and lists', async () => {
      const query =
        'query($g: String) { PatientList(gender: $g) { id } both: PatientList(gender: ["male", "female"]) { id } }';
      const data = dataOf(await post(query, { variables: { g: 'female' } }));
      expect(data.PatientList).toEqual([{ id: 'other' }]);
      expect(data.both).toHaveLength(2);
    });
    it('connections with cursors', async () => {
      const part = '{ count offset pagesize edges { mode resource { id } } first previous next last }';
      const first = dataOf(await post(`{ PatientConnection(_sort: "_id", _count: 1) ${part} }`)).PatientConnection;
      expect(first).toMatchObject({
        count: 2,
        offset: 0,
        pagesize: 1,
        edges: [{ mode: 'match', resource: { id: 'example' } }],
      });
      expect(first.previous).toBeUndefined();
      const go = async (cursor: string) =>
        dataOf(await post(`query($c: ID) { PatientConnection(cursor: $c) ${part} }`, { variables: { c: cursor } }))
          .PatientConnection;
      const second = await go(first.next);
      expect(second).toMatchObject({ count: 2, offset: 1, edges: [{ resource: { id: 'other' } }] });
      expect((await go(second.previous)).edges[0].resource.id).toBe('example');
      expect((await go(first.last)).edges[0].resource.id).toBe('other');
    });
  });

  describe('errors', () => {
    it.each([
      ['what cannot be parsed', '{ Patient(', 'graphql-syntax'],
      ['an unknown field', '{ Patient(id: "example") { nothing } }', 'graphql-invalid'],
      ['an unknown argument', '{ PatientList(nothing: "x") { id } }', 'graphql-invalid'],
      ['a value that is none', '{ PatientList(birthdate: "yesterday") { id } }', 'parameter-invalid'],
      ['a mutation', 'mutation { PatientDelete(id: "x") { id } }', 'graphql-invalid'],
    ])('%s: 400', async (_what, query, code) => {
      const answer = await post(query);
      expect(answer.status, answer.text).toBe(400);
      const [error] = answer.json().errors;
      expect(error.extensions).toMatchObject({ code, resource: { resourceType: 'OperationOutcome' } });
      expect(answer.json()).not.toHaveProperty('data');
    });
    it('a resource that is not there is null beside what is', async () => {
      const answer = await post('{ a: Patient(id: "none") { id } Patient(id: "example") { id } }');
      expect(answer.status).toBe(200);
      expect(answer.json()).toMatchObject({ data: { a: null, Patient: { id: 'example' } }, errors: [{ path: ['a'] }] });
    });
    it('fields within each other beyond the limit', async () => {
      const query = `{ Patient(id: "example") ${'{ extension '.repeat(30)}{ url }${' }'.repeat(30)} }`;
      const answer = await post(query);
      expect(answer.status).toBe(400);
      expect(answer.json().errors[0].extensions.code).toBe('graphql-limit');
    });
  });

  describe('scopes', () => {
    const as = (scopes: string, query: string) =>
      server.as(scopes).send('POST', '/$graphql', { query }, { 'content-type': 'application/json' });

    it('what is asked for by name is refused before anything is read', async () => {
      const answer = await as('system/Patient.rs', '{ Patient(id: "none") { id } ObservationList { id } }');
      expect(neededBy(answer)).toContain('system/Observation.s');
    });
    it('the target of a reference without r is null, with an error', async () => {
      const answer = await as('system/Observation.rs', '{ Observation(id: "o1") { subject { resource { id } } } }');
      expect(answer.status).toBe(200);
      expect(answer.json()).toMatchObject({
        data: { Observation: { subject: { resource: null } } },
        errors: [{ extensions: { code: 'scope-missing' } }],
      });
    });
    it('constraints are conjuncts', async () => {
      const answer = await as(
        'system/Patient.rs?gender=female',
        '{ PatientList { id } Patient(id: "example") { id } }',
      );
      expect(answer.json()).toMatchObject({
        data: { PatientList: [{ id: 'other' }], Patient: null },
        errors: [{ extensions: { code: 'not-found' } }],
      });
    });
  });

  describe('examples of the specification (graphql.html)', () => {
    it.each<[string, object]>([
      ['{ name { text given family } }', { name: [{ given: ['Peter', 'James'], family: 'Chalmers' }, { given: ['Jim'] }, { given: ['Peter', 'James'], family: 'Windsor' }] }], // prettier-ignore
      ['{ birthDate _birthDate { extension { valueDateTime } } }', { birthDate: '1974-12-25', _birthDate: { extension: [{ valueDateTime: '1974-12-25T14:35:45-05:00' }] } }], // prettier-ignore
      ['{ name(fhirpath: "family.exists()") { text given family } }', { name: [{ given: ['Peter', 'James'], family: 'Chalmers' }, { given: ['Peter', 'James'], family: 'Windsor' }] }], // prettier-ignore
      ['{ name(use: official) { text given family } }', { name: [{ given: ['Peter', 'James'], family: 'Chalmers' }] }],
      ['{ identifier { system value } active }', { identifier: PATIENT.identifier, active: true }],
      ['{ name @flatten @slice(path: "$index") { given family @singleton } }', { 'given.0': ['Peter', 'James'], 'family.0': 'Chalmers', 'given.1': ['Jim'], 'given.2': ['Peter', 'James'], 'family.2': 'Windsor' }], // prettier-ignore
      ['{ name @slice(path: "$index") @flatten { given @first @singleton family } }', { 'given.0': 'Peter', 'family.0': ['Chalmers'], 'given.1': 'Jim', 'given.2': 'Peter', 'family.2': ['Windsor'] }], // prettier-ignore
      ['{ name { given } ObservationList(_reference: patient) { id } }', { name: [{ given: ['Peter', 'James'] }, { given: ['Jim'] }, { given: ['Peter', 'James'] }], ObservationList: [{ id: 'o1' }] }], // prettier-ignore
      ['{ ObservationConnection(_reference: patient) { count offset edges { mode resource { id } } } }', { ObservationConnection: { count: 1, offset: 0, edges: [{ mode: 'match', resource: { id: 'o1' } }] } }], // prettier-ignore
    ])('on a Patient: %s', async (query, expected) => {
      expect(dataOf(await onPatient(query))).toEqual(expected);
    });
    it.each<[string, object]>([
      ['{ valueQuantity { value unit } }', { valueQuantity: { value: 1.5, unit: 'kg' } }],
      ['{ subject { reference, resource { ... on Patient { active } } } }', { subject: { reference: 'Patient/example', resource: { active: true } } }], // prettier-ignore
      ['{ subject { reference, resource { active } } }', { subject: { reference: 'Patient/example', resource: { active: true } } }], // prettier-ignore
      ['{ id subject { reference resource { ... on Patient { birthDate } ... on Group { name } } } code { coding { system code } } }', { id: 'o1', subject: { reference: 'Patient/example', resource: { birthDate: '1974-12-25' } }, code: { coding: [{ system: 'http://loinc.org', code: '1-1' }] } }], // prettier-ignore
      ['{ id subject { reference resource(type: Patient) { birthDate } resource(type: Practitioner) { active } } }', { id: 'o1', subject: { reference: 'Patient/example', resource: { birthDate: '1974-12-25' } } }], // prettier-ignore
    ])('on an Observation: %s', async (query, expected) => {
      expect(dataOf(await post(query, {}, '/Observation/o1/$graphql'))).toEqual(expected);
    });
    it.each<[string, object]>([
      ['{ Patient(id: example) { id, active } }', { Patient: { id: 'example', active: true } }],
      ['{ ObservationList(status: final, patient: example) { id, status } }', { ObservationList: [{ id: 'o1', status: 'final' }] }], // prettier-ignore
      ['{ ObservationList(_id: [o1, o3], _sort: "_id") { id } }', { ObservationList: [{ id: 'o1' }, { id: 'o3' }] }],
      [
        '{ PatientList(name: "chal") { name(use: usual) { given } } }',
        { PatientList: [{ name: [{ given: ['Jim'] }] }] },
      ],
      ['{ PatientList(fhirpath: "name.count() > 1") { id } }', { PatientList: [{ id: 'example' }] }],
      ['{ PatientList(_filter: "birthdate ge 1974 and birthdate lt 1975") { id } }', { PatientList: [{ id: 'example' }] }], // prettier-ignore
      ['{ PatientList(_filter: "gender eq female") { id } }', { PatientList: [{ id: 'other' }] }],
      ['{ ObservationConnection(status: final, patient: example) { count offset pagesize edges { mode, resource { id } } } }', { ObservationConnection: { count: 1, offset: 0, pagesize: 20, edges: [{ mode: 'match', resource: { id: 'o1' } }] } }], // prettier-ignore
    ])('on the system: %s', async (query, expected) => {
      expect(dataOf(await post(query))).toEqual(expected);
    });
    it('@singleton with several values is an error', async () => {
      const answer = await onPatient('{ name @flatten { given @singleton } }');
      expect(answer.json().errors[0].extensions.resource.resourceType).toBe('OperationOutcome');
    });
  });

  it('a connection without matches has empty edges', async () => {
    const query = '{ PatientConnection(name: "zzzz") { count edges { resource { id } } } }';
    expect(dataOf(await post(query))).toEqual({ PatientConnection: { count: 0, edges: [] } });
  });

  it('a connection does not count what its FHIRPath leaves out', async () => {
    const query = '{ PatientConnection(fhirpath: "name.count() > 1") { count edges { resource { id } } } }';
    expect(dataOf(await post(query))).toEqual({ PatientConnection: { edges: [{ resource: { id: 'example' } }] } });
  });

  it('an entry of a batch', async () => {
    const query = encodeURIComponent('{ Patient(id: example) { active } }');
    const get = { request: { method: 'GET', url: `$graphql?query=${query}` } };
    const resource = { resourceType: 'Parameters', parameter: [{ name: 'query', valueString: '{ active }' }] };
    const sent = { request: { method: 'POST', url: 'Patient/example/$graphql' }, resource };
    const responses = responsesOf(await server.all.send('POST', '/', batch(get, sent)));
    expect(responses.map(({ status }) => status)).toEqual(['200 OK', '200 OK']);
    const { entry } = (await server.all.send('POST', '/', batch(get, sent))).json();
    const texts = entry.map(({ resource: { data } }: { resource: { data: string } }) => Buffer.from(data, 'base64').toString()); // prettier-ignore
    expect(texts.map((text: string) => JSON.parse(text).data)).toEqual([{ Patient: { active: true } }, { active: true }]); // prettier-ignore
  });

  it('introspection', async () => {
    const query =
      '{ __schema { queryType { name } types { name kind fields { name args { name } } } } __type(name: "Patient") { name } }';
    const data = dataOf(await post(query));
    expect(data.__schema.queryType.name).toBe('Query');
    expect(data.__type.name).toBe('Patient');
    expect(data.__schema.types.length).toBeGreaterThan(500);
    // The second time the answer is known; another query is not taken for it.
    expect(dataOf(await post(query))).toEqual(data);
    expect(dataOf(await post('query($t: String!) { __type(name: $t) { name } }', { variables: { t: 'Group' } }))).toEqual({ __type: { name: 'Group' } }); // prettier-ignore
    expect(dataOf(await post('query($t: String!) { __type(name: $t) { name } }', { variables: { t: 'Basic' } }))).toEqual({ __type: { name: 'Basic' } }); // prettier-ignore
    expect(dataOf(await onPatient('{ __typename __type(name: "Group") { name } }'))).toEqual({ __typename: 'Patient', __type: { name: 'Group' } }); // prettier-ignore
  });
}
