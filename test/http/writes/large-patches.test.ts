import { afterAll, describe, expect, it, vi } from 'vitest';

import { openBodyWorkers } from '../../../runtime/body-workers/body-workers.js';
import { startBodyWorker } from '../../../runtime/body-workers/start-thread.js';
import { LARGE_BODY } from '../../../runtime/core/write/large-bodies.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { FHIR_JSON } from '../server.js';
import { useWriteServer } from '../write-server.js';

const limits = { nesting: 100, entries: 50, resource: 2 ** 20 };
const intake = openBodyWorkers(() => startBodyWorker({ zone: 'UTC', own: [], validation: 'full', limits }, 512), {
  body: 20 * 2 ** 20,
  threads: 1,
});
const store = openSqliteStore('sqlite::memory:');
const elsewhere = useWriteServer(store, { large: intake, limits: { ...limits, body: 20 * 2 ** 20 } });
/** For two or three resources at a time, and a few that wait. */
const narrow = openBodyWorkers(() => startBodyWorker({ zone: 'UTC', own: [], validation: 'full', limits }, 512), {
  body: 2 ** 20,
  threads: 1,
});
const few = useWriteServer(store, { large: narrow, limits: { ...limits, body: 2 ** 20 } });
const here = useWriteServer(store, { limits: { ...limits, body: 20 * 2 ** 20 } });
afterAll(async () => {
  await intake.close();
  await narrow.close();
  await store.close();
});

const operation = (...parts: readonly object[]) => ({
  resourceType: 'Parameters',
  parameter: [{ name: 'operation', part: parts }],
});

const replace = (path: string, value: object) =>
  operation({ name: 'type', valueCode: 'replace' }, { name: 'path', valueString: path }, { name: 'value', ...value });

const JSON_PATCH = 'application/json-patch+json';
const XML_PATCH = 'application/xml-patch+xml';

const PATCHES: [string, string, unknown][] = [
  ['JSON Patch', JSON_PATCH, [{ op: 'replace', path: '/birthDate', value: '1815-12-10' }]],
  ['a number whose text counts', JSON_PATCH, '[{"op":"add","path":"/extension/0/valueDecimal","value":2.500}]'],
  ['FHIRPath Patch', FHIR_JSON, replace('Patient.birthDate', { valueDate: '1815-12-11' })],
  [
    'XML Patch',
    XML_PATCH,
    '<diff xmlns="http://hl7.org/fhir"><replace sel="Patient/birthDate/@value">1815-12-12</replace></diff>',
  ],
  ['one that changes nothing', JSON_PATCH, [{ op: 'test', path: '/resourceType', value: 'Patient' }]],
  ['one that makes something wrong', JSON_PATCH, [{ op: 'replace', path: '/birthDate', value: 'yesterday' }]],
  ['one that makes it another', JSON_PATCH, [{ op: 'replace', path: '/id', value: 'other' }]],
  ['one that does not go with it', JSON_PATCH, [{ op: 'remove', path: '/nothing' }]],
  ['one whose test fails', JSON_PATCH, [{ op: 'test', path: '/birthDate', value: '1900' }]],
  ['an XML Patch that is none', XML_PATCH, '<diff><replace'],
  ['a FHIRPath Patch that meets nothing', FHIR_JSON, replace('Patient.gender', { valueCode: 'female' })],
];

/** A Patient whose text is long, of the same content each time. */
async function makeLarge(id: string): Promise<void> {
  const patient = {
    resourceType: 'Patient',
    id,
    meta: { tag: [{ system: 'urn:test', code: 'tagged' }] },
    extension: [
      { url: 'urn:test:decimal', valueDecimal: 1.5 },
      ...Array.from({ length: 400 }, () => ({ url: 'urn:test:long', valueString: 'x'.repeat(LARGE_BODY / 300) })),
    ],
    birthDate: '1815-12-01',
  };
  const answer = await here.send('PUT', `/Patient/${id}`, JSON.stringify(patient), { 'content-type': FHIR_JSON });
  expect(answer.status).toBeLessThan(300);
}

