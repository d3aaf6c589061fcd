import { get, many, parameters, put, send, type StallCase } from './stall-case.js';

const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const XML_PATCH = { 'content-type': 'application/xml-patch+xml' };

const CONCEPTS = many(20_000, (n) => ({ code: `c${n}`, display: 'A concept '.repeat(10) }));
const CODE_SYSTEM = { resourceType: 'CodeSystem', status: 'active', content: 'complete', concept: CONCEPTS };

/** A patient of half the size that is still read in the main thread, and one of megabytes. */
const FEW = many(1200, (n) => ({ family: `Family ${n}`, given: ['A', 'B'], text: 'x'.repeat(40) }));
const MANY = many(15_000, (n) => ({ family: `Family ${n}`, given: ['A', 'B'], text: 'x'.repeat(40) }));

/** An extension that has no definition here, so that nothing is said about it. */
const extensions = (count: number): object[] => many(count, (n) => ({ url: `urn:x:${n}`, valueString: `${n}` }));

const patient = (id: string, more: object): { resourceType: string; id: string } => ({
  resourceType: 'Patient',
  id,
  ...more,
});

/** Nested in each other as deep as bodies may be. */
function nested(depth: number): object {
  return depth === 0 ? { url: 'urn:x', valueString: 'x' } : { url: 'urn:x', extension: [nested(depth - 1)] };
}

/** What no rule takes within its time. */
const NEVER_WRITTEN: ReadonlySet<string> = new Set(['extensions', 'profiles']);

/** What has very many index entries. */
const INDEXED: ReadonlySet<string> = new Set(['names', 'telecoms', 'tags']);

