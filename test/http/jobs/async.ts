import { beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { Client } from '../../../runtime/auth/clients/client.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import type { Store } from '../../../runtime/store/store.js';
import { LAB, observed } from '../auth/support.js';
import { neededBy } from '../auth/scoped.js';
import type { Answer } from '../server.js';
import { expectRefusal, patient, word } from '../write-server.js';
import { ASYNC, jobsServer } from './jobs-server.js';

const FULL = 'system/*.cruds';

/** Requests whose answer comes later, on any store. https://hl7.org/fhir/R5/async-bundle.html */
export function asyncRequests(store: Store): void {
  const registered = new Map<string, Pick<Client, 'scope' | 'enabled' | 'registration'>>();
  const clients = { find: (id: string) => Promise.resolve(registered.get(id) as Client | undefined) };
  const server = jobsServer(store, {}, { clients, perClient: { running: 20, kept: 1000 } });
  const { all } = server;
  const client = (scopes = FULL, id = 'asking') => server.as(scopes, id);
  const below = (location: unknown): string => String(location).replace(/^.*?\/fhir/, '');
  const bundle = (type: 'batch' | 'transaction', entry: readonly object[]) => ({ resourceType: 'Bundle', type, entry });
  const family = word();

  beforeAll(async () => {
    for (const id of ['a', 'b'])
      await all.send('PUT', `/Patient/${family}-${id}`, patient(family, { id: `${family}-${id}`, name: [{ family }] }));
  });
  beforeEach(() => {
    registered.clear();
    for (const id of ['asking', 'other']) registered.set(id, { scope: `${FULL} __admin`, enabled: true });
  });

  /** Sends a request that is taken. @returns the path of its status */
  async function start(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    who = client(),
  ): Promise<string> {
    const answer = await who.send(method, path, body, { ...headers, prefer: [ASYNC.prefer, headers['prefer']].filter((each) => each !== undefined).join(', ') }); // prettier-ignore
    expect(answer.status, answer.text).toBe(202);
    expect(answer.headers['preference-applied']).toBe('respond-async');
    expect(answer.json().resourceType).toBe('OperationOutcome');
    return below(answer.headers['content-location']);
  }

  /** The only entry of the answer. */
  async function finished(status: string, who = client()) {
    await server.finish();
    const answer = await who.send('GET', status);
    expect(answer.status, answer.text).toBe(200);
    const { type, entry } = answer.json();
    expect([type, entry.length]).toEqual(['batch-response', 1]);
    return entry[0];
  }

  describe('the kick-off is judged first', () => {
    it.each<[string, string, string, unknown, number, Record<string, string>?]>([
      ['an unknown path', 'GET', '/Patient/$nope', undefined, 404],
      ['an unknown type', 'GET', '/Patent', undefined, 404],
      ['a method', 'PUT', '/Patient/$everything', {}, 405],
      ['a media type', 'POST', '/Patient', 'x', 415, { 'content-type': 'text/csv' }],
      ['an answer that cannot be', 'GET', '/Patient', undefined, 406, { accept: 'text/csv' }],
      ['a body that does not parse', 'POST', '/Patient', '{', 400, { 'content-type': 'application/fhir+json' }],
      ['a parameter of a search', 'GET', '/Patient?nope=1', undefined, 400, { prefer: 'handling=strict' }],
      ['a parameter of a write', 'POST', '/Patient?nope=1', patient('x'), 400],
      ['a parameter of a history', 'GET', '/Patient/_history?nope=1', undefined, 400],
      ['criteria', 'DELETE', '/Patient?nope=1', undefined, 400],
      ['a Bundle of another type', 'POST', '/', { resourceType: 'Bundle', type: 'collection' }, 400],
      ['_outputFormat', 'GET', '/Patient?_outputFormat=ndjson', undefined, 400],
    ])('%s', async (_, method, path, body, status, headers = {}) => {
      const prefer = [ASYNC.prefer, headers['prefer']].filter((each) => each !== undefined).join(', ');
      const answer = await client().send(method, path, body, { ...headers, prefer });
      expect(answer.status, answer.text).toBe(status);
      expect(answer.headers['content-location']).toBeUndefined();
    });

    it('and a token that lacks scopes', async () => {
      const send = (scopes: string, method: string, path: string, body?: unknown) =>
        client(scopes).send(method, path, body, ASYNC);
      expect(neededBy(await send('system/Basic.cruds', 'GET', '/Patient?name=x'))).toBe('system/Patient.s');
      expect(neededBy(await send('system/Patient.rs', 'POST', '/Patient', patient('x')))).toBe('system/Patient.c');
      expect((await all.send('GET', '/Patient', undefined, { ...ASYNC, authorization: 'Bearer forged' })).status).toBe(
        401,
      );
    });
  });

  describe('what is answered at once all the same', () => {
    it.each([
      ['a read', 'GET', `/Patient/${family}-a`, 200],
      ['a version', 'GET', `/Patient/${family}-a/_history/1`, 200],
      ['HEAD', 'HEAD', '/Patient', 200],
      ['/metadata', 'GET', '/metadata', 200],
      ['$graphql', 'GET', `/Patient/${family}-a/$graphql?query={id}`, 200],
      ['$export in its own form', 'GET', '/$export?_type=Basic', 202],
    ])('%s', async (_, method, path, status) => {
      const answer = await client().send(method, path, undefined, ASYNC);
      expect(answer.status, answer.text).toBe(status);
      expect(String(answer.headers['content-location'])).not.toContain('$async');
    });

    it('content of a Binary', async () => {
      const answer = await client().send('POST', '/Binary', Buffer.from('x'), {
        ...ASYNC,
        'content-type': 'text/plain',
      });
      expect(answer.status, answer.text).toBe(201);
    });
  });

  describe('the answer is that of the request by itself', () => {
    const plain = ({ status, headers, text }: Answer) => ({
      ...{ status, etag: headers['etag'], location: headers['location'] && below(headers['location']) },
      ...{ modified: headers['last-modified'] !== undefined, body: text === '' ? undefined : JSON.parse(text) },
    });
    const volatile = (value: unknown): string =>
      JSON.stringify(value)
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID');
    const twice = (method: string, path: (n: number) => string, body?: (n: number) => unknown, headers: Record<string, string> = {}) =>
      ({ method, path, body, headers }); // prettier-ignore
    const id = (n: number) => `${family}-w${n}`;

    it.each<[string, ReturnType<typeof twice>]>([
      ['a search', twice('GET', () => `/Patient?name=${family}&_sort=_id`)],
      ['a search that is posted', twice('POST', () => '/Patient/_search', () => `name=${family}&_sort=_id`, { 'content-type': 'application/x-www-form-urlencoded' })], // prettier-ignore
      ['a search that finds nothing', twice('GET', () => `/Patient?name=${word()}&name=x`.replace(/=[^&]*/, '=none'))],
      ['a history', twice('GET', () => `/Patient/${family}-a/_history`)],
      ['a history of what is not there', twice('GET', () => '/Patient/none/_history')],
      ['an operation', twice('GET', () => `/Patient/${family}-a/$everything`)],
      ['an operation that is refused', twice('GET', () => `/Patient/${family}-a/$everything?nope=1`)],
      [
        'an operation with a body',
        twice(
          'POST',
          () => '/Patient/$validate',
          () => patient('x'),
        ),
      ],
      [
        'a create',
        twice(
          'POST',
          () => '/Patient',
          () => patient('same'),
        ),
      ],
      [
        'a create, minimal',
        twice(
          'POST',
          () => '/Patient',
          () => patient('same'),
          { prefer: 'return=minimal' },
        ),
      ],
      [
        'a create, as an outcome',
        twice(
          'POST',
          () => '/Patient',
          () => patient('same'),
          { prefer: 'return=OperationOutcome' },
        ),
      ],
      [
        'a create of what is wrong',
        twice(
          'POST',
          () => '/Patient',
          () => ({ resourceType: 'Patient', wings: 2 }),
        ),
      ],
      ['a create with Provenance', twice('POST', () => '/Patient', () => patient('same'), { 'x-provenance': JSON.stringify({ resourceType: 'Provenance', agent: [{ who: { display: 'x' } }] }) })], // prettier-ignore
      [
        'an update that creates',
        twice(
          'PUT',
          (n) => `/Patient/${id(n)}`,
          (n) => patient('same', { id: id(n) }),
        ),
      ],
      ['an update of a version that is not current', twice('PUT', () => `/Patient/${family}-a`, () => patient('same', { id: `${family}-a` }), { 'if-match': 'W/"99"' })], // prettier-ignore
      ['a patch', twice('PATCH', (n) => `/Patient/${id(n)}`, () => [{ op: 'add', path: '/active', value: true }], { 'content-type': 'application/json-patch+json' })], // prettier-ignore
      ['a deletion', twice('DELETE', (n) => `/Patient/${id(n)}`)],
      ['a deletion of what is not there', twice('DELETE', () => '/Patient/none')],
      ['a conditional create of what is there', twice('POST', () => '/Patient', () => patient('same'), { 'if-none-exist': `name=${family}&_id=${family}-a` })], // prettier-ignore
      ['a batch', twice('POST', () => '/', () => bundle('batch', [
        { request: { method: 'POST', url: 'Patient' }, resource: patient('same') },
        { request: { method: 'GET', url: 'Patient/none' } },
        { request: { method: 'PUT', url: 'Patient/x y' }, resource: patient('same') },
      ]))], // prettier-ignore
      ['a transaction', twice('POST', () => '/', () => bundle('transaction', [
        { fullUrl: 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0', request: { method: 'POST', url: 'Patient' }, resource: patient('same') },
        { request: { method: 'POST', url: 'Basic' }, resource: { resourceType: 'Basic', code: { text: 'x' }, subject: { reference: 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0' } } },
        { request: { method: 'GET', url: `Patient?name=${family}&_sort=_id` } },
      ]))], // prettier-ignore
      ['a transaction that is refused', twice('POST', () => '/', () => bundle('transaction', [
        { request: { method: 'POST', url: 'Patient' }, resource: { resourceType: 'Patient', wings: 2 } },
      ]))], // prettier-ignore
    ])('%s', async (_, { method, path, body, headers }) => {
      const once = plain(await client().send(method, path(1), body?.(1), headers));
      const { resource, response } = await finished(await start(method, path(2), body?.(2), headers));
      const ids = (text: string): string => text.replaceAll(id(2), id(1)).replace(/-w1\/_history/g, '-w1/_history');
      expect(parseInt(response.status, 10), JSON.stringify(response)).toBe(once.status);
      expect(response.etag).toBe(once.etag);
      expect(response.lastModified !== undefined).toBe(once.modified);
      expect(ids(volatile(response.location ?? null)).replace(/^"\/?/, '"')).toBe(volatile(once.location ?? response.location ?? null).replace(/^"\/?/, '"')); // prettier-ignore
      expect(ids(volatile(resource ?? response.outcome ?? null))).toBe(volatile(once.body ?? null));
      expect(response.outcome !== undefined).toBe(once.status >= 400);
    });

    it('within the constraints of the token', async () => {
      for (const category of ['laboratory', 'vital-signs'] as const)
        await all.send('POST', '/Observation', observed(category));
      const who = client(`system/Observation.rs?${LAB}`);
      registered.set('asking', { scope: `system/Observation.rs?${LAB}`, enabled: true });
      const once = await who.send('GET', '/Observation?_total=accurate');
      const { resource } = await finished(await start('GET', '/Observation?_total=accurate', undefined, {}, who), who);
      expect(resource.total).toBe(once.json().total);
      expect((await all.send('GET', '/Observation?_total=accurate')).json().total).toBeGreaterThan(resource.total);
    });
  });

  describe('the status', () => {
    it('tells how far the request is, and the same answer each time afterwards, in either format', async () => {
      const status = await start('GET', `/Patient?name=${family}`);
      for (const method of ['GET', 'HEAD']) {
        const waiting = await client().send(method, status);
        expect([waiting.status, waiting.headers['retry-after']]).toEqual([202, '1']);
        expect(String(waiting.headers['x-progress'])).toMatch(/^.{1,99}$/);
      }
      await server.finish();
      const [first, second] = [await client().send('GET', status), await client().send('GET', status)];
      expect(first.json().entry[0].response.status).toBe('200 OK');
      expect(second.text).toBe(first.text);
      const hours = (Date.parse(String(first.headers['expires'])) - Date.now()) / 3_600_000;
      expect(Math.round(hours)).toBe(24);
      expect((await client().send('HEAD', status)).status).toBe(200);
      const xml = await client().send('GET', status, undefined, { accept: 'application/fhir+xml' });
      expect(String(xml.headers['content-type'])).toContain('application/fhir+xml');
    });

    it('is for the client that asked, whose token has to cover what it did then', async () => {
      const status = await start('GET', `/Patient?name=${family}`);
      const check = async (): Promise<void> => {
        expectRefusal(await client(FULL, 'other').send('GET', status), 404, 'job-unknown');
        expectRefusal(await client(FULL, 'other').send('DELETE', status), 404, 'job-unknown');
        expect(neededBy(await client('system/Patient.rs').send('GET', status))).toBe(FULL);
      };
      await check();
      await server.finish();
      await check();
      expectRefusal(await client().send('GET', '/$async-poll-status?_jobId=none'), 404, 'job-unknown');
      expectRefusal(await client().send('GET', '/$async-poll-status'), 400, 'parameter-invalid', '_jobId');
      expect((await client().send('GET', status)).status).toBe(200);
    });

    it('knows GET, HEAD and DELETE', async () => {
      const status = await start('GET', `/Patient?name=${family}`);
      for (const method of ['POST', 'PUT', 'PATCH']) {
        const answer = await client().send(method, status, {});
        expect([answer.status, answer.headers['allow']], method).toEqual([405, 'GET, HEAD, DELETE']);
      }
    });

    it('may be asked for ten times a second; the job goes on', async () => {
      const status = await start('GET', `/Patient?name=${family}`);
      const answers = await Promise.all(Array.from({ length: 30 }, () => client().send('GET', status)));
      const refused = answers.filter((answer) => answer.status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(10);
      expectRefusal(refused[0]!, 429, 'asked-too-often');
      expect(refused[0]!.json().issue[0].code).toBe('throttled');
      expect(refused[0]!.headers['retry-after']).toBe('1');
      await server.finish();
      expect((await server.jobs.read(status.replace(/.*=/, '')))?.state).toBe('completed');
    });

    it('ends with DELETE: nothing is done, and there is no such job from then on', async () => {
      const value = word();
      const status = await start('POST', '/Patient', patient(value));
      expect((await client().send('DELETE', status)).status).toBe(202);
      expectRefusal(await client().send('GET', status), 404, 'job-unknown');
      expectRefusal(await client().send('DELETE', status), 404, 'job-unknown');
      await server.finish();
      expect((await all.send('GET', `/Patient?identifier=${value}`)).json().total).toBe(0);
      const done = await start('GET', `/Patient?name=${family}`);
      await finished(done);
      expect((await client().send('DELETE', done)).status).toBe(202);
      expectRefusal(await client().send('GET', done), 404, 'job-unknown');
    });
  });

  it('leaves nothing in the ledger, and no content that was sent', async () => {
    const many = Array.from({ length: 30 }, () => ({ request: { method: 'POST', url: 'Patient' }, resource: patient(word(), { name: [{ text: 'x'.repeat(300) }] }) })); // prettier-ignore
    const status = await start('POST', '/', bundle('batch', many));
    expect((await finished(status)).resource.entry.length).toBe(30);
    expect([...(await store.maps.entries('job-ledger')).keys()]).toEqual([]);
    expect(await store.blobs.list('request/sent/')).toEqual([]);
    expect((await client().send('DELETE', status)).status).toBe(202);
    expect((await store.blobs.list('request/')).map(({ key }) => key).filter((key) => key.includes(status.replace(/.*=/, '')))).toEqual([]); // prettier-ignore
  });

  it('refuses the twenty-first at a time with 429', async () => {
    await server.finish();
    const statuses = await Promise.all(Array.from({ length: 20 }, () => start('GET', `/Patient?name=${family}`)));
    const answer = await client().send('GET', `/Patient?name=${family}`, undefined, ASYNC);
    expectRefusal(answer, 429, 'too-many-jobs');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect((await client(FULL, 'other').send('GET', '/Patient', undefined, ASYNC)).status).toBe(202);
    await Promise.all(statuses.map((status) => client().send('DELETE', status)));
    await server.finish();
  });

  it('ends a job whose client lost the right to it', async () => {
    const value = word();
    const status = await start('POST', '/Patient', patient(value));
    registered.set('asking', { scope: 'system/Patient.rs', enabled: true });
    await server.finish().catch(() => {});
    expect((await server.jobs.read(status.replace(/.*=/, '')))?.state).toBe('failed');
    expect((await all.send('GET', `/Patient?identifier=${value}`)).json().total).toBe(0);
    const { response } = (await client().send('GET', status)).json().entry[0];
    expect(response.status).toBe('500 Internal Server Error');
    expect(response.outcome.resourceType).toBe('OperationOutcome');
  });

  describe('with wait', () => {
    it('is the ordinary answer where that is there in time', async () => {
      const sent = client().send('POST', '/Patient', patient(word()), { prefer: 'respond-async, wait=20' });
      for (let i = 0; i < 100 && (await server.jobs.list()).every(({ state }) => state !== 'queued'); i++)
        await new Promise((resolve) => setTimeout(resolve, 5));
      await server.finish();
      const answer = await sent;
      expect([answer.status, answer.headers['preference-applied']]).toEqual([201, 'respond-async']);
      expect(answer.headers['location']).toBeDefined();
      expect(answer.headers['etag']).toBe('W/"1"');
      expect(answer.json().resourceType).toBe('Patient');
    });

    it('is 202 where it is not', async () => {
      const answer = await client().send('GET', '/Patient', undefined, { prefer: 'respond-async, wait=0' });
      expect(answer.status).toBe(202);
      await finished(below(answer.headers['content-location']));
    });
  });

  it('a table is answered at once: it is no resource', async () => {
    const view = { resourceType: 'ViewDefinition', status: 'active', resource: 'Patient', select: [{ column: [{ name: 'id', path: 'id' }] }], where: [{ path: `name.family = '${family}'` }] }; // prettier-ignore
    const body = { resourceType: 'Parameters', parameter: [{ name: 'subjectResource', resource: view }] };
    const headers = { accept: 'text/csv', prefer: 'respond-async' };
    const answer = await client().send('POST', '/$sql-run', body, headers);
    expect([answer.status, answer.headers['preference-applied']], answer.text).toEqual([200, undefined]);
    expect(String(answer.headers['content-type'])).toContain('text/csv');
    expect(answer.text.trim().split(/\r?\n/).sort()).toEqual([`${family}-a`, `${family}-b`, 'id'].sort());
  });

  describe('an answer that is large', () => {
    const bounded = jobsServer(store, { limits: { ...DEFAULT_LIMITS, jobAnswer: 40_000 } });
    const long = word();
    const filled = (value: string) => patient(value, { id: value, name: [{ family: long, text: 'x'.repeat(9000) }] });
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const prefer = ['respond-async', headers['prefer']].filter((each) => each !== undefined).join(', ');
      const answer = await bounded.all.send('GET', path, undefined, { ...headers, prefer });
      expect(answer.status, answer.text).toBe(202);
      await bounded.finish();
      return below(answer.headers['content-location']);
    };
    beforeAll(async () => {
      for (let n = 0; n < 6; n++) await bounded.all.send('PUT', `/Patient/${long}-${n}`, filled(`${long}-${n}`));
    });

    it('is not kept beyond the limit, and says what to do', async () => {
      const answer = await bounded.all.send('GET', await ask(`/Patient?name=${long}&_count=6`));
      expect(answer.status, answer.text).toBe(200);
      const { response, resource } = answer.json().entry[0];
      expect([response.status, resource]).toEqual(['422 Unprocessable Entity', undefined]);
      expect(response.outcome.issue[0].details.coding[0].code).toBe('answer-too-large');
      expect(response.outcome.issue[0].diagnostics).toMatch(/40000 bytes.*_count.*\$export/);
    });

    it('is not shown with the state where it is long: that says where it is', async () => {
      const path = `/Patient?name=${long}&_count=3&_sort=_id`;
      const status = await ask(path);
      const answer = await bounded.all.send('GET', status);
      expect(answer.status, answer.text).toBe(200);
      const { response, resource } = answer.json().entry[0];
      expect([response.status, resource]).toEqual(['200 OK', undefined]);
      expect(response.outcome.issue[0].diagnostics).toContain('async-form=redirect');
      const result = /\[base\](\/\S+)/.exec(response.outcome.issue[0].diagnostics)?.[1] ?? '';
      const ordinary = await bounded.all.send('GET', result);
      expect([ordinary.status, ordinary.json().entry.length]).toEqual([200, 3]);
      expect(ordinary.headers['content-length']).toBe(String(Buffer.byteLength(ordinary.text)));
      const packed = await bounded.all.send('GET', result, undefined, { 'accept-encoding': 'gzip' });
      expect([packed.status, packed.headers['content-encoding']]).toEqual([200, 'gzip']);
      expect((await bounded.all.send('HEAD', result)).status).toBe(200);
      const xml = await bounded.all.send('GET', result, undefined, { accept: 'application/fhir+xml' });
      expect(xml.status, xml.text).toBe(406);
    });

    it('is 202 for a client that waits for it', async () => {
      const sent = bounded.all.send('GET', `/Patient?name=${long}&_count=3`, undefined, { prefer: 'respond-async, wait=20' }); // prettier-ignore
      for (let i = 0; i < 100 && (await bounded.jobs.list()).every(({ state }) => state !== 'queued'); i++)
        await new Promise((resolve) => setTimeout(resolve, 5));
      await bounded.finish();
      expect((await sent).status).toBe(202);
    });

    it('is given in XML where it is short enough, and ten times a second', async () => {
      const status = await ask(`/Patient?name=${long}&_count=1`, { prefer: 'async-form=redirect' });
      const redirect = await bounded.all.send('GET', status);
      const result = below(redirect.headers['location']);
      const xml = await bounded.all.send('GET', result, undefined, { accept: 'application/fhir+xml' });
      expect([xml.status, xml.text.includes(`<family value="${long}"/>`)]).toEqual([200, true]);
      const answers = await Promise.all(Array.from({ length: 30 }, () => bounded.all.send('GET', result)));
      const refused = answers.filter((answer) => answer.status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(10);
      expectRefusal(refused[0]!, 429, 'asked-too-often');
    });

    it('is in a batch only where it is short', async () => {
      const status = await ask(`/Patient?name=${long}&_count=3`);
      const url = status.slice(1).replace('async-poll-status', 'async-result');
      const batch = await bounded.all.send('POST', '/', bundle('batch', [{ request: { method: 'GET', url } }]));
      expect(batch.text).toContain('answer-too-large');
    });
  });

  describe('in the form that redirects', () => {
    it.each<[string, string, string, unknown, number]>([
      ['an answer', 'POST', '/Patient', patient('x'), 201],
      ['a failure', 'POST', '/Patient', { resourceType: 'Patient', wings: 2 }, 400],
      ['what is not there', 'GET', '/Patient/none/_history', undefined, 404],
    ])('leads to the ordinary answer: %s', async (_, method, path, body, expected) => {
      const status = await start(method, path, body, { prefer: 'async-form=redirect' });
      expect((await client().send('GET', status)).status).toBe(202);
      await server.finish();
      const redirect = await client().send('GET', status);
      expect(redirect.status).toBe(303);
      const result = below(redirect.headers['location']);
      const answer = await client().send('GET', result);
      expect(answer.status, answer.text).toBe(expected);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['etag'] !== undefined).toBe(expected === 201);
      expect(answer.json().resourceType).toBe(expected === 201 ? 'Patient' : 'OperationOutcome');
      expectRefusal(await client(FULL, 'other').send('GET', result), 404, 'job-unknown');
      expect((await client().send('DELETE', status)).status).toBe(202);
      expectRefusal(await client().send('GET', result), 404, 'job-unknown');
    });
  });
}
