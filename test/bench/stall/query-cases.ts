import { get, many, parameters, put, send, type HostileRequest, type StallCase } from './stall-case.js';

const query = (text: string, path = '/$graphql'): HostileRequest =>
  send('POST', path, { query: text }, { 'content-type': 'application/json' });

const statement = (text: string): HostileRequest =>
  parameters('/$hfql-execute', [
    { name: 'action', valueCode: 'search' },
    { name: 'query', valueString: text },
    { name: 'fetchSize', valueInteger: 10_000 },
  ]);

const QUERIED = many(40, (n) =>
  put({
    resourceType: 'Patient',
    id: `queried-${n}`,
    ...{ name: many(300, (m) => ({ family: `Family ${m}`, given: ['A', 'B'] })), active: true },
  }),
);

const NESTED = "name.where(given.where($this = 'B').exists() and family.exists()).count() > 0";

/** Queries in GraphQL and HFQL. */
export const QUERY_CASES: readonly StallCase[] = [
  {
    name: 'GraphQL with fhirpath for each name of 40 patients',
    before: () => QUERIED,
    requests: () => [
      query(
        `{ PatientList(_id: [${many(40, (n) => `"queried-${n}"`).join()}], _count: 40) { name(fhirpath: "%resource.${NESTED}") { family } } }`,
      ),
    ],
    status: 400,
    orStatus: 200,
  },
  {
    name: 'GraphQL with descendants for each name of 40 patients',
    requests: () => [
      query(
        `{ PatientList(active: "true", _count: 40) { name(fhirpath: "%resource.descendants().count() > 0") { family } } }`,
      ),
    ],
    status: 400,
    orStatus: 200,
  },
  {
    name: 'GraphQL with fhirpath in 100 lists',
    requests: () => [
      query(
        `{ ${many(100, (n) => `a${n}: PatientList(active: "true", _count: 40, fhirpath: "${NESTED}") { id }`).join(' ')} }`,
      ),
    ],
    status: 200,
    orStatus: 400,
  },
  {
    name: 'GraphQL with @slice for each name of 40 patients',
    requests: () => [
      query(
        `{ PatientList(active: "true", _count: 40) { name @flatten @slice(path: "%resource.${NESTED}") { family } } }`,
      ),
    ],
    status: 400,
    orStatus: 200,
  },
  {
    name: 'GraphQL with $index for each name',
    requests: () => [
      query(
        `{ PatientList(active: "true", _count: 40) { name(fhirpath: "$index = 7 and ${NESTED.replaceAll('name.', '%resource.name.')}") { family } } }`,
      ),
    ],
    status: 400,
    orStatus: 200,
  },
  {
    name: 'GraphQL for the names of a large resource',
    requests: () => [query('{ Patient(id: "many-0") { name { family given text } } }')],
    status: 200,
  },
  {
    name: 'GraphQL for 5,000 resources',
    requests: () => [
      query('{ ObservationList(_count: 5000) { id status code { coding { system code } } note { text } } }'),
    ],
    status: 200,
  },
  {
    name: 'GraphQL at an instance',
    requests: () => [
      query(
        '{ name { family } ObservationList(_reference: subject, _count: 5000) { id } }',
        '/Patient/record/$graphql',
      ),
    ],
    status: 200,
  },
  { name: 'GraphQL of a megabyte of braces', requests: () => [query('{a'.repeat(500_000))], status: 400 },
  {
    name: 'GraphQL of 100,000 fields',
    requests: () => [query(`{ PatientList { ${many(100_000, (n) => `a${n}: id`).join(' ')} } }`)],
    status: 400,
  },
  {
    name: 'GraphQL of fragments in fragments',
    requests: () => [
      query(
        `{ PatientList { ...f0 } } ${many(100, (n) => `fragment f${n} on Patient { ...f${n + 1} ...f${n + 1} }`).join(' ')} fragment f100 on Patient { id }`,
      ),
    ],
    status: 400,
  },
  {
    name: 'GraphQL of equal fields in 2,000 inline fragments',
    requests: () => [query(`{ PatientList { ${many(1900, () => '... on Patient { name { family } }').join(' ')} } }`)],
    status: 400,
  },
  {
    name: 'GraphQL with a list of 100,000 values',
    requests: () => [query(`{ PatientList(_id: [${many(100_000, () => '"x"').join()}]) { id } }`)],
    status: 400,
  },
  {
    name: 'GraphQL for the whole schema',
    requests: () => [
      query(
        '{ __schema { types { name fields { name description args { name type { name } } type { name ofType { name ofType { name } } } } } } }',
      ),
    ],
    status: 200,
  },
  {
    name: 'GraphQL for the schema by 100 names',
    requests: () => [query(`{ ${many(100, (n) => `a${n}: __schema { types { name fields { name } } }`).join(' ')} }`)],
    status: 200,
  },
  {
    name: 'HFQL in the order of a text',
    requests: () => [statement('select id, note.text from Observation order by id')],
    status: 200,
  },
  {
    name: 'HFQL of everything, sorted',
    requests: () => [statement('select * from Observation order by id')],
    status: 200,
  },
  {
    name: 'HFQL by groups',
    requests: () => [
      statement('select code.coding.code, count(*) as n from Observation group by code.coding.code order by n desc'),
    ],
    status: 200,
  },
  {
    name: 'HFQL by groups of names',
    requests: () => [
      statement('select name.family, name.given, count(*) as n from Patient group by name.family, name.given'),
    ],
    status: 200,
  },
  {
    name: 'HFQL with a costly condition',
    requests: () => [statement(`select id from Patient where name.all(%resource.${NESTED})`)],
    status: 200,
  },
  {
    name: 'HFQL with a nested condition',
    requests: () => [
      statement(
        "select id from Patient where name.where(given.where($this = 'B').exists() and family.exists()).count() > 1000",
      ),
    ],
    status: 200,
  },
  {
    name: 'HFQL of a condition of 10,000 parts',
    requests: () => [
      statement(`select id from Patient where (${many(10_000, (n) => `active = true or id = '${n}'`).join(' or ')})`),
    ],
    status: 200,
  },
  {
    name: 'HFQL of 20,000 columns',
    requests: () => [statement(`select ${many(20_000, (n) => `id as a${n}`).join(',')} from Patient`)],
    status: 200,
  },
  {
    name: 'HFQL of a list of 100,000 texts',
    requests: () => [statement(`select id from Patient where id in (${many(100_000, (n) => `'x${n}'`).join(',')})`)],
    status: 200,
  },
  {
    name: 'HFQL of a million parentheses',
    requests: () => [statement(`select ${'('.repeat(1_000_000)}id from Patient`)],
    status: 200,
  },
  {
    name: 'HFQL for all columns',
    requests: () => [parameters('/$hfql-execute', [{ name: 'action', valueCode: 'introspectColumns' }])],
    status: 200,
  },
  ...[
    '/metadata',
    '/metadata?_format=xml',
    '/metadata?_pretty=true',
    '/metadata?_summary=true',
    '/metadata?_elements=rest',
    '/metadata?_format=xml&_pretty=true',
    '/metadata?_format=html',
    '/metadata?mode=terminology&_format=xml',
    '/../openapi/index.json',
    '/../openapi/Patient.json',
    '/../openapi/all.json',
    '/../ui/graphql',
    '/../docs/',
  ].map((path): StallCase => ({
    name: `30 times GET ${path.replace('/..', '')}`,
    requests: () => many(30, () => get(path)),
    status: 200,
  })),
  {
    name: '30 views of metadata, each another one',
    requests: () =>
      many(30, (n) =>
        get(
          `/metadata?_format=xml&_elements=rest,${['url', 'name', 'title', 'date', 'kind'].slice(0, n % 6).join()}&_pretty=${n % 2 === 0}`,
        ),
      ),
    status: 200,
  },
  {
    name: '30 requests that ask what is allowed',
    requests: () => many(30, () => ({ method: 'OPTIONS', path: '/Patient' })),
    status: 204,
  },
];
