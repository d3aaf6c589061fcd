import { afterAll, describe, expect, it } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { createToyStore } from '../../toy/store.js';
import { conditionalWrites } from './conditional.js';
import { expectRefusal, patient, useWriteServer, word } from '../write-server.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('conditional writes on the toy store', () => conditionalWrites(createToyStore()));
describe('conditional writes on SQLite', () => conditionalWrites(sqlite));

describe('conditional writes by parameters whose index entries other definitions made', () => {
  const server = useWriteServer(createToyStore(), {
    indexStatus: { notCurrent: () => Promise.resolve(['Patient.identifier']) },
  });

  it('are refused, because they would not find what is there', async () => {
    const answer = await server.send('POST', '/Patient', patient('x'), { 'if-none-exist': 'identifier=x' });
    expectRefusal(answer, 503, 'index-not-current', 'Patient.identifier', 'kiln reindex');
    for (const method of ['PUT', 'DELETE']) {
      const body = method === 'PUT' ? patient('x') : undefined;
      expectRefusal(await server.send(method, '/Patient?identifier=x', body), 503, 'index-not-current');
    }
    expect((await server.send('PUT', '/Patient?name=x', patient('x'))).status).toBe(201);
  });
});

describe('conditional deletion of more than there may be at once', () => {
  const data = createToyStore();
  const server = useWriteServer(data, { deletesMultiple: true });

  it('removes 1,000, and nothing of more', async () => {
    const body = patient(word());
    const value = body.identifier[0]?.value ?? '';
    for (let i = 0; i < 1001; i++) await server.send('PUT', `/Patient/p${i}`, { ...body, id: `p${i}` });
    const remove = () => server.send('DELETE', `/Patient?identifier=urn:test|${value}`);
    expectRefusal(await remove(), 412, 'precondition-failed', '1000 may be deleted, and 1001 fulfil');
    expect((await data.read('Patient', 'p500'))?.version).toBe(1);
    await server.send('DELETE', '/Patient/p0');
    expect((await remove()).status).toBe(200);
    expect((await data.read('Patient', 'p500'))?.json).toBeUndefined();
  }, 60_000);
});

describe('a criterion that follows a hierarchy', () => {
  const server = useWriteServer(createToyStore());

  it('finds what lies below', async () => {
    const put = (id: string, partOf?: string) =>
      server.send('PUT', `/Location/${id}`, {
        resourceType: 'Location',
        id,
        ...(partOf === undefined ? {} : { partOf: { reference: `Location/${partOf}` } }),
      });
    await put('house');
    await put('room', 'house');
    await put('bed', 'room');
    const body = {
      resourceType: 'Encounter',
      status: 'planned',
      location: [{ location: { reference: 'Location/bed' } }],
    };
    const condition = { 'if-none-exist': 'location:below=Location/house' };
    const first = await server.send('POST', '/Encounter', body, condition);
    const second = await server.send('POST', '/Encounter', body, condition);
    expect([first.status, second.status]).toEqual([201, 200]);
  });
});
