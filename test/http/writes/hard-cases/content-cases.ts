import { observation, patient, right, wrong, type HardCase } from './hard-case.js';

const UUID = 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a';
const OTHER = 'urn:uuid:88f151c0-a954-468a-88bd-5ae15c08e059';
const org = (id: string, more: object = {}): object => ({ resourceType: 'Organization', id, name: 'x', ...more });
const managed = (reference: string, ...contained: object[]): object =>
  patient({ ...(contained.length > 0 && { contained }), managingOrganization: { reference } });
const quantity = (more: object): object => observation({ valueQuantity: more });

/** Rules of elements and resources, ids, and references within a resource. */
export const CONTENT_CASES: readonly HardCase[] = [
  // https://hl7.org/fhir/R5/references.html#contained
  right('a contained resource that is referred to', managed('#o', org('o'))),
  wrong('a contained resource that nothing refers to', patient({ contained: [org('o')], active: true })),
  right('a contained resource that refers to what contains it', patient({ contained: [{ resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' }, subject: { reference: '#' } }] })), // prettier-ignore
  right('contained resources in a row', managed('#o', org('o', { partOf: { reference: '#p' } }), org('p'))),
  wrong('a reference to what is not contained', managed('#o')),
  wrong('a reference to what is not contained, beside what is', managed('#p', org('o'))),
  wrong('a reference to the id of an element', patient({ name: [{ id: 'o', family: 'x' }], managingOrganization: { reference: '#o' } })), // prettier-ignore
  wrong('contained in contained', managed('#o', org('o', { contained: [org('p')], partOf: { reference: '#p' } }))),
  wrong('contained without id', patient({ contained: [{ resourceType: 'Organization', name: 'x' }], active: true })),
  wrong('two contained with one id', managed('#o', org('o'), org('o', { name: 'y' }))),
  wrong('contained with a version id', managed('#o', org('o', { meta: { versionId: '1' } }))),
  wrong(
    'contained with an instant of change',
    managed('#o', org('o', { meta: { lastUpdated: '2024-01-01T00:00:00Z' } })),
  ),
  wrong('contained with a security label', managed('#o', org('o', { meta: { security: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'R' }] } }))), // prettier-ignore
  wrong('contained of no type that there is', managed('#o', { resourceType: 'Organisation', id: 'o' })),
  wrong('contained that breaks a rule of its type', patient({ contained: [{ resourceType: 'Organization', id: 'o' }], managingOrganization: { reference: '#o' } })), // prettier-ignore
  wrong(
    'two elements with one id',
    patient({
      name: [
        { id: 'a', family: 'x' },
        { id: 'a', family: 'y' },
      ],
    }),
  ),
  wrong('two elements of different kinds with one id', patient({ name: [{ id: 'a', family: 'x' }], telecom: [{ id: 'a', system: 'phone', value: '1' }] })), // prettier-ignore
  // https://hl7.org/fhir/R5/references.html#Reference
  right('a reference by identifier', patient({ managingOrganization: { identifier: { value: 'x' } } })),
  right('a reference with a text alone', patient({ managingOrganization: { display: 'x' } })),
  wrong('a reference with a type alone', patient({ managingOrganization: { type: 'Organization' } })),
  wrong('a reference to another type', managed('Patient/1'), { isCreated: true }),
  wrong('a reference whose type is another', patient({ managingOrganization: { reference: 'Organization/1', type: 'Patient' } }), { isCreated: true }), // prettier-ignore
  right('a versioned reference', managed('Organization/1/_history/2')),
  right('a reference to another server', managed('http://x.org/fhir/Organization/1')),
  right('a reference by UUID', managed(UUID)),
  wrong('a reference by what is no UUID', managed('urn:uuid:1')),
  wrong('a reference by what is no OID', managed('urn:oid:1.02')),
  // https://hl7.org/fhir/R5/datatypes.html
  wrong('per-1: an end before the start', patient({ name: [{ period: { start: '2024-02', end: '2024-01' } }] })),
  right(
    'per-1: an end in the month of the start',
    patient({ name: [{ period: { start: '2024-02-10', end: '2024-02' } }] }),
  ),
  wrong('per-1: zones', patient({ name: [{ period: { start: '2024-01-01T10:00:00-05:00', end: '2024-01-01T10:00:00Z' } }] })), // prettier-ignore
  wrong('qty-3: a code without system', quantity({ value: 1, code: 'mg' })),
  right('a quantity without code', quantity({ value: 1, unit: 'mg' })),
  wrong('rng-2: low above high', observation({ valueRange: { low: { value: 5 }, high: { value: 1 } } })),
  right('a range', observation({ valueRange: { low: { value: 1 }, high: { value: 2 } } })),
  wrong('rat-1: a numerator alone', observation({ valueRatio: { numerator: { value: 1 } } })),
  wrong('SimpleQuantity with a comparator', observation({ referenceRange: [{ low: { value: 1, comparator: '<' } }] })),
  wrong('att-1: data without type', patient({ photo: [{ data: 'YQ==' }] })),
  wrong('cpt-2: a value without system', patient({ telecom: [{ value: '1' }] })),
  wrong('pat-1: a contact without details', patient({ contact: [{ gender: 'male' }] })),
  wrong(
    'obs-6: a value and a reason why there is none',
    observation({ valueString: 'x', dataAbsentReason: { text: 'x' } }),
  ),
  wrong('obs-7: the code of a component', observation({ code: { coding: [{ system: 'u:s', code: 'a' }] }, valueString: 'x', component: [{ code: { coding: [{ system: 'u:s', code: 'a' }] }, valueString: 'y' }] })), // prettier-ignore
  wrong('obs-3: a range of reference without all', observation({ referenceRange: [{ type: { text: 'x' } }] })),
  wrong('tim-1: a duration without unit', { resourceType: 'MedicationRequest', status: 'active', intent: 'order', medication: { concept: { text: 'x' } }, subject: { reference: 'Patient/1' }, dosageInstruction: [{ timing: { repeat: { duration: 1 } } }] }), // prettier-ignore
  wrong('org-1: neither name nor identifier', { resourceType: 'Organization', active: true }),
  wrong('a condition without clinical status on a problem list', { resourceType: 'Condition', clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }] }, subject: { reference: 'Patient/1' }, abatementString: 'x' }), // prettier-ignore
  wrong('que-2: a link id twice', { resourceType: 'Questionnaire', status: 'draft', item: [{ linkId: 'a', type: 'string', text: 'x' }, { linkId: 'a', type: 'string', text: 'y' }] }), // prettier-ignore
  wrong('csd-1: a code twice', { resourceType: 'CodeSystem', url: 'http://x.org/c', status: 'draft', content: 'complete', concept: [{ code: 'a' }, { code: 'a' }] }), // prettier-ignore
  wrong('vs: include without anything', { resourceType: 'ValueSet', url: 'http://x.org/v', status: 'draft', compose: { include: [{ version: '1' }] } }), // prettier-ignore
  wrong('inv-1 of Parameters: a value and a resource', { resourceType: 'Parameters', parameter: [{ name: 'a', valueString: 'x', resource: { resourceType: 'Patient', active: true } }] }), // prettier-ignore
  wrong('lst-1: a reason why a list is empty that is not', { resourceType: 'List', status: 'current', mode: 'working', emptyReason: { text: 'x' }, entry: [{ item: { display: 'x' } }] }), // prettier-ignore
  wrong('a required code of a CodeableConcept', { resourceType: 'AllergyIntolerance', clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'gone' }] }, patient: { reference: 'Patient/1' } }), // prettier-ignore
  wrong('a required code in another system', { resourceType: 'AllergyIntolerance', clinicalStatus: { coding: [{ system: 'http://x.org', code: 'active' }] }, patient: { reference: 'Patient/1' } }), // prettier-ignore
  // https://hl7.org/fhir/R5/bundle.html
  ...bundleCases(),
];

