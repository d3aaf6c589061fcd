import { beforeAll, describe, expect, it } from 'vitest';
import { routesOf } from '../../../generator/emit/routes.js';
import type { Model, OperationModel } from '../../../generator/model/model.js';
import { PATIENCE } from '../command.js';
import { ourModel } from '../our-model.js';

let model: Model;
let routes: ReadonlyMap<string, string>;
beforeAll(async () => {
  model = await ourModel();
  routes = new Map(
    routesOf(model).map(({ method, path, interaction, operation }) => [`${method} ${path}`, operation ?? interaction]),
  );
}, PATIENCE);

const operation = (id: string): OperationModel => model.operations.find((each) => each.id === id)!;
const named = (name: string): string[] => model.operations.filter((each) => each.name === name).map(({ id }) => id);

describe('routes (http.html)', () => {
  it.each([
    ['GET metadata', 'capabilities'],
    ['POST ', 'bundle'],
    ['GET ', 'search-system'],
    ['POST _search', 'search-system'],
    ['DELETE ', 'conditional-delete'],
    ['GET _history', 'history-system'],
    ['GET [type]', 'search-type'],
    ['POST [type]/_search', 'search-type'],
    ['POST [type]', 'create'],
    ['PUT [type]', 'conditional-update'],
    ['PATCH [type]', 'conditional-patch'],
    ['DELETE [type]', 'conditional-delete'],
    ['GET [type]/_history', 'history-type'],
    ['GET [type]/[id]', 'read'],
    ['PUT [type]/[id]', 'update'],
    ['PATCH [type]/[id]', 'patch'],
    ['DELETE [type]/[id]', 'delete'],
    ['GET [type]/[id]/_history', 'history-instance'],
    ['GET [type]/[id]/_history/[vid]', 'vread'],
    ['DELETE [type]/[id]/_history', 'delete-history'],
    ['DELETE [type]/[id]/_history/[vid]', 'delete-history-version'],
    ['GET Patient/[id]/*', 'search-compartment'],
    ['GET Patient/[id]/Observation', 'search-compartment'],
    ['POST Patient/[id]/Observation/_search', 'search-compartment'],
  ])('%s is %s', (route, interaction) => {
    expect(routes.get(route)).toBe(interaction);
  });

  it('are each there once', () => {
    expect(routes.size).toBe(routesOf(model).length);
  });

  it('of every type do not stand in the way of those of one', () => {
    const general = [...routes.keys()].filter((route) => route.includes(' [type]'));
    const shadowed = [...routes.keys()].filter((route) => {
      const type = / ([A-Z][A-Za-z]+)/.exec(route)?.[1];
      return type !== undefined && general.includes(route.replace(type, '[type]'));
    });
    expect(shadowed).toEqual([]);
  });

  it('lead into a compartment only where the type may be in it', () => {
    expect(routes.has('GET Patient/[id]/Organization')).toBe(false);
    expect(routes.has('GET Organization/[id]/Patient')).toBe(false);
  });
});

describe('compartments (compartmentdefinition.html)', () => {
  it('are five, that of a patient has 73 types', () => {
    expect(model.compartments.map(({ type }) => type)).toEqual([
      'Device',
      'Encounter',
      'Patient',
      'Practitioner',
      'RelatedPerson',
    ]);
    const patient = model.compartments.find(({ type }) => type === 'Patient')!;
    expect(Object.keys(patient.members)).toHaveLength(73);
    expect(patient.members['Observation']).toEqual(['performer', 'subject']);
    expect(patient.members['Patient']).toEqual(['link', '{def}']);
  });
});

describe('operations (operations.html)', () => {
  it('are the 59 of the release and 34 of our own', () => {
    expect(model.operations.filter(({ own }) => !own)).toHaveLength(59);
    expect(model.operations.filter(({ own }) => own)).toHaveLength(34);
  });

  it('$everything is five operations, each on its type', () => {
    expect(named('everything')).toEqual([
      'Encounter-everything',
      'EpisodeOfCare-everything',
      'Group-everything',
      'MedicinalProductDefinition-everything',
      'Patient-everything',
    ]);
    expect(operation('Patient-everything')).toMatchObject({ levels: ['type', 'instance'], methods: ['GET', 'POST'] });
    expect(routes.get('GET Patient/[id]/$everything')).toBe('Patient-everything');
    expect(routes.get('GET Encounter/[id]/$everything')).toBe('Encounter-everything');
    expect(routes.has('GET Encounter/$everything')).toBe(false);
    expect(routes.has('GET Observation/[id]/$everything')).toBe(false);
  });

  it('$validate is on every type and instance; what it is given in a body alone makes it no less safe', () => {
    expect(operation('Resource-validate')).toMatchObject({ levels: ['type', 'instance'], methods: ['GET', 'POST'] });
    expect(operation('Resource-validate')).not.toHaveProperty('types');
    expect(routes.get('POST [type]/$validate')).toBe('Resource-validate');
    expect(routes.get('POST [type]/[id]/$validate')).toBe('Resource-validate');
    expect(routes.has('POST $validate')).toBe(false);
  });

  it('$meta is also on a version, and so are $meta-add and $meta-delete; those that change are POST alone', () => {
    expect(operation('Resource-meta').levels).toEqual(['system', 'type', 'instance', 'version']);
    expect(operation('Resource-meta-add')).toMatchObject({ levels: ['instance', 'version'], methods: ['POST'] });
    expect(operation('Resource-meta-delete')).toMatchObject({ levels: ['instance', 'version'], methods: ['POST'] });
    expect(routes.get('GET [type]/[id]/_history/[vid]/$meta')).toBe('Resource-meta');
    expect(routes.has('GET [type]/[id]/$meta-add')).toBe(false);
  });

  it('$export is three definitions: of the system, of patients, of a group (Bulk Data Access IG)', () => {
    expect(named('export')).toEqual(['export', 'group-export', 'patient-export']);
    expect(operation('export')).toMatchObject({ levels: ['system'] });
    expect(operation('group-export')).toMatchObject({ levels: ['instance'], types: ['Group'] });
    expect(operation('patient-export')).toMatchObject({ types: ['Patient'] });
    expect(routes.get('GET $export')).toBe('export');
    expect(routes.get('GET Patient/$export')).toBe('patient-export');
    expect(routes.get('GET Group/[id]/$export')).toBe('group-export');
    expect(routes.has('GET Group/$export')).toBe(false);
  });

  it('of an interface are of every type that implements it', () => {
    const { types } = operation('CanonicalResource-current-canonical');
    expect(types).toContain('ValueSet');
    expect(types).toContain('ActivityDefinition');
    expect(types).not.toContain('CanonicalResource');
    expect(types).not.toContain('Patient');
  });

  it('are GET only while safe and with primitive parameters alone required (operations.html#request)', () => {
    expect(operation('ValueSet-expand').methods).toEqual(['GET', 'POST']);
    expect(operation('Patient-match').methods).toEqual(['POST']);
    expect(operation('Resource-convert').methods).toEqual(['POST']);
    const unsafe = model.operations.filter(
      ({ affectsState, methods, own }) => affectsState && !own && methods.length > 1,
    );
    expect(unsafe).toEqual([]);
  });
});
