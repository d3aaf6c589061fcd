import { describe, expect, it } from 'vitest';

import { createToyStore } from '../../toy/store.js';
import {
  batch,
  entry,
  faultsOf,
  observation,
  patient,
  responsesOf,
  statusesOf,
  transaction,
  useBundleServer,
  word,
} from './bundle-server.js';
import { codeOf } from '../server.js';

const server = useBundleServer(createToyStore());
const run = (bundle: object, headers: Record<string, string> = {}) => server.send('POST', '', bundle, headers);

/** What is wrong with a single entry: as a batch tells it in the entry's answer, with its status. */
async function failureOf(each: object, headers: Record<string, string> = {}) {
  const answer = await run(batch(entry('GET', 'Patient?active=true'), each), headers);
  expect(answer.status, answer.text).toBe(200);
  const [first, { status, outcome }] = responsesOf(answer);
  expect(first.status).toBe('200 OK');
  const [{ details, expression }] = outcome.issue;
  return { status: status.slice(0, 3), code: details.coding[0].code, expression: expression[0], text: details.text };
}

describe('entries that are no requests', () => {
  const broken: readonly [string, object, string, string][] = [
    ['no request', { resource: patient('x') }, 'bundle-entry', 'request'],
    ['nothing at all', {}, 'bundle-entry', 'request'],
    ['no method', { request: { url: 'Patient' } }, 'missing-element', 'request.method'],
    ['no URL', { request: { method: 'GET' } }, 'missing-element', 'request.url'],
    ['an unknown method', { request: { method: 'FETCH', url: 'Patient' } }, 'bundle-entry', 'request.method'],
    ['a method that is no text', { request: { method: 7, url: 'Patient' } }, 'wrong-type', 'request.method'],
    ['an unknown property', { ...entry('GET', 'Patient'), verb: 'GET' }, 'unknown-property', 'verb'],
    [
      'criteria that are no text',
      { resource: patient('x'), request: { method: 'POST', url: 'Patient', ifNoneExist: 7 } },
      'wrong-type',
      'request.ifNoneExist',
    ],
    [
      'a time that is none',
      entry('GET', 'Patient/1', undefined, { request: { ifModifiedSince: 'now' } }),
      'bad-primitive',
      'request.ifModifiedSince',
    ],
  ];

  it.each(broken)('%s: in a batch it is told in the answer of the entry', async (_, each, code, place) => {
    const failure = await failureOf(each);
    expect(failure.text).not.toContain('entry[0]');
    expect(failure).toMatchObject({
      status: '400',
      code,
      expression: ['Bundle.entry[1]', place].filter(Boolean).join('.'),
    });
  });

  it.each(broken)('%s: in a transaction nothing is done', async (_, each, code, place) => {
    const id = word();
    const answer = await run(transaction(entry('PUT', `Patient/${id}`, patient('x', { id })), each));
    expect(answer.status).toBe(400);
    expect(faultsOf(answer)).toContainEqual([code, ['Bundle.entry[1]', place].filter(Boolean).join('.')]);
    expect((await server.send('GET', `/Patient/${id}`)).status).toBe(404);
  });

  it('of very many each is told, and none of them is executed', async () => {
    const value = word();
    const wrong = { resource: patient(value), request: { method: 'POST', url: 'Patient', ifNoneExist: 7 } };
    const entries = Array.from({ length: 150 }, (_, i) =>
      i === 149 ? entry('POST', 'Patient', patient(value)) : wrong,
    );
    const statuses = statusesOf(await run(batch(...(entries as []))));
    expect(statuses.slice(0, 149).every((status) => status === '400 Bad Request')).toBe(true);
    expect(statuses[149]).toBe('201 Created');
    expect((await server.send('GET', `/Patient?identifier=${value}&_summary=count`)).json().total).toBe(1);
  });

  it.each([
    ['entries that are no objects', { entry: [7] }],
    ['null for an entry', { entry: [null] }],
    ['no array', { entry: {} }],
    ['an empty array', { entry: [] }],
    ['a property that no Bundle has', { entry: [{ request: { method: 'GET' } }], items: [] }],
  ])('%s: that is no Bundle', async (_, members) => {
    expect((await run({ resourceType: 'Bundle', type: 'batch', ...members })).status).toBe(400);
  });
});

