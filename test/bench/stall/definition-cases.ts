import { get, many, parameters, put, send, type HostileRequest, type StallCase } from './stall-case.js';

const CORE = 'http://hl7.org/fhir/StructureDefinition/';

/** A profile on a type, by its differential. */
function profile(id: string, type: string, element: readonly object[]): { resourceType: string; id: string } {
  const url = `http://bench.example/StructureDefinition/${id}`;
  return {
    resourceType: 'StructureDefinition',
    id,
    ...{ url, name: 'Bench', status: 'draft', kind: 'resource', abstract: false, type },
    ...{ baseDefinition: CORE + type, derivation: 'constraint', differential: { element } },
  };
}

const sliced = (count: number, more: object = {}): object[] => [
  {
    id: 'Patient.identifier',
    path: 'Patient.identifier',
    slicing: { discriminator: [{ type: 'value', path: 'system' }], rules: 'open' },
  },
  ...many(count, (n) => ({
    id: `Patient.identifier:s${n}`,
    path: 'Patient.identifier',
    sliceName: `s${n}`,
    min: 0,
    max: '1',
    ...more,
  })),
];

const withChildren = (count: number): object[] => [
  sliced(0)[0]!,
  ...many(count, (n) => [
    { id: `Patient.identifier:s${n}`, path: 'Patient.identifier', sliceName: `s${n}`, min: 0, max: '1' },
    { id: `Patient.identifier:s${n}.system`, path: 'Patient.identifier.system', patternUri: `urn:x:${n}` },
  ]).flat(),
];

const snapshot = (definition: object): HostileRequest =>
  parameters('/StructureDefinition/$snapshot', [{ name: 'definition', resource: definition }]);

const names = (count: number, of: string): object[] => many(count, (n) => ({ family: `${of} ${n}`, given: ['x'] }));
const patient = (id: string, more: object): { resourceType: string; id: string } => ({
  resourceType: 'Patient',
  id,
  ...more,
});

/** Two versions of a patient, and what differs between them. */
function difference(name: string, from: () => object, to: () => object, status = 200): StallCase {
  const id = `diff-${name.replaceAll(/\W/g, '-')}`;
  return {
    name: `$diff of ${name}`,
    before: () => [put(patient(id, from())), put(patient(id, to()))],
    requests: () => [get(`/Patient/${id}/$diff`)],
    status,
  };
}

