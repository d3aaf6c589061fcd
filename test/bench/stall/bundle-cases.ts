import { many, put, send, type StallCase } from './stall-case.js';

const bundle = (
  type: string,
  entry: readonly object[],
  headers?: Readonly<Record<string, string>>,
): ReturnType<typeof send> =>
  send('POST', '/', { resourceType: 'Bundle', type, entry }, { 'content-type': 'application/fhir+json', ...headers });

const reading = (url: string): object => ({ request: { method: 'GET', url } });

const uuid = (n: number): string => `urn:uuid:3f0e2c1a-7c8b-4c61-9d5e-${String(n).padStart(12, '0')}`;

const creating = (resource: object, fullUrl?: string, more: object = {}): object => ({
  ...(fullUrl !== undefined && { fullUrl }),
  resource,
  request: { method: 'POST', url: (resource as { resourceType: string }).resourceType, ...more },
});

const observation = (n: number): object => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: `${8000 + (n % 900)}-4` }], text: 'Heart rate' },
  subject: { reference: 'Patient/p' },
  effectiveDateTime: `20${10 + (n % 15)}-0${1 + (n % 9)}-12T08:${10 + (n % 50)}:00+01:00`,
  valueQuantity: { value: 60 + (n % 50), unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
  note: [{ text: 'It says little at some length. '.repeat(20) }],
});