describe('faults of what entries ask for, in the words of Bundles', () => {
  const id = word();

  const faulty: readonly (readonly [string, object, string])[] = [
    ['ifNoneExist', entry('POST', 'Patient', patient('x'), { request: { ifNoneExist: 'nonsense=1' } }), '400'],
    ['ifNoneExist', entry('POST', 'Patient', patient('x'), { request: { ifNoneExist: '_count=1' } }), '400'],
    ['ifNoneExist', entry('POST', 'Patient', patient('x'), { request: { ifNoneExist: 'Observation?code=x' } }), '400'],
    [
      'ifNoneExist',
      entry('POST', 'Patient', patient('x'), { request: { ifNoneExist: `active=${'x'.repeat(9000)}` } }),
      '400',
    ],
    ['ifMatch', entry('PUT', `Patient/${id}`, patient('x', { id }), { request: { ifMatch: 'seven' } }), '400'],
    ['ifMatch', entry('PUT', `Patient/${id}`, patient('x', { id }), { request: { ifMatch: 'W/"9999"' } }), '412'],
    ['ifMatch', entry('DELETE', `Patient/${id}`, undefined, { request: { ifMatch: 'W/"9999"' } }), '412'],
    ['ifNoneMatch', entry('PUT', `Patient/${id}`, patient('x', { id }), { request: { ifNoneMatch: '*' } }), '412'],
    ['ifNoneMatch', entry('GET', `Patient/${id}`, undefined, { request: { ifNoneMatch: 'seven' } }), '400'],
    ['url', entry('GET', 'Patient?nonsense=1'), '400'],
    ['url', entry('GET', 'Patient?name:nonsense=1'), '400'],
    ['url', entry('GET', 'Patient?_count=many'), '400'],
    ['url', entry('GET', `Patient?name=${'x'.repeat(9000)}`), '414'],
    ['url', entry('GET', 'Nonsense/1'), '404'],
    ['url', entry('GET', `Patient/${word()}`), '404'],
    ['url', entry('PUT', 'Patient', patient('x')), '400'],
    ['url', entry('PUT', 'Patient?nonsense=1', patient('x')), '400'],
    ['url', entry('PUT', 'Patient?identifier=two', patient('x')), '412'],
    ['url', entry('DELETE', 'Patient?identifier=two'), '412'],
  ];

  it.each(
    faulty.map(
      ([part, each, status]) => [`${part} ${status} ${JSON.stringify(each).slice(-60)}`, part, each, status] as const,
    ),
  )('%s', async (_, part, each, status) => {
    await server.send('PUT', `/Patient/${id}`, patient(word(), { id }));
    for (const name of ['a', 'b'])
      await server.send('PUT', `/Patient/${id}-${name}`, patient('two', { id: `${id}-${name}` }));
    const wanted = `Bundle.entry[1].request.${part}`;
    const failure = await failureOf(each);
    expect(failure).toMatchObject({ status, expression: wanted });
    expect(failure.text).not.toMatch(/If-[MN]/);
    const whole = await run(transaction(entry('GET', 'Patient?active=true'), each));
    expect([String(whole.status), whole.json().issue[0].expression]).toEqual([status, [wanted]]);
    expect(whole.text).not.toMatch(/If-[MN]/);
  });

  it('the same by itself has the words of HTTP', async () => {
    const answer = await server.send('PUT', `/Patient/${id}`, patient('x', { id }), { 'if-match': 'W/"9999"' });
    expect(answer.json().issue[0].details.text).toContain('If-Match');
    expect(answer.json().issue[0].expression).toBeUndefined();
  });

  it('a body that is missing or another is told of the resource', async () => {
    expect(await failureOf(entry('POST', 'Patient'))).toMatchObject({
      code: 'body-missing',
      expression: 'Bundle.entry[1].resource',
    });
    expect(await failureOf(entry('POST', 'Patient', observation('Patient/1')))).toMatchObject({
      code: 'type-mismatch',
      expression: 'Bundle.entry[1].resource',
    });
  });

  it('what is wrong with a Bundle in an entry is told of that one', async () => {
    const inner = { resourceType: 'Bundle', type: 'collection', entry: [{ nonsense: 1 }] };
    const failure = await failureOf(entry('POST', 'Bundle', inner));
    expect(failure.expression).toBe('Bundle.entry[1].resource.entry[0].nonsense');
    const whole = await run(transaction(entry('POST', 'Bundle', inner)));
    expect(faultsOf(whole)).toEqual([['unknown-property', 'Bundle.entry[0].resource.entry[0].nonsense']]);
  });

  it('the length of URLs counts for those of HTTP as well', async () => {
    expect(codeOf(await server.send('GET', `/Patient?name=${'x'.repeat(9000)}`))).toBe('url-too-long');
  });
});