/** Whole definitions, their snapshots and validations by them, and differences of large resources. */
export const DEFINITION_CASES: readonly StallCase[] = [
  {
    name: '$snapshot of 20,000 slices',
    requests: () => [snapshot(profile('slices', 'Patient', sliced(20_000)))],
    status: 422,
  },
  {
    name: '$snapshot of 4,000 slices',
    requests: () => [snapshot(profile('slices', 'Patient', sliced(4000)))],
    status: 422,
  },
  {
    name: '$snapshot of 2,000 slices with elements',
    requests: () => [snapshot(profile('slices', 'Patient', withChildren(2000)))],
    status: 422,
  },
  {
    name: '$snapshot of 10,000 slices of extensions',
    requests: () => [
      snapshot(
        profile(
          'extensions',
          'Patient',
          many(10_000, (n) => ({
            id: `Patient.extension:s${n}`,
            path: 'Patient.extension',
            sliceName: `s${n}`,
            type: [{ code: 'Extension', profile: [`${CORE}patient-birthPlace`] }],
          })),
        ),
      ),
    ],
    status: 422,
  },
  {
    name: '$snapshot of an element 20,000 times',
    requests: () => [
      snapshot(
        profile(
          'again',
          'Patient',
          many(20_000, () => ({ id: 'Patient.name', path: 'Patient.name', short: 'x' })),
        ),
      ),
    ],
    status: 422,
  },
  {
    name: '$snapshot of 20,000 constraints',
    requests: () => [
      snapshot(
        profile('rules', 'Patient', [
          {
            id: 'Patient',
            path: 'Patient',
            constraint: many(20_000, (n) => ({ key: `k-${n}`, severity: 'error', human: 'x', expression: 'true' })),
          },
        ]),
      ),
    ],
    status: 200,
  },
  {
    name: '$snapshot of 20,000 mappings',
    requests: () => [
      snapshot(
        profile('maps', 'Patient', [
          { id: 'Patient', path: 'Patient', mapping: many(20_000, (n) => ({ identity: 'rim', map: `${n}` })) },
        ]),
      ),
    ],
    status: 200,
  },
  {
    name: '$snapshot of 10,000 types',
    requests: () => [
      snapshot(
        profile('types', 'Patient', [
          { id: 'Patient.extension', path: 'Patient.extension', type: many(10_000, () => ({ code: 'Extension' })) },
        ]),
      ),
    ],
    status: 200,
  },
  {
    name: '$snapshot of a logical model of 20,000 elements',
    requests: () => [
      snapshot({
        ...profile(
          'model',
          'Element',
          many(20_000, (n) => ({
            id: `Element.e${n}`,
            path: `Element.e${n}`,
            min: 0,
            max: '1',
            type: [{ code: 'string' }],
          })),
        ),
        derivation: 'specialization',
        kind: 'logical',
        type: 'http://bench.example/model',
      }),
    ],
    status: 422,
  },
  {
    name: 'a profile of 2,000 slices',
    requests: () => [put(profile('stored', 'Patient', withChildren(2000)))],
    status: 422,
  },
  {
    name: 'a profile of 20,000 slices',
    requests: () => [put(profile('stored-many', 'Patient', sliced(20_000)))],
    status: 422,
  },
  {
    name: '$validate of 5,000 identifiers by 2,000 slices',
    requests: () => [
      send(
        'POST',
        '/Patient/$validate?profile=http://bench.example/StructureDefinition/stored',
        patient('x', { identifier: many(5000, (n) => ({ system: `urn:x:${n}`, value: 'x' })) }),
      ),
    ],
    status: 200,
  },
  {
    name: '$validate by 20,000 slices',
    requests: () => [
      send(
        'POST',
        '/Patient/$validate?profile=http://bench.example/StructureDefinition/stored-many',
        patient('x', { identifier: many(1000, (n) => ({ system: `urn:x:${n}`, value: 'x' })) }),
      ),
    ],
    status: 200,
  },
  {
    name: '$validate by a costly rule',
    before: () => [
      put(
        profile('rule', 'Patient', [
          {
            id: 'Patient',
            path: 'Patient',
            constraint: [
              {
                key: 'k-1',
                severity: 'error',
                human: 'x',
                expression:
                  'name.all(%resource.name.where(family = $this.family).count() < 5 and %resource.descendants().count() > 0)',
              },
            ],
          },
        ]),
      ),
    ],
    requests: () => [
      send(
        'POST',
        '/Patient/$validate?profile=http://bench.example/StructureDefinition/rule',
        patient('x', { name: names(2000, 'Family') }),
      ),
    ],
    status: 200,
    known: 'a rule of a stored profile takes as long as the FHIRPath library may',
  },
  difference(
    '20,000 names',
    () => ({ name: names(20_000, 'A') }),
    () => ({ name: names(20_000, 'B') }),
    422,
  ),
  difference(
    '20,000 names turned around',
    () => ({ name: names(20_000, 'A') }),
    () => ({ name: names(20_000, 'A').reverse() }),
    422,
  ),
  difference(
    '10,000 names of which each second is new',
    () => ({ name: names(10_000, 'A') }),
    () => ({ name: names(10_000, 'A').map((each, n) => (n % 2 === 0 ? each : { family: `B ${n}` })) }),
    422,
  ),
  difference(
    '10,000 names, a new one between each',
    () => ({ name: names(10_000, 'A') }),
    () => ({ name: names(10_000, 'A').flatMap((each, n) => [each, { family: `B ${n}` }]) }),
    422,
  ),
  difference(
    '500 names by 500 others',
    () => ({ name: names(499, 'A') }),
    () => ({ name: names(500, 'B') }),
  ),
  difference(
    '2,000 contacts of 50 names',
    () => ({
      contact: many(2000, (n) => ({ name: { text: 'x' }, relationship: many(50, (m) => ({ text: `${n} ${m}` })) })),
    }),
    () => ({
      contact: many(2000, (n) => ({
        name: { text: 'x' },
        relationship: many(50, (m) => ({ text: `${n} ${50 - m}` })),
      })),
    }),
    422,
  ),
  difference(
    'nested lists of 400 items',
    () => ({
      contact: many(20, (n) => ({ id: `c${n}`, telecom: many(450, (m) => ({ system: 'phone', value: `A ${m}` })) })),
    }),
    () => ({
      contact: many(20, (n) => ({ id: `c${n}`, telecom: many(450, (m) => ({ system: 'phone', value: `B ${m}` })) })),
    }),
    422,
  ),
  difference(
    'a photo of 10 MB',
    () => ({ photo: [{ contentType: 'image/png', data: 'QUJD'.repeat(2_500_000) }] }),
    () => ({ photo: [{ contentType: 'image/png', data: 'QUJE'.repeat(2_500_000) }] }),
  ),
];
