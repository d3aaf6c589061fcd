import { library } from '../../http/operations/query/library.js';
import { get, many, parameters, put, send, type HostileRequest, type StallCase } from './stall-case.js';

const LOINC = 'http://loinc.org';

/** A view whose selections multiply. */
const PRODUCT = {
  ...{ resourceType: 'ViewDefinition', status: 'active', resource: 'Patient' },
  select: ['a', 'b'].map((name) => ({ forEach: 'name', column: [{ name, path: 'family' }] })),
};

/** A view of ids. */
const OBSERVATIONS = {
  ...{ resourceType: 'ViewDefinition', status: 'active', resource: 'Observation' },
  select: [{ column: [{ name: 'id', path: 'id' }] }],
};

/** Whom the record is about. */
const SUBJECT = put({
  ...{ resourceType: 'Patient', id: 'record', birthDate: '1970-01-01' },
  ...{ name: [{ family: 'Record', given: ['Anna'] }], identifier: [{ system: 'urn:oid:1.2.40', value: 'record' }] },
});

/** A record of some thousand resources. */
const RECORD = [
  SUBJECT,
  ...many(2, (page) =>
    send('POST', '/', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: many(4000, (n) => ({
        resource: {
          resourceType: 'Observation',
          status: 'final',
          code: { coding: [{ system: LOINC, code: `code-${n % 2000}` }] },
          subject: { reference: 'Patient/record' },
          effectiveDateTime: `20${10 + (n % 15)}-0${1 + (n % 9)}-12T08:${10 + (n % 50)}:00Z`,
          valueQuantity: { value: n + page, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' },
          note: [{ text: 'It says little at some length. '.repeat(10) }],
        },
        request: { method: 'POST', url: 'Observation' },
      })),
    }),
  ),
];

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const generate = (document: object): HostileRequest =>
  parameters('/DocumentReference/$generate-metadata', [{ name: 'document', resource: document }]);

/** A CDA document about the patient of the record, of so many characters. */
const cda = (size: number): string => `<ClinicalDocument xmlns="urn:hl7-org:v3"><id root="1.2.3"/>
  <code code="34133-9" codeSystem="2.16.840.1.113883.6.1"/><title>x</title><effectiveTime value="20240101"/>
  <recordTarget><patientRole><id root="1.2.40" extension="record"/></patientRole></recordTarget>
  <component><structuredBody>${'<component><section><text>says little</text></section></component>'.repeat(size / 66)}</structuredBody></component>
</ClinicalDocument>`;