/** Bundles of 5,000 entries. */
export const BUNDLE_CASES: readonly StallCase[] = [
  {
    name: 'a transaction of 5,000 creates',
    before: () => [put({ resourceType: 'Patient', id: 'p' })],
    requests: () => [
      bundle(
        'transaction',
        many(5000, (n) => creating(observation(n))),
      ),
    ],
    status: 200,
  },
  {
    name: 'a transaction of 5,000 creates, resources in return as XML',
    requests: () => [
      bundle(
        'transaction',
        many(5000, (n) => creating(observation(n))),
        { prefer: 'return=representation', accept: 'application/fhir+xml' },
      ),
    ],
    status: 200,
  },
  {
    name: 'a batch of 5,000 creates',
    requests: () => [
      bundle(
        'batch',
        many(5000, (n) => creating(observation(n))),
      ),
    ],
    status: 200,
  },
  {
    name: 'a transaction of 5,000 equal fullUrls',
    requests: () => [
      bundle(
        'transaction',
        many(5000, (n) => creating(observation(n), uuid(1))),
      ),
    ],
    status: 400,
  },
  {
    name: 'a transaction of entries that refer to all others',
    requests: () => [
      bundle(
        'transaction',
        many(1000, (n) =>
          creating(
            {
              resourceType: 'List',
              status: 'current',
              mode: 'working',
              entry: many(50, (m) => ({ item: { reference: uuid((n + m) % 1000) } })),
            },
            uuid(n),
          ),
        ),
      ),
    ],
    status: 200,
  },
  {
    name: 'a transaction of one resource with 50,000 placeholders',
    requests: () => [
      bundle('transaction', [
        creating(
          {
            resourceType: 'List',
            status: 'current',
            mode: 'working',
            entry: many(50_000, (n) => ({ item: { reference: n === 0 ? uuid(2) : uuid(1) } })),
          },
          uuid(1),
        ),
        creating({ resourceType: 'Patient' }, uuid(2)),
      ]),
    ],
    status: 413,
  },
  {
    name: 'a transaction of one resource with 10,000 placeholders',
    requests: () => [
      bundle('transaction', [
        creating(
          {
            resourceType: 'List',
            status: 'current',
            mode: 'working',
            entry: many(10_000, (n) => ({ item: { reference: n === 0 ? uuid(2) : uuid(1) } })),
          },
          uuid(1),
        ),
        creating({ resourceType: 'Patient' }, uuid(2)),
      ]),
    ],
    status: 200,
  },
  {
    name: 'a transaction of a narrative with 50,000 links to entries',
    requests: () => [
      bundle('transaction', [
        creating(
          {
            resourceType: 'Basic',
            code: { text: 'x' },
            text: {
              status: 'additional',
              div: `<div xmlns="http://www.w3.org/1999/xhtml">${`<a href="${uuid(2)}">x</a>`.repeat(50_000)}</div>`,
            },
          },
          uuid(1),
        ),
        creating({ resourceType: 'Patient' }, uuid(2)),
      ]),
    ],
    status: 413,
  },
  {
    name: 'a batch of a FHIRPath Patch of 100,000 operations',
    requests: () => [
      bundle('batch', [
        {
          request: { method: 'PATCH', url: 'Patient/p' },
          resource: {
            resourceType: 'Parameters',
            parameter: many(100_000, () => ({
              name: 'operation',
              part: [
                { name: 'type', valueCode: 'delete' },
                { name: 'path', valueString: 'Patient.birthDate' },
              ],
            })),
          },
        },
      ]),
    ],
    status: 200,
  },
  {
    name: 'a batch of a JSON Patch of 20 MB in a Binary',
    requests: () => [
      bundle('batch', [
        {
          request: { method: 'PATCH', url: 'Patient/p' },
          resource: {
            resourceType: 'Binary',
            contentType: 'application/json-patch+json',
            data: Buffer.from(
              JSON.stringify(many(400_000, () => ({ op: 'test', path: '/active', value: true }))),
            ).toString('base64'),
          },
        },
      ]),
    ],
    status: 200,
  },
  {
    name: 'a transaction of 1,000 conditional references',
    requests: () => [
      bundle(
        'transaction',
        many(1000, (n) => creating({ ...observation(n), subject: { reference: `Patient?identifier=urn:x|${n}` } })),
      ),
    ],
    status: 404,
  },
  {
    name: 'a transaction of 1,000 conditional creates',
    requests: () => [
      bundle(
        'transaction',
        many(1000, (n) => creating(observation(n), undefined, { ifNoneExist: `identifier=urn:x|${n}` })),
      ),
    ],
    status: 200,
  },
  {
    name: 'a batch of 5,000 reads of something small',
    requests: () => [
      bundle(
        'batch',
        many(5000, () => reading('Patient/p')),
      ),
    ],
    status: 200,
  },
  {
    name: 'a batch of 1,000 searches',
    requests: () => [
      bundle(
        'batch',
        many(1000, (n) => reading(`Observation?code=${8000 + (n % 900)}-4&_count=5`)),
      ),
    ],
    status: 200,
  },
  {
    name: 'a batch of 1,000 $everything',
    requests: () => [
      bundle(
        'batch',
        many(1000, () => reading('Patient/p/$everything?_count=5')),
      ),
    ],
    status: 200,
  },
  {
    name: 'a batch of 1,000 metadata',
    requests: () => [
      bundle(
        'batch',
        many(1000, () => reading('metadata?_elements=rest')),
      ),
    ],
    status: 200,
  },
  {
    name: 'a batch of 5,000 requests to nowhere',
    requests: () => [
      bundle(
        'batch',
        many(5000, (n) => reading(`Patiemt/${n}`)),
      ),
    ],
    status: 200,
  },
  {
    name: 'a Bundle of 50,000 entries',
    requests: () => [
      bundle(
        'batch',
        many(50_000, () => reading('Patient/p')),
      ),
    ],
    status: 413,
  },
  {
    name: 'a stored Bundle of 10,000 entries with equal fullUrls',
    requests: () => [
      send('POST', '/Bundle', {
        resourceType: 'Bundle',
        type: 'collection',
        entry: many(10_000, (n) => ({
          fullUrl: `http://example.org/Patient/${n % 3}`,
          resource: { resourceType: 'Patient', id: String(n % 3), meta: { versionId: String(n) } },
        })),
      }),
    ],
    status: 201,
  },
  {
    name: '$validate of a document of 5,000 entries',
    requests: () => [
      send('POST', '/Bundle/$validate', {
        resourceType: 'Bundle',
        type: 'document',
        identifier: { system: 'urn:x', value: '1' },
        timestamp: '2024-01-01T00:00:00Z',
        entry: [
          {
            fullUrl: uuid(0),
            resource: {
              resourceType: 'Composition',
              status: 'final',
              type: { text: 'x' },
              date: '2024',
              title: 'x',
              author: [{ reference: uuid(1) }],
              section: [{ title: 'x', entry: many(5000, (n) => ({ reference: uuid(n) })) }],
            },
          },
          ...many(5000, (n) => ({ fullUrl: uuid(n + 1), resource: observation(n) })),
        ],
      }),
    ],
    status: 200,
  },
];
