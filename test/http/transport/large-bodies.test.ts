import { gzipSync } from 'node:zlib';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';
import { openBodyWorkers } from '../../../runtime/body-workers/body-workers.js';
import { startBodyWorker } from '../../../runtime/body-workers/start-thread.js';
import { LARGE_BODY } from '../../../runtime/core/write/large-bodies.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { FHIR_JSON, type Answer } from '../server.js';
import { useWriteServer } from '../write-server.js';

const FHIR_XML = 'application/fhir+xml';
const BODY = 20 * 2 ** 20;
const limits = { nesting: 100, entries: 50, resource: 2 ** 20 };

let started = 0;
/** Threads that have not ended. */
let running = 0;
/** What the next thread is instead of one that reads. */
let other: (() => Worker) | undefined;
const intake = openBodyWorkers(
  () => {
    started++;
    running++;
    const start = other ?? (() => startBodyWorker({ zone: 'UTC', own: [], validation: 'full', limits }, 512));
    other = undefined;
    return start().once('exit', () => running--);
  },
  { body: BODY, threads: 1, idle: 200 },
);
const store = openSqliteStore('sqlite::memory:');
const server = useWriteServer(store, {
  ...{ large: intake, limits: { ...limits, body: BODY } },
  rules: createRuleChecker(tables),
});
afterAll(async () => {
  await intake.close();
  await store.close();
});

/** The same body, which is large now; what stands in it stands where it stood. */
const padded = (text: string): string => text + ' '.repeat(LARGE_BODY);

