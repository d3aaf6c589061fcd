import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../generated/tables.js';
import { FhirClient, FhirClientError } from '../../runtime/client/index.js';
import { createApp } from '../../runtime/http/app.js';
import { listen } from '../../runtime/http/listen.js';
import { openStore } from '../contract/open-store.js';
import { extract } from '../bench/load-clinic.js';

describe('the typed client', () => {
  let close = (): Promise<void> => Promise.resolve();
  let client = new FhirClient({ base: 'http://127.0.0.1:1/fhir' });

  beforeAll(async () => {
    const store = await openStore('sqlite::memory:');
    const server = await listen(createApp({ tables, store, extract }), '127.0.0.1', 0);
    client = new FhirClient({ base: `${server.url}/fhir/` });
    close = async () => {
      await server.close(0);
      await store.close();
    };
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
    await client.delete('Patient', id);
    expect(await client.find('Patient', id)).toBeUndefined();
    const refused = client.read('Patient', id).catch((error: unknown) => error);
    expect(await refused).toBeInstanceOf(FhirClientError);
    expect(await refused).toMatchObject({ status: 410, outcome: { resourceType: 'OperationOutcome' } });
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

  it('calls operations, and follows no link to another server', async () => {
    const counts = await client.operation('get-resource-counts', { query: {} });
    expect(counts).toMatchObject({ resourceType: 'Parameters' });
    const other = new FhirClient({
      base: 'http://127.0.0.1:1/fhir',
      fetch: () =>
        Promise.resolve(
          Response.json({
            resourceType: 'Bundle',
            type: 'searchset',
            link: [{ relation: 'next', url: 'http://evil.example/' }],
          }),
        ),
    });
    const walk = async (): Promise<void> => {
      for await (const each of other.search('Patient', {})) expect(each).toBeUndefined();
    };
    await expect(walk()).rejects.toThrow('does not lead below');
  });
});