describe('entries that read', () => {
  it('ifModifiedSince is meant to the millisecond', async () => {
    const id = word();
    await server.send('PUT', `/Patient/${id}`, patient('x', { id }));
    const { lastUpdated } = (await server.send('GET', `/Patient/${id}`)).json().meta;
    const at = (ms: number) => new Date(Date.parse(lastUpdated) + ms).toISOString();
    const read = (ms: number) => entry('GET', `Patient/${id}`, undefined, { request: { ifModifiedSince: at(ms) } });
    const answer = await run(batch(read(-1), read(0), read(1)));
    expect(statusesOf(answer)).toEqual(['200 OK', '304 Not Modified', '304 Not Modified']);
    const [, { etag, lastModified }] = responsesOf(answer);
    expect([etag, lastModified]).toEqual(['W/"1"', lastUpdated]);
  });

  it('have histories and searches in their answers, whatever Prefer says of writes', async () => {
    const id = word();
    for (const value of ['one', 'two']) await server.send('PUT', `/Patient/${id}`, patient(value, { id }));
    const reads = [
      entry('GET', `Patient/${id}/_history?_count=1`),
      entry('GET', `Patient?_id=${id}`),
      entry('POST', `Patient/_search?_id=${id}`),
      entry('HEAD', `Patient/${id}/_history`),
      entry('HEAD', `Patient?_id=${id}`),
      entry('GET', `Patient/${id}/_history/1`, undefined, { request: { ifNoneMatch: 'W/"1"' } }),
      entry('HEAD', `Patient/${id}`, undefined, { request: { ifNoneMatch: 'W/"1"' } }),
    ];
    for (const prefer of ['', 'return=minimal', 'return=OperationOutcome', 'return=representation']) {
      for (const bundle of [batch(...reads), transaction(...reads)]) {
        const answer = await run(bundle, { prefer });
        const resources = answer
          .json()
          .entry.map((each: { resource?: { type: string; total: number } }) => each.resource);
        expect(resources.map((each?: { type: string; total: number }) => each && [each.type, each.total])).toEqual([
          ['history', 2],
          ['searchset', 1],
          ['searchset', 1],
          undefined,
          undefined,
          undefined,
          undefined,
        ]);
        expect(statusesOf(answer).map((status) => status.slice(0, 3))).toEqual([
          '200',
          '200',
          '200',
          '200',
          '200',
          '304',
          '200',
        ]);
      }
    }
  });
});

describe('a search that is posted', () => {
  const form = (text: string, contentType = 'application/x-www-form-urlencoded') => ({
    resourceType: 'Binary',
    contentType,
    data: Buffer.from(text).toString('base64'),
  });
  const kinds = [['batch', batch] as const, ['transaction', transaction] as const];

  it.each(kinds)('takes its criteria from a form, and from the URL: %s', async (_, make) => {
    const value = word();
    await server.send('POST', '/Patient', patient(value));
    const answer = await run(
      make(
        entry('POST', 'Patient/_search', form(`identifier=urn:test|${value}`)),
        entry('POST', 'Patient/_search', form('identifier=nobody')),
        entry('POST', `Patient/_search?identifier=urn:test|${value}`),
        entry('POST', `Patient/_search?identifier=urn:test|${value}`, form('active=true&active=false')),
      ),
    );
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json().entry.map((each: any) => each.resource.total)).toEqual([1, 0, 1, 0]); // eslint-disable-line @typescript-eslint/no-explicit-any
  });

  it.each([
    [
      'Parameters',
      { resourceType: 'Parameters', parameter: [{ name: 'identifier', valueString: 'x' }] },
      'type-mismatch',
      '',
    ],
    ['a Patient', patient('x'), 'type-mismatch', ''],
    ['a Binary of something else', form('identifier=x', 'text/plain'), 'type-mismatch', ''],
    ['a form that is encoded badly', form('identifier=%'), 'parameter-invalid', '.data'],
    ['an unknown parameter', form('foo=1'), 'parameter-unknown', undefined],
  ])('does not find more than was asked for: %s', async (_, resource, code, place) => {
    const failure = await failureOf(entry('POST', 'Patient/_search', resource), { prefer: 'handling=strict' });
    expect(failure).toMatchObject({ status: '400', code });
    if (place !== undefined) expect(failure.expression).toBe(`Bundle.entry[1].resource${place}`);
    const whole = await run(transaction(entry('POST', 'Patient/_search', resource)), { prefer: 'handling=strict' });
    expect([whole.status, faultsOf(whole)[0]?.[0]]).toEqual([400, code]);
  });
});
