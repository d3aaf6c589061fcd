import { afterAll, beforeAll, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { FhirClient, FhirClientError, referenceTo } from '../../../runtime/client/index.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import type { Store } from '../../../runtime/store/store.js';
import { extract } from '../../bench/data/load-clinic.js';

/** The client against a running server, as a black box. */
export function clientSuite(store: Store): void {
  let close = (): Promise<unknown> => Promise.resolve();
  let client = new FhirClient({ base: 'http://127.0.0.1:1/fhir' });

  beforeAll(async () => {
    const server = await listen(createApp({ tables, store, extract }), '127.0.0.1', 0);
    client = new FhirClient({ base: `${server.url}/fhir/` });
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
}