/** What an answer says, but for what is new each time. */
function essence({ status, headers, text }: Answer): unknown {
  const body = text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/W\/[^"]*"\d+\\?"/g, 'VERSION');
  return { status, type: headers['content-type'], location: headers.location?.includes('/Patient/'), body };
}

const patient = (more: object = {}): Resource => ({
  resourceType: 'Patient',
  meta: { tag: [{ system: 'urn:test', code: 'tagged' }] },
  identifier: [{ system: 'urn:test', value: 'one' }],
  name: [{ family: 'Ångström', given: ['Ada'] }],
  extension: [{ url: 'urn:test:decimal', valueDecimal: 1.5 }],
  ...more,
});

const entry = (resource: object, method = 'POST', url = 'Patient'): object => ({ resource, request: { method, url } });
const bundle = (type: string, ...entries: object[]): object => ({ resourceType: 'Bundle', type, entry: entries });
const parametersOf = (...values: readonly (readonly [string, object])[]): object => ({
  resourceType: 'Parameters',
  parameter: values.map(([name, value]) => ({ name, ...value })),
});
const FAULTY = { nam: [{}], birthDate: 'yesterday', gender: ['female'] };

const BODIES: [string, string, string, string][] = [
  ['a resource', 'POST', '/Patient', JSON.stringify(patient())],
  ['a number whose text counts', 'POST', '/Patient', JSON.stringify(patient()).replace('1.5', '1.500')],
  ['an id that is none, which a create ignores', 'POST', '/Patient', JSON.stringify(patient({ id: '?' }))],
  ['an update', 'PUT', '/Patient/large', JSON.stringify(patient({ id: 'large', active: true }))],
  ['an update that changes nothing', 'PUT', '/Patient/large', JSON.stringify(patient({ id: 'large', active: true }))],
  ['a conditional update', 'PUT', '/Patient?identifier=urn:test|two', JSON.stringify(patient({ active: false }))],
  ['an id that is not that of the URL', 'PUT', '/Patient/large', JSON.stringify(patient({ id: 'other' }))],
  ['faults in the structure', 'POST', '/Patient', JSON.stringify(patient(FAULTY), null, 1)],
  ['faults in an update', 'PUT', '/Patient/large', JSON.stringify(patient({ id: 'large', ...FAULTY }), null, 1)],
  ['another type than the URL names', 'POST', '/Observation', JSON.stringify(patient(FAULTY))],
  ['no JSON', 'POST', '/Patient', '{"resourceType": "Patient",\n "active": tru}'],
  ['a property twice', 'POST', '/Patient', '{"resourceType":"Patient","active":true,\n"active":false}'],
  ['too many levels', 'POST', '/Patient', `{"resourceType":"Patient","name":${'['.repeat(120)}${']'.repeat(120)}}`],
  ['half of a surrogate pair', 'POST', '/Patient', '{"resourceType":"Patient","language":"\\ud800"}'],
  ['no resource', 'POST', '/Patient', '[1, 2]'],
  ['a text alone', 'POST', '/Patient', '"text"'],
  [
    'a batch',
    'POST',
    '/',
    JSON.stringify(
      bundle(
        'batch',
        entry(patient()),
        entry(patient(FAULTY)),
        entry({ resourceType: 'Patient', id: 'x' }, 'PUT', 'Patient/y'),
      ),
    ),
  ],
  [
    'a batch with entries that are no requests',
    'POST',
    '/',
    JSON.stringify(bundle('batch', entry(patient()), { resource: patient() }, { request: { method: 'GET' } }, {})),
  ],
  [
    'a batch with an entry that is no object',
    'POST',
    '/',
    JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry: [entry(patient()), 7, { request: {} }] }),
  ],
  [
    'a transaction',
    'POST',
    '/',
    JSON.stringify(
      bundle('transaction', entry(patient({ id: '?' })), entry(patient({ id: 'large' }), 'PUT', 'Patient/large')),
    ),
  ],
  [
    'a transaction with faults',
    'POST',
    '/',
    JSON.stringify(bundle('transaction', entry(patient()), entry(patient(FAULTY)))),
  ],
  [
    'faults around the entries',
    'POST',
    '/',
    JSON.stringify({ ...bundle('transaction', entry(patient())), totl: 1 }, null, 1),
  ],
  [
    'too many entries',
    'POST',
    '/',
    JSON.stringify(bundle('batch', ...Array.from({ length: 51 }, () => entry(patient())))),
  ],
  [
    'a transaction whose placeholders are no UUIDs',
    'POST',
    '/',
    JSON.stringify(
      bundle(
        'transaction',
        { fullUrl: 'urn:uuid:one', ...entry(patient()) },
        entry(patient({ link: [{ other: { reference: 'urn:uuid:one' }, type: 'seealso' }] })),
      ),
    ),
  ],
  [
    'a transaction that has them as text and as links',
    'POST',
    '/',
    JSON.stringify(
      bundle('transaction', {
        fullUrl: 'urn:uuid:one',
        ...entry(patient({ managingOrganization: { reference: 'urn:uuid:one', display: 'urn:uuid:one' } })),
      }),
    ),
  ],
  ['a Bundle that is not executed', 'POST', '/', JSON.stringify(bundle('collection', { resource: patient() }))],
  ['a Bundle that is stored', 'POST', '/Bundle', JSON.stringify(bundle('batch', entry(patient())))],
  [
    'a Binary',
    'POST',
    '/Binary',
    JSON.stringify({ resourceType: 'Binary', contentType: 'text/plain', data: 'SGVsbG8=' }),
  ],
  ['$validate', 'POST', '/Patient/$validate', JSON.stringify(patient())],
  ['$validate of faults', 'POST', '/Patient/$validate', JSON.stringify(patient(FAULTY), null, 1)],
  [
    '$validate of a broken rule',
    'POST',
    '/Patient/$validate',
    JSON.stringify(patient({ contact: [{ gender: 'female' }] }), null, 1),
  ],
  [
    '$validate of what is in Parameters',
    'POST',
    '/Patient/$validate',
    JSON.stringify(
      {
        resourceType: 'Parameters',
        parameter: [
          { name: 'mode', valueCode: 'create' },
          { name: 'resource', resource: patient(FAULTY) },
        ],
      },
      null,
      1,
    ),
  ],
  [
    'a view with data that are no R5',
    'POST',
    '/$sql-run',
    JSON.stringify({
      resourceType: 'Parameters',
      parameter: [
        {
          name: 'subjectResource',
          resource: { resourceType: 'ViewDefinition', status: 'draft', resource: 'Patient', select: [{ column: [{ name: 'id', path: 'id' }] }] }, // prettier-ignore
        },
        { name: 'resource', resource: patient({ id: 'p', gendr: 'other' }) },
      ],
    }),
  ],
  ['a faulty patient that matches are looked for', 'POST', '/Patient/$match', JSON.stringify(patient(FAULTY))],
  [
    'the same in parameters',
    'POST',
    '/Patient/$match',
    JSON.stringify(parametersOf(['resource', { resource: patient(FAULTY) }], ['count', { valueInteger: 2 }])),
  ],
  [
    'faults in its other parameters',
    'POST',
    '/Patient/$match',
    JSON.stringify(parametersOf(['resource', { resource: patient(FAULTY) }], ['count', { valueInteger: 'two' }])),
  ],
  ['a patient to match that is no JSON', 'POST', '/Patient/$match', '{"resourceType":"Patient",}'],
  [
    'the parameters of an operation',
    'POST',
    '/Patient/large/$meta-add',
    JSON.stringify({
      resourceType: 'Parameters',
      parameter: [{ name: 'meta', valueMeta: { tag: [{ code: 'new' }] } }],
    }),
  ],
  [
    'faults in the parameters of an operation',
    'POST',
    '/Patient/large/$meta-add',
    JSON.stringify({ resourceType: 'Parameters', parameter: [{ nam: 'meta', valueMeta: { tag: {} } }] }, null, 1),
  ],
  [
    'a batch of patches',
    'POST',
    '/',
    JSON.stringify(
      bundle(
        'batch',
        entry({ resourceType: 'Parameters', parameter: [{ nam: 'operation' }] }, 'PATCH', 'Patient/large'),
        entry({ resourceType: 'Parameters', parameter: [] }, 'PATCH', 'Patient/large'),
      ),
    ),
  ],
  ['a faulty Binary', 'POST', '/Binary', JSON.stringify({ resourceType: 'Binary', data: '?' }, null, 1)],
];

