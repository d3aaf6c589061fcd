import type { Resource } from '../../../../runtime/fhir/resource.js';

const concept = { coding: [{ system: 'http://x.example', code: 'x', display: 'X' }], text: 'x' };
const subject = { reference: 'Patient/good' };
const canonical = (name: string) => ({ url: `http://form.example/${name}`, name: 'Form', status: 'active' });

/** One resource of each type that an operation is about, all with the id `good`, such that each operation finds something. */
export const FORM_WORLD: readonly Resource[] = [
  {
    ...{ resourceType: 'Patient', id: 'good', active: true, birthDate: '2000-01-01', gender: 'female' },
    identifier: [{ system: 'http://x.example/ids', value: '1' }],
    name: [{ family: 'A', given: ['B', 'C'], period: { start: '2001' } }],
    contact: [{ name: { family: 'D' }, relationship: [concept] }],
    managingOrganization: { reference: 'Organization/good' },
    text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">x</div>' },
  },
  { resourceType: 'Organization', id: 'good', name: 'x', contact: [{ telecom: [{ system: 'phone', value: '1' }] }] },
  {
    ...{ resourceType: 'Observation', id: 'good', status: 'final', code: concept, subject },
    category: [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }] },
    ],
    effectiveDateTime: '2024-01-01T00:00:00Z',
    valueQuantity: { value: 1.5, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' },
    component: [{ code: concept, valueString: 'x' }],
  },
  {
    resourceType: 'Encounter',
    id: 'good',
    status: 'completed',
    subject,
    participant: [{ actor: { reference: 'Practitioner/x' } }],
  },
  { resourceType: 'EpisodeOfCare', id: 'good', status: 'active', patient: subject },
  { resourceType: 'Group', id: 'good', type: 'person', membership: 'enumerated', member: [{ entity: subject }] },
  {
    resourceType: 'MedicinalProductDefinition',
    id: 'good',
    name: [{ productName: 'x', part: [{ part: 'y', type: concept }] }],
  },
  {
    ...{ resourceType: 'Composition', id: 'good', status: 'final', type: concept, date: '2024-01-01', title: 'x' },
    ...{ subject: [subject], author: [{ reference: 'Organization/good' }] },
    section: [{ title: 'x', entry: [{ reference: 'Observation/good' }] }],
  },
  {
    ...{
      resourceType: 'DocumentReference',
      id: 'good',
      status: 'current',
      type: concept,
      subject,
      date: '2024-01-01T00:00:00Z',
    },
    content: [{ attachment: { contentType: 'text/plain', data: 'eA==' } }],
  },
  {
    ...{ resourceType: 'List', id: 'good', status: 'current', mode: 'working', subject: [subject] },
    code: { coding: [{ code: 'current-problems' }] },
    entry: [{ item: { reference: 'Observation/good' } }],
  },
  {
    ...{ resourceType: 'GraphDefinition', id: 'good', ...canonical('graph'), start: 'a' },
    node: [
      { nodeId: 'a', type: 'Observation' },
      { nodeId: 'b', type: 'Patient' },
    ],
    link: [{ sourceId: 'a', path: 'Observation.subject', targetId: 'b' }],
  },
  {
    ...{
      resourceType: 'CapabilityStatement',
      id: 'good',
      ...canonical('capabilities'),
      date: '2024-01-01',
      kind: 'instance',
    },
    ...{ fhirVersion: '5.0.0', format: ['json'], implementation: { description: 'x' } },
    rest: [
      {
        mode: 'server',
        resource: [
          { type: 'Patient', interaction: [{ code: 'read' }], searchParam: [{ name: 'name', type: 'string' }] },
        ],
      },
    ],
  },
  {
    ...{ resourceType: 'NamingSystem', id: 'good', ...canonical('naming'), kind: 'identifier', date: '2024-01-01' },
    uniqueId: [
      { type: 'uri', value: 'http://form.example/ids', preferred: true },
      { type: 'oid', value: '1.2.3.4', preferred: true },
    ],
  },
  {
    ...{ resourceType: 'StructureDefinition', id: 'good', ...canonical('profile'), kind: 'resource', abstract: false },
    ...{ type: 'Patient', baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient', derivation: 'constraint' },
    differential: { element: [{ id: 'Patient.active', path: 'Patient.active', min: 1 }] },
  },
  {
    ...{ resourceType: 'CodeSystem', id: 'good', ...canonical('codes'), content: 'complete', hierarchyMeaning: 'is-a' },
    property: [{ code: 'size', type: 'integer' }],
    concept: [
      {
        code: 'a',
        display: 'A',
        concept: [{ code: 'b', display: 'B', property: [{ code: 'size', valueInteger: 1 }] }],
      },
    ],
  },
  {
    ...{ resourceType: 'ValueSet', id: 'good', ...canonical('values') },
    compose: {
      include: [{ system: 'http://form.example/codes', filter: [{ property: 'concept', op: 'is-a', value: 'a' }] }],
    },
  },
  {
    ...{ resourceType: 'ConceptMap', id: 'good', ...canonical('map') },
    group: [
      {
        ...{ source: 'http://form.example/codes', target: 'http://y.example' },
        element: [{ code: 'a', target: [{ code: 'y', relationship: 'equivalent' }] }],
      },
    ],
  },
] as Resource[];
