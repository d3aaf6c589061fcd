import { describe, expect, it } from 'vitest';

import type { ChunkContext, JobKind } from '../../../runtime/jobs/engine/job-kind.js';
import { JOB_KINDS } from '../../../runtime/jobs/kinds.js';
import { REQUEST } from '../../../runtime/jobs/request/request-input.js';
import type { Store } from '../../../runtime/store/store.js';
import { patient, word } from '../write-server.js';
import { ASYNC, jobsServer } from './jobs-server.js';

/** A process that dies at some point of a chunk. */
type Death = (context: ChunkContext, chunk: JobKind['chunk']) => ReturnType<JobKind['chunk']>;

/** All is done, and the checkpoint is not saved. */
const atTheEnd: Death = async (context, chunk) => {
  await chunk(context);
  throw new Error('killed');
};

/** So many entries are done, and the answer of the next one is not kept. */
const afterEntries =
  (count: number): Death =>
  (context, chunk) => {
    const { services } = context;
    const { store } = services;
    let written = 0;
    const watched = Object.assign(Object.create(store) as Store, {
      async write(...args: Parameters<Store['write']>) {
        const versions = await store.write(...args);
        if (++written === count) throw new Error('killed');
        return versions;
      },
    });
    return chunk({ ...context, services: { ...services, store: watched } });
  };

/** What a request writes is written once, whenever the process dies, and it is answered all the same; on any store. */
export function requestsOnce(store: Store): void {
  let death: Death | undefined;
  const kinds = JOB_KINDS.map((kind): JobKind =>
    kind.type !== REQUEST
      ? kind
      : {
          ...kind,
          chunk(context) {
            const now = death;
            death = undefined;
            return now === undefined ? kind.chunk(context) : now(context, (given) => kind.chunk(given));
          },
        },
  );
  const server = jobsServer(store, {}, { kinds });
  const { all } = server;

  async function answered(method: string, path: string, body: unknown, how: Death, headers = {}) {
    const kickoff = await all.send(method, path, body, { ...headers, ...ASYNC });
    expect(kickoff.status, kickoff.text).toBe(202);
    death = how;
    await expect(server.finish()).rejects.toThrow('killed');
    const status = String(kickoff.headers['content-location']).replace(/^.*?\/fhir/, '');
    const answer = await all.send('GET', status);
    expect(answer.status, answer.text).toBe(200);
    return answer.json().entry[0];
  }
  const total = async (value: string) => (await all.send('GET', `/Patient?identifier=${value}`)).json().total;

  describe.each([
    ['after all is done', atTheEnd],
    ['after its write', afterEntries(1)],
  ])('a process that dies %s', (_, how) => {
    it('creates once', async () => {
      const value = word();
      const { resource, response } = await answered('POST', '/Patient', patient(value), how);
      expect(await total(value)).toBe(1);
      expect([response.status, response.etag]).toEqual(['201 Created', 'W/"1"']);
      expect(response.location).toBe(`Patient/${resource.id}/_history/1`);
      expect(response.lastModified).toBe(resource.meta.lastUpdated);
      expect(resource.identifier[0].value).toBe(value);
    });

    it('updates, patches and deletes once', async () => {
      const id = word();
      const put = patient(id, { id });
      expect((await answered('PUT', `/Patient/${id}`, put, how)).response.status).toBe('201 Created');
      const json = { 'content-type': 'application/json-patch+json' };
      const patch = [{ op: 'add', path: '/name', value: [{ family: 'x' }] }];
      const patched = await answered('PATCH', `/Patient/${id}`, patch, how, json);
      expect([patched.response.status, patched.response.etag, patched.resource.name]).toEqual(['200 OK', 'W/"2"', [{ family: 'x' }]]); // prettier-ignore
      const deleted = await answered('DELETE', `/Patient/${id}`, undefined, how);
      expect([deleted.response.status, deleted.resource.issue[0].diagnostics]).toEqual(['200 OK', `Patient/${id} is deleted`]); // prettier-ignore
      expect((await all.send('GET', `/Patient/${id}/_history`)).json().total).toBe(3);
    });

    it('executes a transaction once, and its reads after it', async () => {
      const value = word();
      const uuid = 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0';
      const entry = [
        { fullUrl: uuid, request: { method: 'POST', url: 'Patient' }, resource: patient(value) },
        { request: { method: 'POST', url: 'Basic' }, resource: { resourceType: 'Basic', code: { text: value }, subject: { reference: uuid } } }, // prettier-ignore
        { request: { method: 'GET', url: `Basic?subject=${uuid}` } },
      ];
      const { resource } = await answered('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry }, how);
      expect(await total(value)).toBe(1);
      const [first, second, third] = resource.entry;
      expect([first.response.status, second.response.status, third.response.status]).toEqual(['201 Created', '201 Created', '200 OK']); // prettier-ignore
      expect(third.resource.total).toBe(1);
      const [, id] = /^Patient\/(.*)\/_history\/1$/.exec(first.response.location)!;
      expect(third.resource.entry[0].resource.subject.reference).toBe(`Patient/${id}`);
    });
  });

  it.each([1, 3, 6])('keeps the %i entries of a batch that are done, and goes on with the rest', async (count) => {
    const [value, id] = [word(), word()];
    const put = (name: string) => ({ request: { method: 'PUT', url: `Patient/${id}` }, resource: patient(value, { id, name: [{ family: name }] }) }); // prettier-ignore
    const post = { request: { method: 'POST', url: 'Patient' }, resource: patient(value) };
    const stale = { ...put('never'), request: { method: 'PUT', url: `Patient/${id}`, ifMatch: 'W/"2"' } };
    // Entries that write nothing, or are refused, count as done too: what comes after them has changed what they would find.
    const entry = [post, post, put('first'), put('first'), stale, put('second'), put('third'), post];
    const { resource } = await answered('POST', '/', { resourceType: 'Bundle', type: 'batch', entry }, afterEntries(count)); // prettier-ignore
    const statuses = resource.entry.map(({ response }: { response: { status: string } }) =>
      response.status.slice(0, 3),
    );
    expect(statuses).toEqual(['201', '201', '201', '200', '412', '200', '200', '201']);
    expect(await total(value)).toBe(4);
    const history = (await all.send('GET', `/Patient/${id}/_history`)).json();
    expect(history.entry.map((each: { resource: { name: { family: string }[] } }) => each.resource.name[0]!.family)).toEqual(['third', 'second', 'first']); // prettier-ignore
  });

  it('keeps the count of a batch that is cancelled', async () => {
    const entry = Array.from({ length: 5 }, () => ({ request: { method: 'POST', url: 'Patient' }, resource: patient(word()) })); // prettier-ignore
    const kickoff = await all.send('POST', '/', { resourceType: 'Bundle', type: 'batch', entry }, ASYNC);
    const status = String(kickoff.headers['content-location']).replace(/^.*?\/fhir/, '');
    const id = status.replace(/.*=/, '');
    death = async (context, chunk) => {
      const answer = await chunk(context);
      expect(await server.jobs.cancel(id)).toBe(true);
      return answer;
    };
    await server.finish();
    expect(await server.jobs.read(id)).toMatchObject({ state: 'cancelled', progress: { total: 5, unit: 'entries' } });
  });
}