const PATCHES: [string, string, string][] = [
  ['JSON Patch', 'application/json-patch+json', JSON.stringify([{ op: 'replace', path: '/active', value: true }])],
  ['JSON Patch as plain JSON', 'application/json', JSON.stringify([{ op: 'replace', path: '/active', value: false }])],
  ['FHIRPath Patch', FHIR_JSON, JSON.stringify({ resourceType: 'Parameters', parameter: [] })],
  ['no patch', FHIR_JSON, JSON.stringify(patient())],
];

describe('a body above 256 kB', () => {
  it.each(BODIES)('is answered as a small one: %s', async (_what, method, path, text) => {
    const small = await server.send(method, path, text);
    const large = await server.send(method, path, padded(text));
    // The first update makes what the second finds.
    const again = method === 'PUT' && small.status === 201 ? await server.send(method, path, text) : small;
    expect(essence(large)).toEqual(essence(again));
    expect(server.defects).toEqual([]);
  });

  it.each([
    ['a resource', writeXml(patient(), tables), 201],
    ['faults', writeXml(patient(), tables).replace('<given value="Ada"/>', '<given value=""/>\n<gvn/>'), 400],
    ['no XML', '<Patient xmlns="http://hl7.org/fhir"><active value="true"></Patient>', 400],
  ])('is answered as a small one, in XML: %s', async (_what, text, status) => {
    const headers = { 'content-type': FHIR_XML };
    const small = await server.send('POST', '/Patient', text, headers);
    expect(small.status, small.text).toBe(status);
    expect(essence(await server.send('POST', '/Patient', padded(text), headers))).toEqual(essence(small));
  });

  it.each(PATCHES)('is answered as a small one, as %s', async (_what, type, text) => {
    const id = randomUUID();
    await server.send('PUT', `/Patient/${id}`, patient({ id, active: false }));
    const send = (body: string): Promise<Answer> =>
      server.send('PATCH', `/Patient/${id}`, body, { 'content-type': type });
    const small = await send(text);
    expect(essence(await send(padded(text)))).toEqual(essence(small));
  });

  it('of a stored resource keeps what it had where tags are added: a worker makes its index entries', async () => {
    const id = randomUUID();
    const photo = [{ contentType: 'image/png', data: 'QUJD'.repeat(80_000) }];
    expect((await server.send('PUT', `/Patient/${id}`, patient({ id, photo }))).status).toBe(201);
    const parameter = [{ name: 'meta', valueMeta: { tag: [{ system: 'urn:test', code: id }] } }];
    const added = await server.send('POST', `/Patient/${id}/$meta-add`, { resourceType: 'Parameters', parameter });
    expect(added.status, added.text).toBe(200);
    for (const criteria of [`_tag=urn:test|${id}`, `_tag=urn:test|${id}&given=Ada&identifier=one`]) {
      const found = await server.send('GET', `/Patient?${criteria}`);
      expect((JSON.parse(found.text) as { entry?: unknown[] }).entry, found.text).toHaveLength(1);
    }
    const json = await server.send('GET', `/Patient/${id}`);
    const xml = await server.send('GET', `/Patient/${id}`, undefined, { accept: FHIR_XML });
    expect(xml.text).toBe(writeXml(JSON.parse(json.text) as Resource, tables));
    const lines = await server.send('GET', `/Patient/${id}?_pretty=true`);
    expect(lines.text).toBe(JSON.stringify(JSON.parse(json.text), null, 2));
    const shown = await server.send('POST', `/Patient/${id}/$reindex`);
    expect(shown.status, shown.text.slice(0, 500)).toBe(200);
    expect(shown.text).toContain('"ValueNormalized"');
  });

  it('may come compressed', async () => {
    const body = gzipSync(padded(JSON.stringify(patient())));
    expect(body.length).toBeLessThan(LARGE_BODY);
    await idle();
    const before = started;
    const answer = await server.send('POST', '/Patient', body, { 'content-encoding': 'gzip' });
    expect([answer.status, started - before]).toEqual([201, 1]);
  });

  it('is found by what it contains', async () => {
    const contained = Array.from({ length: 400 }, (_, n) => ({ resourceType: 'Patient', id: `n${n}`, gender: n === 7 ? 'other' : 'male', name: [{ family: 'x'.repeat(20) }] })); // prettier-ignore
    const link = contained.map(({ id }) => ({ other: { reference: `#${id}` }, type: 'seealso' }));
    const body = padded(JSON.stringify(patient({ id: 'containing', contained, link })));
    const answer = await server.send('PUT', '/Patient/containing', body);
    expect(answer.status, answer.text.slice(0, 500)).toBe(201);
    const find = async (query: string) => (await server.send('GET', `/Patient?${query}&_total=accurate`)).json();
    const all = await find('gender=male,other&_contained=true&_containedType=contained&_count=1');
    expect(all.total).toBe(400);
    const [one] = (await find('gender=other&_contained=true&_containedType=contained')).entry;
    expect(one.fullUrl).toMatch(/\/Patient\/containing#n7$/);
  });

  it('is found by what is really large in it, and given back as it was sent', async () => {
    const identifier = Array.from({ length: 6000 }, (_, i) => ({ system: 'urn:large', value: `v${i}` }));
    const sent = patient({ id: 'found', identifier, multipleBirthInteger: 2 });
    const created = await server.send('PUT', '/Patient/found', sent);
    expect(created.status, created.text.slice(0, 500)).toBe(201);
    const { meta, ...rest } = created.json();
    const { meta: _meta, ...sentRest } = sent;
    expect(rest).toEqual(sentRest);
    expect(meta.tag).toEqual([{ system: 'urn:test', code: 'tagged' }]);
    for (const query of ['identifier=urn:large|v5999', '_id=found', '_tag=urn:test|tagged&identifier=urn:large|v1']) {
      const page = (await server.send('GET', `/Patient?${query}&_summary=count`)).json();
      expect(page.total, query).toBe(1);
    }
    // What is there already is large too; in another order it is the same.
    const { resourceType, ...members } = sent;
    const same = { resourceType, ...Object.fromEntries(Object.entries(members).reverse()) };
    const kept = await server.send('PUT', '/Patient/found', same);
    expect([kept.status, kept.headers.etag]).toEqual([200, 'W/"1"']);
    const { meta: _tags, ...other }: Resource = { ...sent, active: true };
    const changed = await server.send('PUT', '/Patient/found', other);
    expect([changed.status, changed.json().active, changed.json().meta.tag]).toEqual([200, true, meta.tag]);
    const json = { 'content-type': 'application/json-patch+json' };
    const operations = JSON.stringify([{ op: 'remove', path: '/active' }]);
    const patched = await server.send('PATCH', '/Patient/found', operations, json);
    expect([patched.status, patched.headers.etag, patched.json().active]).toEqual([200, 'W/"3"', undefined]);

    const tooLarge = { ...sent, identifier: Array.from({ length: 30_000 }, () => identifier[0]) };
    const refused = await server.send('PUT', '/Patient/found', tooLarge);
    expect([refused.status, refused.json().issue[0].details.coding[0].code]).toEqual([413, 'resource-too-large']);
  });

  it('that kills its thread is refused; the next one is read', async () => {
    await idle();
    other = () => new Worker('process.exit(3)', { eval: true });
    const text = padded(JSON.stringify(patient()));
    const dead = await server.send('POST', '/Patient', text);
    expect([dead.status, dead.json().issue[0].details.coding[0].code]).toEqual([503, 'body-unread']);
    expect((await server.send('POST', '/Patient', text)).status).toBe(201);

    await idle();
    const hungry = 'const all = []; for (;;) all.push(new Array(1e5).fill(0).map(() => ({})));';
    other = () => new Worker(hungry, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } });
    const starved = await server.send('POST', '/Patient', text);
    expect([starved.status, starved.json().issue[0].details.coding[0].code]).toEqual([413, 'body-too-large']);
    expect((await server.send('POST', '/Patient', text)).status).toBe(201);
    expect(server.defects).toEqual([]);
  });

  it('whose client leaves holds nobody up', async () => {
    const text = padded(JSON.stringify(patient()));
    const head = `POST /fhir/Patient HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: ${FHIR_JSON}\r\n`;
    for (let i = 0; i < 20; i++) {
      const socket = connect(server.port, '127.0.0.1');
      await new Promise<void>((resolve) => {
        socket.end(`${head}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`, () => {
          setTimeout(() => resolve(void socket.destroy()), i);
        });
      });
    }
    expect((await server.send('POST', '/Patient', text)).status).toBe(201);
    expect(server.defects).toEqual([]);
  });

  it('is read by a thread that ends when nothing is to be done', async () => {
    await idle();
    const before = started;
    await server.send('POST', '/Patient', padded(JSON.stringify(patient())));
    expect(started).toBe(before + 1);
  });
});

/** Until the thread has ended. */
async function idle(): Promise<void> {
  await expect.poll(() => running).toBe(0);
}