/** What a text says, but for what is new each time. */
const essence = (text: string, id: string): string =>
  text
    .replaceAll(id, 'ID')
    .replaceAll(/x{9,}/g, 'x')
    .replaceAll(/"(?:versionId|lastUpdated)":"[^"]*"/g, '');

describe('a patch of a resource above 256 kB', () => {
  it.each(PATCHES)('is made by another thread as here: %s', async (_what, type, patch) => {
    const body = typeof patch === 'string' ? patch : JSON.stringify(patch);
    const used = vi.spyOn(intake, 'patch').mockClear();
    const answers: unknown[] = [];
    for (const [server, id] of [
      [here, 'id-one'],
      [elsewhere, 'id-two'],
    ] as const) {
      await here.send('DELETE', `/Patient/${id}`);
      await makeLarge(id);
      const before = (await here.send('GET', `/Patient/${id}`)).headers.etag;
      const answer = await server.send('PATCH', `/Patient/${id}`, body, { 'content-type': type });
      const after = await here.send('GET', `/Patient/${id}`);
      const found = await here.send(
        'GET',
        `/Patient?_id=${id}&birthdate=1815-12-10,1815-12-11,1815-12-12&_summary=count`,
      );
      answers.push({
        status: answer.status,
        type: answer.headers['content-type'],
        isNew: after.headers.etag !== before,
        texts: [answer, after].map(({ text }) => essence(text, id)),
        total: found.json().total,
      });
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(used).toHaveBeenCalledTimes(1);
  });

  it('that would become too large is refused', async () => {
    await makeLarge('grows');
    const add = Array.from({ length: 10 }, () => ({
      op: 'add',
      path: '/extension/-',
      value: { url: 'urn:x', valueString: 'x'.repeat(100_000) },
    }));
    const answer = await elsewhere.send('PATCH', '/Patient/grows', JSON.stringify(add), { 'content-type': JSON_PATCH });
    expect(answer.status, answer.text).toBe(413);
    expect((await here.send('GET', '/Patient/grows')).json().extension).toHaveLength(401);
  });

  it('waits its turn; where too many wait it is refused, and may be tried again', async () => {
    const ids = Array.from({ length: 20 }, (_, n) => `many-${n}`);
    for (const id of ids) await makeLarge(id);
    const birth = (id: string) =>
      few.send('PATCH', `/Patient/${id}`, '[{"op":"replace","path":"/birthDate","value":"1815"}]', {
        'content-type': JSON_PATCH,
      });
    const answers = await Promise.all(ids.map(birth));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(answers.length - refused.length).toBeGreaterThan(2);
    for (const { status, headers } of refused) expect([status, headers['retry-after']]).toEqual([503, '5']);
    expect((await birth('many-19')).status).toBe(200);
  });

  it('and of others in one transaction is bounded by what they are together', async () => {
    const ids = ['one', 'two', 'three', 'four'].map((n) => `together-${n}`);
    for (const id of ids) await makeLarge(id);
    const data = Buffer.from('[{"op":"replace","path":"/birthDate","value":"1815"}]').toString('base64');
    const bundle = (some: readonly string[]) => ({
      resourceType: 'Bundle',
      type: 'transaction',
      entry: some.map((id) => ({
        resource: { resourceType: 'Binary', contentType: JSON_PATCH, data },
        request: { method: 'PATCH', url: `Patient/${id}` },
      })),
    });
    const run = (some: readonly string[]) =>
      few.send('POST', '', JSON.stringify(bundle(some)), { 'content-type': FHIR_JSON });
    const whole = await run(ids);
    expect([whole.status, whole.json().issue[0].expression]).toEqual([413, ['Bundle.entry[2]']]);
    expect((await here.send('GET', '/Patient/together-one')).json().birthDate).toBe('1815-12-01');
    expect((await run(ids.slice(0, 2))).status).toBe(200);
    expect((await run(ids.slice(2))).status).toBe(200);
  });
});