/** A FHIR document about the same, of so many characters. */
const fhirDocument = (size: number): object => ({
  ...{ resourceType: 'Bundle', type: 'document', timestamp: '2024-01-01T00:00:00Z' },
  identifier: { system: 'urn:ietf:rfc:3986', value: 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e1' },
  entry: [
    {
      fullUrl: 'http://hospital.example/fhir/Composition/c',
      resource: {
        ...{
          resourceType: 'Composition',
          id: 'c',
          status: 'final',
          type: { text: 'x' },
          date: '2024-01-01',
          title: 'x',
        },
        ...{ author: [{ display: 'x' }], subject: [{ reference: 'Patient/record' }] },
        section: [{ title: 'x', entry: many(size / 400, (n) => ({ reference: `Observation/o${n}` })) }],
      },
    },
    ...many(size / 400, (n) => ({
      fullUrl: `http://hospital.example/fhir/Observation/o${n}`,
      resource: {
        ...{ resourceType: 'Observation', id: `o${n}`, status: 'final', subject: { reference: 'Patient/record' } },
        code: { coding: [{ system: LOINC, code: `code-${n % 2000}` }] },
        valueQuantity: { value: n, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' },
      },
    })),
  ],
});

/** Subscriptions that are off, which may name a topic that is not there. */
const SUBSCRIPTIONS = send('POST', '/', {
  resourceType: 'Bundle',
  type: 'transaction',
  entry: many(1000, (n) => ({
    resource: {
      resourceType: 'Subscription',
      id: `told-${n}`,
      ...{ status: 'off', topic: 'http://example.org/topic', endpoint: 'https://example.org/', content: 'empty' },
      channelType: { code: 'rest-hook' },
    },
    request: { method: 'PUT', url: `Subscription/told-${n}` },
  })),
});

/** A stored one names each type once. */
const STATEMENT = {
  resourceType: 'CapabilityStatement',
  id: 'large',
  ...{
    status: 'active',
    date: '2024-01-01',
    kind: 'requirements',
    fhirVersion: '5.0.0',
    format: ['json'],
    description: 'x',
  },
  rest: [
    {
      mode: 'client',
      resource: ['Patient', 'Observation'].map((type) => ({
        type,
        interaction: [{ code: 'read' }],
        searchParam: many(5000, (n) => ({ name: `name-${n}`, type: 'string' })),
      })),
    },
  ],
};

const capabilities = (count: number): object => ({
  resourceType: 'CapabilityStatement',
  status: 'active',
  date: '2024-01-01',
  kind: 'requirements',
  fhirVersion: '5.0.0',
  format: ['json'],
  rest: [
    {
      mode: 'client',
      resource: many(count, (n) => ({
        type: n % 2 === 0 ? 'Patient' : 'Observation',
        interaction: [{ code: 'read' }],
        searchParam: many(20, (m) => ({ name: `name-${m}`, type: 'string' })),
      })),
    },
  ],
});

const at = (n: number): string => `o-${n}`;

/** Operations that are not about terminology or definitions. */
export const OPERATION_CASES: readonly StallCase[] = [
  {
    name: '$everything of 8,000 resources',
    before: () => RECORD,
    requests: () => [get('/Patient/record/$everything?_count=1000')],
    status: 200,
  },
  { name: '$everything of all patients', requests: () => [get('/Patient/$everything?_count=1000')], status: 200 },
  {
    name: '$everything of an encounter',
    before: () => [
      put({ resourceType: 'Encounter', id: 'e', ...{ status: 'completed', subject: { reference: 'Patient/record' } } }),
      put({
        resourceType: 'EpisodeOfCare',
        id: 'e',
        ...{ status: 'active', patient: { reference: 'Patient/record' } },
      }),
      put({
        resourceType: 'Group',
        id: 'g',
        ...{
          type: 'person',
          membership: 'enumerated',
          member: many(2000, (n) => ({ entity: { reference: `Patient/none-${n}` } })),
        },
      }),
      put({ resourceType: 'MedicinalProductDefinition', id: 'm', ...{ name: [{ productName: 'x' }] } }),
    ],
    requests: () => [get('/Encounter/e/$everything?_count=1000')],
    status: 200,
  },
  {
    name: '$everything of an episode of care',
    requests: () => [get('/EpisodeOfCare/e/$everything?_count=1000')],
    status: 200,
  },
  {
    name: '$everything of a group of 2,000 members',
    requests: () => [get('/Group/g/$everything?_count=1000')],
    status: 200,
  },
  { name: '$everything of a product', requests: () => [get('/MedicinalProductDefinition/m/$everything')], status: 200 },
  {
    name: '$lastn of 1,000 codes',
    requests: () => [
      parameters('/Observation/$lastn', [
        { name: 'patient', valueString: 'Patient/record' },
        { name: 'max', valuePositiveInt: 4 },
        { name: 'code', valueString: many(1000, (n) => `code-${n}`).join(',') },
      ]),
    ],
    status: 200,
  },
  {
    name: '$lastn by 2,000 codes',
    requests: () => [
      parameters('/Observation/$lastn', [
        { name: 'patient', valueString: 'Patient/record' },
        { name: 'code', valueString: many(2000, (n) => `code-${n}`).join(',') },
      ]),
    ],
    status: 400,
  },
  {
    name: '$stats of 1,000 codes',
    requests: () => [
      parameters('/Observation/$stats', [
        { name: 'subject', valueUri: 'Patient/record' },
        ...many(1000, (n) => ({ name: 'coding', valueCoding: { system: LOINC, code: `code-${n}` } })),
        ...['average', 'maximum', 'minimum', 'count', 'median', 'std-dev'].map((valueCode) => ({
          name: 'statistic',
          valueCode,
        })),
      ]),
    ],
    status: 200,
  },
  {
    name: '$stats of 10,000 codes',
    requests: () => [
      parameters('/Observation/$stats', [
        { name: 'subject', valueUri: 'Patient/record' },
        ...many(10_000, (n) => ({ name: 'coding', valueCoding: { system: LOINC, code: `code-${n}` } })),
        { name: 'statistic', valueCode: 'average' },
      ]),
    ],
    status: 400,
  },
  {
    name: '$match of 5,000 names and identifiers',
    requests: () => [
      parameters('/Patient/$match', [
        {
          name: 'resource',
          resource: {
            resourceType: 'Patient',
            birthDate: '1970-01-01',
            identifier: many(5000, (n) => ({ system: 'urn:x', value: `v${n}` })),
            name: many(5000, (n) => ({ family: `Family ${n}`, given: ['A'] })),
          },
        },
      ]),
    ],
    status: 400,
  },
  {
    name: '$match of long names with each other',
    before: () =>
      many(20, (n) =>
        put({
          resourceType: 'Patient',
          id: `similar-${n}`,
          ...{
            birthDate: '1971-01-01',
            name: many(300, (m) => ({
              family: `Family ${'x'.repeat(200)} ${m} ${n}`,
              given: [`${'y'.repeat(200)} ${m}`],
            })),
          },
        }),
      ),
    requests: () => [
      parameters('/Patient/$match', [
        {
          name: 'resource',
          resource: {
            resourceType: 'Patient',
            birthDate: '1971-01-01',
            name: many(300, (m) => ({ family: `Family ${'z'.repeat(200)} ${m}`, given: [`${'y'.repeat(100)} ${m}`] })),
          },
        },
      ]),
    ],
    status: 200,
  },
  {
    name: '$merge of 8,000 references',
    before: () => [put({ resourceType: 'Patient', id: 'other' })],
    requests: () => [
      parameters('/Patient/$merge', [
        { name: 'source-patient', valueReference: { reference: 'Patient/record' } },
        { name: 'target-patient', valueReference: { reference: 'Patient/other' } },
        { name: 'preview', valueBoolean: true },
      ]),
    ],
    status: 412,
  },
  {
    name: '$svc.fhir.replace-references of 8,000',
    requests: () => [
      parameters('/$svc.fhir.replace-references', [
        { name: 'source-reference-id', valueString: 'Patient/record' },
        { name: 'target-reference-id', valueString: 'Patient/other' },
      ]),
    ],
    status: 412,
  },
  {
    name: '$svc.fhir.undo-replace-references',
    requests: () => [
      parameters('/$svc.fhir.undo-replace-references', [
        { name: 'source-reference-id', valueString: 'Patient/record' },
        { name: 'target-reference-id', valueString: 'Patient/other' },
      ]),
    ],
    status: 404,
  },
  {
    name: '$svc.fhir.undo-merge',
    requests: () => [
      parameters('/Patient/$svc.fhir.undo-merge', [
        { name: 'source-patient', valueReference: { reference: 'Patient/record' } },
        { name: 'target-patient', valueReference: { reference: 'Patient/other' } },
      ]),
    ],
    status: 404,
  },
  {
    name: '$document of 900 resources',
    before: () => [
      ...many(900, (n) => put({ resourceType: 'Basic', id: at(n), ...{ code: { text: 'x'.repeat(2000) } } })),
      put({
        resourceType: 'Composition',
        id: 'c',
        ...{
          status: 'final',
          type: { text: 'x' },
          date: '2024',
          title: 'x',
          author: [{ reference: `Basic/${at(0)}` }],
          section: [{ title: 'x', entry: many(900, (n) => ({ reference: `Basic/${at(n)}` })) }],
        },
      }),
      put({
        resourceType: 'Composition',
        id: 'd',
        ...{
          status: 'final',
          type: { text: 'x' },
          date: '2024',
          title: 'x',
          author: [{ reference: `Basic/${at(0)}` }],
          section: [{ title: 'x', entry: many(50_000, () => ({ reference: `Basic/${at(1)}` })) }],
        },
      }),
      put({
        resourceType: 'List',
        id: 'l',
        ...{ status: 'current', mode: 'working', entry: many(900, (n) => ({ item: { reference: `Basic/${at(n)}` } })) },
      }),
      put({
        resourceType: 'GraphDefinition',
        id: 'g',
        ...{
          name: 'Graph',
          status: 'active',
          start: 'list',
          node: [
            { nodeId: 'list', type: 'List' },
            { nodeId: 'item', type: 'Basic' },
          ],
          link: many(50, () => ({ sourceId: 'list', targetId: 'item', path: 'List.entry.item' })),
        },
      }),
    ],
    requests: () => [get('/Composition/c/$document')],
    status: 200,
  },
  { name: '$document of 50,000 references to one', requests: () => [get('/Composition/d/$document')], status: 200 },
  {
    name: '$graph of 900 resources by 50 links',
    requests: () => [get('/List/l/$graph?graph=GraphDefinition/g')],
    status: 200,
  },
  {
    name: '$docref of 5,000 types',
    requests: () => [
      parameters('/DocumentReference/$docref', [
        { name: 'patient', valueId: 'record' },
        { name: 'type', valueCodeableConcept: { coding: many(900, (n) => ({ system: 'urn:x', code: `c${n}` })) } },
      ]),
    ],
    status: 200,
  },
  {
    name: '$generate-metadata of a CDA document of 30 MB',
    before: () => [SUBJECT],
    known: 'base64 of 30 MB is decoded at once',
    requests: () => [generate({ resourceType: 'Binary', contentType: 'text/xml', data: base64(cda(30_000_000)) })],
    status: 200,
  },
  {
    name: '$generate-metadata of a FHIR document of 10 MB',
    before: () => [SUBJECT],
    known: 'the document is written as text once more, at once',
    requests: () => [generate(fhirDocument(10_000_000))],
    status: 200,
  },
  {
    name: 'a published FHIR document of 10 MB',
    before: () => [SUBJECT],
    requests: () => [
      send('POST', '/DocumentReference', {
        ...{ resourceType: 'DocumentReference', status: 'current', subject: { reference: 'Patient/record' } },
        content: [
          {
            attachment: {
              contentType: 'application/fhir+json',
              data: base64(JSON.stringify(fhirDocument(10_000_000))),
            },
          },
        ],
      }),
    ],
    status: 201,
  },
  { name: 'List/$find', requests: () => [get('/List/$find?patient=record&name=current-problems')], status: 404 },
  { name: '$meta of everything', requests: () => [get('/$meta'), get('/Patient/$meta')], status: 200 },
  { name: '$changes', requests: () => many(10, () => get('/$changes')), status: 200 },
  {
    name: '$status of 1,000 Subscriptions',
    before: () => [SUBSCRIPTIONS],
    requests: () => many(5, () => get('/Subscription/$status')),
    status: 200,
  },
  { name: '$events', requests: () => many(10, () => get('/Subscription/told-0/$events')), status: 200 },
  {
    name: '$get-ws-binding-token of 1,000 Subscriptions that have another channel',
    before: () => [SUBSCRIPTIONS],
    requests: () => many(5, () => parameters('/Subscription/$get-ws-binding-token', [])),
    status: 422,
  },
  { name: '$get-resource-counts', requests: () => many(30, () => get('/$get-resource-counts')), status: 200 },
  {
    name: '$sql-run that multiplies to 90,000 rows',
    requests: () => [
      parameters('/$sql-run', [
        { name: 'subjectResource', resource: PRODUCT },
        { name: 'resource', resource: { resourceType: 'Patient', name: many(300, (n) => ({ family: `f${n}` })) } },
      ]),
    ],
    status: 200,
  },
  {
    name: '$sql-run of a query that makes 200,000 rows of a record',
    requests: () => [
      parameters('/$sql-run', [
        {
          name: 'subjectResource',
          resource: library('SELECT a.id, b.id AS other FROM t a, t b LIMIT 200000', { t: 'urn:t' }),
        },
        { name: 'context', resource: { ...OBSERVATIONS, url: 'urn:t' } },
      ]),
    ],
    status: 200,
  },
  {
    name: '$conforms of 5,000 resources',
    requests: () => [
      parameters('/CapabilityStatement/$conforms', [
        { name: 'left', valueUri: 'x' },
        { name: 'right', valueUri: 'y' },
        { name: 'resource', resource: capabilities(5000) },
      ]),
    ],
    status: 400,
  },
  {
    name: '$implements of 1,000 resources',
    before: () => [put(STATEMENT)],
    requests: () => [
      parameters('/CapabilityStatement/$implements', [{ name: 'resource', resource: capabilities(1000) }]),
    ],
    status: 422,
  },
  {
    name: '$implements of 5,000 resources',
    requests: () => [
      parameters('/CapabilityStatement/$implements', [{ name: 'resource', resource: capabilities(5000) }]),
    ],
    status: 413,
  },
  {
    name: '$subset of 20,000 types',
    requests: () => [
      parameters(
        '/CapabilityStatement/large/$subset',
        many(20_000, (n) => ({ name: 'resource', valueCode: n % 2 === 0 ? 'Patient' : 'List' })),
      ),
    ],
    status: 200,
  },
  { name: '$versions', requests: () => many(30, () => get('/$versions')), status: 200 },
  {
    name: '$preferred-id among 500 systems',
    before: () =>
      many(200, (n) =>
        put({
          resourceType: 'NamingSystem',
          id: `n${n}`,
          ...{
            name: `N${n}`,
            status: 'active',
            kind: 'identifier',
            date: '2024',
            url: `urn:n:${n}`,
            uniqueId: many(500, (m) => ({ type: 'uri', value: `urn:id:${m}`, preferred: m === 1 })),
          },
        }),
      ),
    requests: () => [get('/NamingSystem/$preferred-id?id=urn:id:7&type=uri')],
    status: 400,
  },
  {
    name: '$translate-id among 500 systems',
    requests: () => [get('/NamingSystem/$translate-id?id=urn:id:7&sourceType=uri&targetType=uri')],
    status: 400,
  },
  {
    name: '$reindex of one that has very many names',
    requests: () => [send('POST', '/Patient/many-0/$reindex', '{"resourceType":"Parameters"}')],
    status: 200,
  },
  {
    name: '$reindex-dryrun of one that has very many names',
    requests: () => [get('/Patient/many-0/$reindex-dryrun')],
    status: 200,
  },
  {
    name: 'a search of 1,000 with all that refers to them',
    requests: () => [get('/Observation?_count=1000&_include=*&_revinclude=*')],
    status: 200,
  },
  {
    name: 'a search of 1,000 as XML',
    requests: () => [get('/Observation?_count=1000', { accept: 'application/fhir+xml' })],
    status: 200,
  },
  {
    name: 'a search of 1,000 as a page',
    requests: () => [get('/Observation?_count=1000', { accept: 'text/html' })],
    status: 200,
  },
  { name: 'a search of 1,000 in lines', requests: () => [get('/Observation?_count=1000&_pretty=true')], status: 200 },
  { name: 'a summary of 1,000', requests: () => [get('/Observation?_count=1000&_summary=true')], status: 200 },
  {
    name: 'elements of 1,000',
    requests: () => [get(`/Observation?_count=1000&_elements=${many(500, () => 'note').join(',')}`)],
    status: 200,
  },
  { name: 'a history of 1,000', requests: () => [get('/_history?_count=1000')], status: 200 },
  { name: 'a history of a type', requests: () => [get('/Observation/_history?_count=1000')], status: 200 },
  { name: 'a history of one', requests: () => [get('/Patient/few/_history?_count=1000')], status: 200 },
  {
    name: 'a history of one as XML',
    requests: () => [get('/Patient/few/_history?_count=1000', { accept: 'application/fhir+xml' })],
    status: 200,
  },
  { name: 'a version', requests: () => [get('/Patient/many-0/_history/1')], status: 200 },
  { name: 'a compartment', requests: () => [get('/Patient/record/*?_count=1000')], status: 200 },
  { name: 'a search of all types', requests: () => [get('/?_count=1000&_lastUpdated=gt2020')], status: 200 },
];