function bundleCases(): readonly HardCase[] {
  const bundle = (type: string, entry: readonly object[], more: object = {}): object => ({
    ...{ resourceType: 'Bundle', type },
    ...(entry.length > 0 && { entry }),
    ...more,
  });
  const resource = { resourceType: 'Patient', active: true };
  const one = { fullUrl: UUID, resource };
  const post = { method: 'POST', url: 'Patient' };
  const composition = {
    ...{ resourceType: 'Composition', status: 'final', type: { text: 'x' }, date: '2024-01-01', title: 'x' },
    ...{ author: [{ display: 'x' }], subject: [{ reference: OTHER }] },
  };
  const signed = { identifier: { system: 'u:s', value: 'x' }, timestamp: '2024-01-01T00:00:00Z' };
  const self = { link: [{ relation: 'self', url: 'http://x.org/fhir/Patient' }] };
  const response = { status: '200' };
  return [
    right('a collection', bundle('collection', [one])),
    right('an empty collection', bundle('collection', [])),
    wrong('a type that there is not', bundle('set', [])),
    wrong('no type', { resourceType: 'Bundle' }),
    wrong('bdl-1: a total in a collection', bundle('collection', [one], { total: 1 })),
    right('a set of matches', bundle('searchset', [{ ...one, search: { mode: 'match' } }], { total: 1, ...self })),
    wrong('bdl-2: search in a collection', bundle('collection', [{ ...one, search: { mode: 'match' } }])),
    wrong('bdl-3: a transaction without request', bundle('transaction', [one])),
    wrong('bdl-3: a request in a collection', bundle('collection', [{ ...one, request: post }])),
    wrong('bdl-4: a response in a collection', bundle('collection', [{ ...one, response }])),
    right('a transaction', bundle('transaction', [{ ...one, request: post }])),
    wrong('bdl-5: an entry with nothing', bundle('collection', [{ fullUrl: UUID }])),
    wrong('bdl-7: two of one URL', bundle('collection', [one, one])),
    right('bdl-7: two versions', bundle('collection', ['1', '2'].map((versionId) => ({ fullUrl: 'http://x.org/fhir/Patient/a', resource: { ...resource, id: 'a', meta: { versionId } } })))), // prettier-ignore
    wrong('bdl-8: a URL with a version', bundle('collection', [{ fullUrl: 'http://x.org/fhir/Patient/a/_history/1', resource: { ...resource, id: 'a' } }])), // prettier-ignore
    wrong('bdl-15: no URL', bundle('collection', [{ resource }])),
    wrong('a URL with another id', bundle('collection', [{ fullUrl: 'http://x.org/fhir/Patient/b', resource: { ...resource, id: 'a' } }]), { isCreated: true }), // prettier-ignore
    right('a document', bundle('document', [{ fullUrl: UUID, resource: composition }, { fullUrl: OTHER, resource }], signed)), // prettier-ignore
    wrong('bdl-9: a document without identifier', bundle('document', [{ fullUrl: UUID, resource: { ...composition, subject: undefined } }], { timestamp: signed.timestamp })), // prettier-ignore
    wrong('bdl-10: a document without date', bundle('document', [{ fullUrl: UUID, resource: { ...composition, subject: undefined } }], { identifier: signed.identifier })), // prettier-ignore
    wrong('bdl-11: a document that begins with something else', bundle('document', [one], signed)),
    wrong('bdl-12: a message that begins with something else', bundle('message', [one])),
    right('a message', bundle('message', [{ fullUrl: UUID, resource: { resourceType: 'MessageHeader', eventCoding: { system: 'u:s', code: 'x' }, source: { endpointUrl: 'http://x.org' } } }])), // prettier-ignore
    right('an empty history', bundle('history', [], { ...self, total: 0 })),
    wrong('bdl-3: a history without request', bundle('history', [{ fullUrl: 'http://x.org/fhir/Patient/a', resource: { ...resource, id: 'a' } }], self)), // prettier-ignore
    right('a history', bundle('history', [{ fullUrl: 'http://x.org/fhir/Patient/a', resource: { ...resource, id: 'a' }, request: { method: 'PUT', url: 'Patient/a' }, response }], self)), // prettier-ignore
    wrong('an entry that breaks a rule of its type', bundle('collection', [{ fullUrl: UUID, resource: { resourceType: 'Patient', contact: [{ gender: 'male' }] } }])), // prettier-ignore
    wrong(
      'an entry of wrong structure',
      bundle('collection', [{ fullUrl: UUID, resource: { resourceType: 'Patient', colour: 'x' } }]),
    ),
    wrong(
      'an entry with an unresolved reference within',
      bundle('collection', [{ fullUrl: UUID, resource: managed('#o') }]),
    ),
    right('one contained id in two entries', bundle('collection', [{ fullUrl: UUID, resource: managed('#o', org('o')) }, { fullUrl: OTHER, resource: managed('#o', org('o')) }])), // prettier-ignore
  ];
}
