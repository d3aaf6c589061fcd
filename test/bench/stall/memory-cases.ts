import { get, many, parameters, put, send, type HostileRequest, type StallCase } from './stall-case.js';

const COUNT = 60;
const NOTE = 'QUJD'.repeat(3_400_000);

/** Records near the greatest size that a resource may have. */
const patients = function* (): Iterable<HostileRequest> {
  for (let n = 0; n < COUNT; n++) {
    yield put({
      resourceType: 'Patient',
      id: `heavy-${n}`,
      ...{ birthDate: '1950-05-05', name: [{ family: 'Heavy' }], photo: [{ contentType: 'image/png', data: NOTE }] },
    });
  }
};

const observations = function* (): Iterable<HostileRequest> {
  yield put({ resourceType: 'Patient', id: 'heavy' });
  for (let n = 0; n < COUNT; n++) {
    yield put({
      resourceType: 'Observation',
      id: `heavy-${n}`,
      ...{
        status: 'final',
        code: { coding: [{ system: 'urn:heavy', code: `h${n}` }] },
        subject: { reference: 'Patient/heavy' },
        effectiveDateTime: '2024-01-01',
        valueQuantity: { value: 1 },
      },
      ...{ note: many(13, () => ({ text: 'x'.repeat(1_000_000) })) },
    });
  }
  yield put({
    resourceType: 'Composition',
    id: 'heavy',
    ...{
      status: 'final',
      type: { text: 'x' },
      date: '2024',
      title: 'x',
      author: [{ reference: 'Patient/heavy' }],
      section: [{ title: 'x', entry: many(COUNT, (n) => ({ reference: `Observation/heavy-${n}` })) }],
    },
  });
  yield put({
    resourceType: 'List',
    id: 'heavy',
    ...{
      status: 'current',
      mode: 'working',
      entry: many(COUNT, (n) => ({ item: { reference: `Observation/heavy-${n}` } })),
    },
  });
  yield put({
    resourceType: 'GraphDefinition',
    id: 'heavy',
    ...{
      name: 'Graph',
      status: 'active',
      start: 'list',
      node: [
        { nodeId: 'list', type: 'List' },
        { nodeId: 'item', type: 'Observation' },
      ],
      link: [{ sourceId: 'list', targetId: 'item', path: 'List.entry.item' }],
    },
  });
};

const fresh = (
  name: string,
  requests: () => readonly HostileRequest[],
  status: number,
  before?: StallCase['before'],
): StallCase => ({
  name: `${name}, records of 13 MB`,
  requests,
  status,
  isFresh: true,
  ...(before && { before }),
});

/** What is answered of 60 records of 13 MB each. */
export const MEMORY_CASES: readonly StallCase[] = [
  fresh(
    '$match',
    () => [
      parameters('/Patient/$match', [
        {
          name: 'resource',
          resource: { resourceType: 'Patient', birthDate: '1950-05-05', name: [{ family: 'Heavy' }] },
        },
      ]),
    ],
    422,
    patients,
  ),
  fresh('a search of 1,000', () => [get('/Patient?birthdate=1950-05-05&_count=1000')], 200),
  fresh(
    'a search of 1,000 with elements',
    () => [get('/Patient?birthdate=1950-05-05&_count=1000&_elements=name')],
    200,
  ),
  fresh(
    'HFQL in an order',
    () => [
      parameters('/$hfql-execute', [
        { name: 'action', valueCode: 'search' },
        { name: 'query', valueString: 'select id, photo.data from Patient order by id' },
      ]),
    ],
    200,
  ),
  {
    ...fresh(
      'HFQL',
      () => [
        parameters('/$hfql-execute', [
          { name: 'action', valueCode: 'search' },
          { name: 'query', valueString: 'select id, photo.data from Patient' },
        ]),
      ],
      200,
    ),
    known: 'columns of 13 MB are read and sent row by row, and collected late',
  },
  fresh('$everything', () => [get('/Patient/heavy/$everything?_count=1000')], 200, observations),
  fresh('$everything of the members of a group', () => [get('/Patient/$everything?_count=1000')], 200),
  fresh(
    '$lastn',
    () => [
      get(
        '/Observation/$lastn?patient=Patient/heavy&max=5&code=urn:heavy|h1,urn:heavy|h2,urn:heavy|h3,urn:heavy|h4,urn:heavy|h5',
      ),
    ],
    422,
  ),
  fresh(
    '$stats',
    () => [
      parameters('/Observation/$stats', [
        { name: 'subject', valueUri: 'Patient/heavy' },
        { name: 'include', valueBoolean: true },
        ...many(COUNT, (n) => ({ name: 'coding', valueCoding: { system: 'urn:heavy', code: `h${n}` } })),
        { name: 'statistic', valueCode: 'average' },
      ]),
    ],
    503,
  ),
  fresh('$document', () => [get('/Composition/heavy/$document')], 503),
  fresh('$graph', () => [get('/List/heavy/$graph?graph=GraphDefinition/heavy')], 503),
  fresh('_graph', () => [get('/List?_id=heavy&_graph=GraphDefinition/heavy')], 200),
  fresh('an _include', () => [get('/List?_id=heavy&_include=List:item&_count=1000')], 200),
  fresh('a _revinclude', () => [get('/Patient?_id=heavy&_revinclude=Observation:subject&_count=1000')], 200),
  fresh('a history', () => [get('/Observation/_history?_count=1000')], 200),
  fresh(
    'GraphQL',
    () => [
      send(
        'POST',
        '/$graphql',
        { query: '{ ObservationList(subject: "Patient/heavy", _count: 100) { id note { text } } }' },
        { 'content-type': 'application/json' },
      ),
    ],
    200,
  ),
  {
    ...fresh(
      'a batch of reads',
      () => [
        send('POST', '/', {
          resourceType: 'Bundle',
          type: 'batch',
          entry: many(COUNT, (n) => ({ request: { method: 'GET', url: `Observation/heavy-${n}` } })),
        }),
      ],
      200,
    ),
    known: 'the answers of all entries may have 100 MB together',
  },
  {
    ...fresh(
      'a batch of searches',
      () => [
        send('POST', '/', {
          resourceType: 'Bundle',
          type: 'batch',
          entry: many(30, () => ({ request: { method: 'GET', url: 'Patient?birthdate=1950-05-05&_count=1000' } })),
        }),
      ],
      200,
    ),
    known: 'the answers of all entries may have 100 MB together',
  },
  {
    ...fresh(
      'a transaction of reads',
      () => [
        send('POST', '/', {
          resourceType: 'Bundle',
          type: 'transaction',
          entry: many(COUNT, (n) => ({ request: { method: 'GET', url: `Observation/heavy-${n}` } })),
        }),
      ],
      200,
    ),
    known: 'the answers of all entries may have 100 MB together',
  },
  fresh('ten reads at once', () => many(10, (n) => get(`/Observation/heavy-${n}`)), 200),
  fresh(
    'ten reads as XML at once',
    () => many(10, (n) => get(`/Observation/heavy-${n}`, { accept: 'application/fhir+xml' })),
    200,
  ),
];