/** Writes, patches and validations of what is large, or has very many of something. */
export const WRITE_CASES: readonly StallCase[] = [
  {
    name: 'a ValueSet of 75,000 concepts',
    requests: () => [
      send('PUT', '/ValueSet/large', {
        resourceType: 'ValueSet',
        id: 'large',
        status: 'active',
        compose: {
          include: [
            {
              system: 'urn:bench',
              concept: many(75_000, (n) => ({ code: `c${n}`, display: 'One of very many. '.repeat(5) })),
            },
          ],
        },
      }),
    ],
    status: 201,
  },
  { name: 'a CodeSystem of 20,000 concepts', requests: () => [put({ ...CODE_SYSTEM, id: 'large' })], status: 201 },
  {
    name: 'a JSON Patch of that CodeSystem',
    requests: () => [
      send('PATCH', '/CodeSystem/large', [{ op: 'replace', path: '/concept/10000/display', value: 'x' }], JSON_PATCH),
    ],
    status: 200,
  },
  ...(
    [
      ['names', { name: MANY }],
      ['identifiers', { identifier: many(50_000, (n) => ({ system: 'urn:x', value: `v${n}` })) }],
      ['extensions', { extension: extensions(50_000) }],
      ['nested extensions', { extension: many(500, () => nested(40)) }],
      ['tags', { meta: { tag: many(50_000, (n) => ({ system: 'urn:x', code: `t${n}` })) } }],
      ['profiles', { meta: { profile: many(20_000, (n) => `http://example.org/profile/${n}`) } }],
      [
        'contained resources',
        {
          contained: many(5000, (n) => ({ resourceType: 'Organization', id: `o${n}`, name: 'x' })),
          generalPractitioner: many(5000, (n) => ({ reference: `#o${n}` })),
        },
      ],
      ['telecoms', { telecom: many(60_000, (n) => ({ system: 'phone', value: `${n}` })) }],
      [
        'words',
        {
          text: {
            status: 'additional',
            div: `<div xmlns="http://www.w3.org/1999/xhtml">${many(400_000, (n) => `w${n}`).join(' ')}</div>`,
          },
        },
      ],
      [
        'tags of XHTML',
        {
          text: {
            status: 'additional',
            div: `<div xmlns="http://www.w3.org/1999/xhtml">${'<b>x</b>'.repeat(400_000)}</div>`,
          },
        },
      ],
      [
        'links in XHTML',
        {
          text: {
            status: 'additional',
            div: `<div xmlns="http://www.w3.org/1999/xhtml">${many(100_000, (n) => `<a href="#x${n}">x</a>`).join('')}</div>`,
          },
        },
      ],
      ['base64', { photo: [{ contentType: 'image/png', data: 'QUJD'.repeat(2_500_000) }] }],
    ] as [string, object][]
  ).flatMap(([name, content], n): StallCase[] => [
    {
      name: `a Patient of very many ${name}`,
      requests: () => [put(patient(`many-${n}`, content))],
      status: NEVER_WRITTEN.has(name) ? 422 : 201,
      ...(INDEXED.has(name) && { known: 'its index entries are handed to the thread that writes in one turn' }),
    },
    {
      name: `$validate of a Patient of very many ${name}`,
      requests: () => [send('POST', '/Patient/$validate', patient(`many-${n}`, content))],
      status: 200,
    },
    {
      name: `$meta-add to a Patient of very many ${name}`,
      requests: () => [addTags(`many-${n}`, 1)],
      status: NEVER_WRITTEN.has(name) ? 404 : name === 'tags' ? 413 : 200,
      ...(INDEXED.has(name) && { known: 'its index entries are handed to the thread that writes in one turn' }),
    },
  ]),
  {
    name: '$meta-add of 20,000 tags',
    before: () => [put(patient('tagged', {}))],
    requests: () => [addTags('tagged', 20_000)],
    status: 200,
  },
  { name: '$meta of 20,000 tags', requests: () => [send('GET', '/Patient/tagged/$meta', '')], status: 200 },
  {
    name: '$meta-delete of 20,000 tags',
    requests: () => [parameters('/Patient/tagged/$meta-delete', [{ name: 'meta', valueMeta: { tag: tags(20_000) } }])],
    status: 200,
  },
  {
    name: 'a JSON Patch of 1,000 tests',
    before: () => [put(patient('few', { name: FEW }))],
    requests: () => [
      send(
        'PATCH',
        '/Patient/few',
        many(1000, () => ({ op: 'test', path: '/name', value: FEW })).slice(0, 150),
        JSON_PATCH,
      ),
    ],
    status: 200,
  },
  {
    name: 'a JSON Patch of 1,000 copies',
    requests: () => [
      send(
        'PATCH',
        '/Patient/few',
        many(1000, () => ({ op: 'copy', from: '/name', path: '/name/-' })),
        JSON_PATCH,
      ),
    ],
    status: 413,
  },
  {
    name: 'a JSON Patch of 1,000 insertions at the beginning',
    requests: () => [
      send(
        'PATCH',
        '/Patient/many-0',
        many(1000, () => ({ op: 'add', path: '/name/0', value: { family: 'x' } })),
        JSON_PATCH,
      ),
    ],
    status: 200,
  },
  {
    name: 'a JSON Patch of a million operations',
    requests: () => [
      send(
        'PATCH',
        '/Patient/few',
        many(1_000_000, () => ({ op: 'test', path: '', value: 1 })),
        JSON_PATCH,
      ),
    ],
    status: 413,
  },
  {
    name: 'a FHIRPath Patch of 1,000 operations that search',
    requests: () => [
      fhirPathPatch(
        'few',
        1000,
        "Patient.name.where(given.where($this = 'B').exists() and family = 'Family 1199').family",
      ),
    ],
    status: 400,
  },
  {
    name: 'a FHIRPath Patch of a costly expression',
    requests: () => [
      fhirPathPatch(
        'few',
        1,
        'Patient.name.where(%resource.name.where(%resource.name.given.distinct().exists()).exists()).first().family',
      ),
    ],
    status: 400,
  },
  {
    name: 'a FHIRPath Patch of 100,000 operations',
    requests: () => [fhirPathPatch('few', 100_000, 'Patient.birthDate')],
    status: 413,
  },
  {
    name: 'an XML Patch with a costly selector',
    requests: () => [
      send(
        'PATCH',
        '/Patient/few',
        `<diff xmlns:f="http://hl7.org/fhir">${'<replace sel="f:Patient/f:name[f:family/@value=\'Family 1199\']/f:family/@value">x</replace>'.repeat(1000)}</diff>`,
        XML_PATCH,
      ),
    ],
    status: 400,
  },
  {
    name: 'an XML Patch of 200,000 operations',
    requests: () => [send('PATCH', '/Patient/few', `<diff>${'<remove sel="a/b"/>'.repeat(200_000)}</diff>`, XML_PATCH)],
    status: 413,
  },
  {
    name: '$convert of 1.5 MB',
    requests: () => [
      send('POST', '/$convert', patient('x', { name: MANY }), {
        'content-type': 'application/fhir+json',
        accept: 'application/fhir+xml',
      }),
    ],
    status: 200,
  },
  {
    name: '$convert of what is too large',
    requests: () => [
      send(
        'POST',
        '/$convert',
        patient('x', { photo: [{ contentType: 'image/png', data: 'QUJD'.repeat(2_500_000) }] }),
      ),
    ],
    status: 413,
  },
  {
    name: '$validate of a stored resource that is large',
    requests: () => [get('/ValueSet/large/$validate')],
    status: 200,
  },
  {
    name: 'a read of a ValueSet of 75,000 concepts as XML',
    requests: () => [get('/ValueSet/large', { accept: 'application/fhir+xml' })],
    status: 200,
  },
  {
    name: 'a read of a ValueSet of 75,000 concepts in lines',
    requests: () => [get('/ValueSet/large?_pretty=true')],
    status: 200,
  },
  {
    name: 'a Binary of 30 MB',
    requests: () => [send('PUT', '/Binary/large', 'x'.repeat(30_000_000), { 'content-type': 'text/plain' })],
    status: 201,
  },
  {
    name: 'a Binary of 30 MB as JSON',
    requests: () => [
      send('PUT', '/Binary/large-json', {
        resourceType: 'Binary',
        id: 'large-json',
        contentType: 'text/plain',
        data: 'QUJD'.repeat(10_000_000),
      }),
    ],
    status: 201,
    known: 'the content of a Binary that comes as a resource is decoded in one turn',
  },
  {
    name: 'a read of a Binary of 30 MB',
    requests: () => [get('/Binary/large', { accept: 'text/plain' })],
    status: 200,
  },
  {
    name: 'a read of a Binary of 30 MB as JSON',
    requests: () => [get('/Binary/large', { accept: 'application/fhir+json' })],
    status: 200,
  },
  {
    name: 'a JSON Patch of a Binary of 30 MB',
    requests: () => [
      send('PATCH', '/Binary/large', [{ op: 'replace', path: '/contentType', value: 'text/html' }], JSON_PATCH),
    ],
    status: 413,
  },
  {
    name: 'a read of a large resource as XML',
    requests: () => [send('GET', '/Patient/many-0', '', { accept: 'application/fhir+xml' })],
    status: 200,
  },
  {
    name: 'a read of a large resource in lines',
    requests: () => [send('GET', '/Patient/many-0?_pretty=true', '')],
    status: 200,
  },
  {
    name: 'a read of a large resource as a page',
    requests: () => [send('GET', '/Patient/many-0', '', { accept: 'text/html' })],
    status: 200,
  },
  {
    name: 'a read of elements of a large resource',
    requests: () => [send('GET', '/Patient/many-0?_elements=name', '')],
    status: 200,
  },
  {
    name: 'a summary of a large resource',
    requests: () => [send('GET', '/Patient/many-0?_summary=true', '')],
    status: 200,
  },
];

function tags(count: number): object[] {
  return many(count, (n) => ({ system: 'urn:x', code: `more-${n}` }));
}

function addTags(id: string, count: number): ReturnType<typeof parameters> {
  return parameters(`/Patient/${id}/$meta-add`, [{ name: 'meta', valueMeta: { tag: tags(count) } }]);
}

function fhirPathPatch(id: string, count: number, path: string): ReturnType<typeof send> {
  const operation = {
    name: 'operation',
    part: [
      { name: 'type', valueCode: 'replace' },
      { name: 'path', valueString: path },
      { name: 'value', valueString: 'x' },
    ],
  };
  return send('PATCH', `/Patient/${id}`, { resourceType: 'Parameters', parameter: many(count, () => operation) });
}
