import { afterAll, beforeAll, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Bundle } from '../../../generated/types/index.js';
import { FhirClient, FhirClientError, referenceTo } from '../../../runtime/client/index.js';
import { createPatchers } from '../../../runtime/patch/apply/patchers.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import type { Store } from '../../../runtime/store/store.js';
import { extract } from '../../bench/data/load-clinic.js';
import { tokenOf } from '../auth/support.js';
import { jobsServer } from '../jobs/jobs-server.js';

/** The client against a running server, as a black box. */
export function clientSuite(store: Store): void {
  let close = (): Promise<unknown> => Promise.resolve();
  let client = new FhirClient({ base: 'http://127.0.0.1:1/fhir' });
  /** Methods and URLs of the requests that were sent. */
  const sent: string[] = [];
  const guarded = jobsServer(store);

  beforeAll(async () => {
    const server = await listen(
      createApp({ tables, store, extract, patchers: createPatchers(tables) }),
      '127.0.0.1',
      0,
    );
    const seen: typeof fetch = (url, init) => {
      sent.push(`${init?.method ?? ''} ${String(url as string).slice(server.url.length)}`);
      return fetch(url, init);
    };
    client = new FhirClient({ base: `${server.url}/fhir/`, fetch: seen });
    close = () => server.close(0);
  });
  afterAll(() => close());

  it('creates, reads, updates, modifies, patches and deletes', async () => {
    const made = await client.create({ resourceType: 'Patient', gender: 'female', name: [{ family: 'Lovelace' }] });
    const id = made.id!;
    expect((await client.read('Patient', id)).name?.[0]?.family).toBe('Lovelace');
    await expect(client.update({ ...made, gender: 'other' }, { ifMatch: '9' })).rejects.toMatchObject({ status: 412 });
    let calls = 0;
    const changed = await client.modify('Patient', id, async (patient) => {
      // Another writer comes first, once.
      if (calls++ === 0) await client.patch('Patient', id, [{ op: 'add', path: '/active', value: true }]);
      return { ...patient, birthDate: '1815-12-10' };
    });
    expect([calls, changed.active, changed.birthDate, changed.meta?.versionId]).toEqual([2, true, '1815-12-10', '3']);
    expect((await client.read('Patient', id, '1')).meta?.versionId).toBe('1');
    expect((await client.history('Patient', id)).entry).toHaveLength(3);
    await client.delete('Patient', id);
    expect(await client.find('Patient', id)).toBeUndefined();
    const refused = client.read('Patient', id).catch((error: unknown) => error);
    expect(await refused).toBeInstanceOf(FhirClientError);
    expect(await refused).toMatchObject({ status: 410, outcome: { resourceType: 'OperationOutcome' } });
  });

  it('creates nothing where criteria find a resource', async () => {
    const identifier = [{ system: 'urn:client', value: 'once' }];
    const criteria = { ifNoneExist: 'identifier=urn:client|once' };
    const first = await client.create({ resourceType: 'Patient', identifier }, criteria);
    expect((await client.create({ resourceType: 'Patient', identifier }, criteria)).id).toBe(first.id);
  });

  it('sends transactions whose entries refer to each other, and walks over all pages of a search', async () => {
    const transaction = client.transaction();
    const subject = { reference: transaction.create({ resourceType: 'Patient', name: [{ family: 'Pages' }] }) };
    for (let i = 0; i < 5; i++) {
      transaction.create({ resourceType: 'Observation', status: 'final', code: { text: String(i) }, subject });
    }
    expect((await transaction.send()).entry).toHaveLength(6);
    const found = [];
    const search = client.search('Observation', {
      'subject:Patient.family': 'pages',
      _count: 2,
      _include: 'Observation:subject',
    });
    for await (const observation of search) found.push(observation.code.text);
    expect(found.sort()).toEqual(['0', '1', '2', '3', '4']);
    const modes = [];
    for await (const { mode } of search.entries()) modes.push(mode);
    expect(modes.filter((mode) => mode === 'include')).toHaveLength(3);
    expect((await search.bundle()).entry).toHaveLength(3);
  });

  it('does all of a transaction or nothing, and of a batch what can be done', async () => {
    const patient = await client.create({ resourceType: 'Patient', name: [{ family: 'Whole' }] });
    const refused = client
      .transaction()
      .update({ ...patient, active: true })
      .update({ ...patient, id: 'other' }, { ifMatch: '7' });
    await expect(refused.send()).rejects.toBeInstanceOf(FhirClientError);
    expect((await client.read('Patient', patient.id!)).active).toBeUndefined();
    const { entry } = await client
      .batch()
      .get(`Patient/${patient.id}`)
      .delete('Patient', 'never-was')
      .get('Patient/none')
      .send();
    expect(entry?.map(({ response }) => response?.status?.slice(0, 3))).toEqual(['200', '204', '404']);
  });

  it('resolves references below the base alone', async () => {
    const patient = await client.create({ resourceType: 'Patient', name: [{ family: 'Target' }] });
    const reference = referenceTo(patient);
    expect(reference).toEqual({ reference: `Patient/${patient.id}` });
    expect((await client.resolve(reference)).name?.[0]?.family).toBe('Target');
    for (const wrong of ['http://evil.example/fhir/Patient/1', '#contained', 'urn:uuid:x', '../x', '']) {
      await expect(client.resolve({ reference: wrong })).rejects.toThrow('leads to nothing below');
    }
  });

  it('calls operations', async () => {
    const counts = await client.operation('get-resource-counts', { query: {} });
    expect(counts).toMatchObject({ resourceType: 'Parameters' });
    const patient = await client.create({ resourceType: 'Patient' });
    const meta = await client.operation('meta', { type: 'Patient', id: patient.id!, query: {} });
    expect(meta.resourceType).toBe('Parameters');
  });

  it('updates, patches and deletes by criteria, in transactions too', async () => {
    const identifier = [{ system: 'urn:where', value: 'one' }];
    const where = { identifier: 'urn:where|one' };
    const made = await client.updateWhere(where, { resourceType: 'Patient', identifier });
    expect((await client.updateWhere(where, { resourceType: 'Patient', identifier, active: true })).id).toBe(made.id);
    const birth = {
      resourceType: 'Parameters' as const,
      parameter: [
        {
          name: 'operation',
          part: [
            { name: 'type', valueCode: 'add' },
            { name: 'path', valueString: 'Patient' },
            { name: 'name', valueString: 'birthDate' },
            { name: 'value', valueDate: '1815-12-10' },
          ],
        },
      ],
    };
    expect((await client.patchWhere('Patient', where, birth)).birthDate).toBe('1815-12-10');
    await client
      .transaction()
      .patch('Patient', made.id!, [{ op: 'add', path: '/gender', value: 'female' }], { ifMatch: '3' })
      .send();
    await client
      .transaction()
      .patchWhere('Patient', where, [{ op: 'replace', path: '/active', value: false }])
      .send();
    await client.transaction().updateWhere(where, { resourceType: 'Patient', identifier, gender: 'other' }).send();
    expect(await client.read('Patient', made.id!)).toMatchObject({ gender: 'other', meta: { versionId: '6' } });
    await expect(client.delete('Patient', made.id!, { ifMatch: '1' })).rejects.toMatchObject({ status: 412 });
    await client.transaction().deleteWhere('Patient', where).send();
    expect(await client.find('Patient', made.id!)).toBeUndefined();
    await client.deleteWhere('Patient', where);
    await expect(client.deleteWhere('Patient', {})).rejects.toThrow('there are no criteria');
  });

  it('searches in a compartment, over all types, without criteria, and by POST where the URL is long', async () => {
    const { id } = await client.create({ resourceType: 'Patient', name: [{ family: 'Room' }] });
    const subject = { reference: `Patient/${id}` };
    for (const text of ['a', 'b', 'c']) {
      await client.create({ resourceType: 'Observation', status: 'final', code: { text }, subject });
    }
    const found = [];
    for await (const { code } of client.searchIn('Patient', id!, 'Observation', { _count: 2 })) found.push(code.text);
    expect(found.sort()).toEqual(['a', 'b', 'c']);
    const types = [];
    for await (const { resourceType } of client.searchAll({ _type: 'Patient', _id: id })) types.push(resourceType);
    expect(types).toEqual(['Patient']);
    expect((await client.search('Patient').bundle()).type).toBe('searchset');
    sent.length = 0;
    const ids = Array.from({ length: 400 }, (_, n) => `none-of-these-${n}`);
    const many = [];
    for await (const each of client.search('Patient', { _id: [...ids, id].join(',') })) many.push(each.id);
    expect([many, sent]).toEqual([[id], ['POST /fhir/Patient/_search']]);
    await client.search('Patient', { _id: id! }, { post: true }).bundle();
    expect(sent[1]).toBe('POST /fhir/Patient/_search');
  });

  it('stores and reads bytes, asks GraphQL and HFQL, and sends what it has no method for', async () => {
    const bytes = Uint8Array.from([0, 255, 13, 10, 128]);
    const id = await client.writeBytes(bytes, 'application/x-odd');
    const read = await client.readBytes(id);
    expect([[...read.bytes], read.contentType]).toEqual([[...bytes], 'application/x-odd']);
    expect(await client.writeBytes('a text', 'text/plain', { id: 'a-text' })).toBe('a-text');
    const patient = await client.create({ resourceType: 'Patient', name: [{ family: 'Graph' }] });
    const query = 'query($id: ID!) { Patient(id: $id) { name { family } } }';
    const answer = await client.graphql<{ Patient: { name: [{ family: string }] } }>(query, {
      variables: { id: patient.id },
    });
    expect(answer.data?.Patient.name[0].family).toBe('Graph');
    expect(await client.hfql("select id from Patient where id = '" + patient.id! + "'")).toBe(`${patient.id}\n`);
    const { status, headers, body } = await client.request({
      path: `Patient/${patient.id}`,
      headers: { 'If-None-Match': 'W/"9"' },
    });
    expect([status, headers.get('etag'), body?.resourceType]).toEqual([200, 'W/"1"', 'Patient']);
    const response = await client.fetch({ path: 'metadata', accept: 'application/json' });
    expect(await response.text()).toContain('CapabilityStatement');
  });

  it('tells why a query of GraphQL or a statement of HFQL is refused', async () => {
    const refused = await client.graphql('{ Patient(id: "1") { nmae } }').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(FhirClientError);
    expect(refused).toMatchObject({
      ...{ status: 400, message: expect.stringMatching(/^400: .*nmae/), outcome: undefined },
      errors: [{ message: expect.stringContaining('nmae') }],
    });
    for (const [statement, text] of [
      ['select id, nmae from Patient', 'nmae'],
      ['select "id" from Patient', 'character "\\""'],
      ['nonsense', 'nonsense'],
    ] as const) {
      const wrong = await client.hfql(statement).catch((error: unknown) => error);
      expect(wrong).toBeInstanceOf(FhirClientError);
      expect(wrong).toMatchObject({ status: 200, message: expect.stringMatching(/^[A-Za-z].*[^\n]$/) });
      expect((wrong as Error).message).toContain(text);
    }
  });

  it('gives the rows of HFQL alone, as many as are wanted, whatever is in their fields', async () => {
    const batch = client.batch();
    const code = { text: 'a "text"\n-1,with lines' };
    for (let n = 0; n < 1005; n++) batch.update({ resourceType: 'Basic', id: `hfql-${n}`, code });
    await batch.send();
    const rows = await client.hfql("select id, code.text from Basic where id = 'hfql-7'");
    expect(rows).toBe('hfql-7,"a ""text""\n-1,with lines"\n');
    expect(await client.hfql("select code.text from Basic where id = 'hfql-7'")).toBe(rows.slice('hfql-7,'.length));
    expect(await client.hfql("select id from Basic where id = 'none'")).toBe('');
    const count = async (limit?: number): Promise<number> => {
      const options = limit === undefined ? {} : { limit };
      return (await client.hfql('select id from Basic', options)).split('\n').length - 1;
    };
    expect([await count(), await count(2), await count(1003)]).toEqual([1000, 2, 1003]);
  });

  it('gives up after a time, and when it is told to', async () => {
    const never = new FhirClient({
      base: 'http://127.0.0.1:1/fhir',
      fetch: (_url, init) =>
        new Promise((_resolve, reject) =>
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)),
        ),
    });
    await expect(never.read('Patient', '1', undefined, { timeout: 5 })).rejects.toMatchObject({ name: 'TimeoutError' });
    const controller = new AbortController();
    const waiting = never.search('Patient', {}, { signal: controller.signal }).bundle();
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  it('has any request answered later', async () => {
    const later = new FhirClient({ base: `${guarded.url}/fhir`, token: tokenOf('system/*.cruds', 'later') });
    const { id } = await later.create({ resourceType: 'Patient', name: [{ family: 'Later' }] });
    const query = new URLSearchParams({ family: 'later' });
    const started = await later.request({ path: 'Patient', query, headers: { Prefer: 'respond-async' } });
    const path = started.headers.get('content-location')!;
    const before = await later.request<Bundle>({ path });
    await guarded.finish();
    const { status, body } = await later.request<Bundle>({ path });
    expect([started.status, before.status, status]).toEqual([202, 202, 200]);
    const { response, resource } = body!.entry![0]!;
    expect([response?.status?.slice(0, 3), resource]).toMatchObject(['200', { entry: [{ resource: { id } }] }]);
    await later.request({ path, method: 'DELETE' });
    await expect(later.request({ path })).rejects.toMatchObject({ status: 404 });
  });

  it('exports resources one by one, tells how far it is, and lets the server remove the files', async () => {
    const exporter = new FhirClient({
      base: `${guarded.url}/fhir`,
      token: () => Promise.resolve(tokenOf('system/*.cruds', 'exporter')),
    });
    const { id } = await exporter.create({ resourceType: 'Patient', name: [{ family: 'Exported' }] });
    const told: string[] = [];
    const ids = [];
    const resources = exporter.export({
      query: { _type: 'Patient' },
      onProgress: ({ text, manifest }) => {
        told.push(text);
        if (manifest === undefined) void guarded.finish();
      },
    });
    for await (const resource of resources) ids.push(resource.id);
    expect(ids).toContain(id);
    expect(told.slice(-2)).toEqual(['reading Patient', 'done']);
    expect(told.length).toBeGreaterThan(2);
    const only = exporter.export({ query: { _type: 'Patient' }, onProgress: () => void guarded.finish() });
    for await (const resource of only) {
      expect(resource.resourceType).toBe('Patient');
      break;
    }
    const files = await guarded.as('system/*.rs', 'exporter').send('GET', '/$export-poll-status?_jobId=none');
    expect(files.status).toBe(404);
  });
}
