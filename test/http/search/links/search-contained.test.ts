import { afterAll, describe, expect, it } from 'vitest';

import { DEFAULT_LIMITS } from '../../../../runtime/fhir/limits.js';
import { openStore } from '../../../contract/open-store.js';
import { createToyStore } from '../../../toy/store.js';
import { containedSearches, containersFromBefore } from './search-contained.js';
import { containedChains } from './search-contained-chains.js';
import { idsOf, notesOf, useWholeServer } from '../../search-server.js';

const [sqlite, chained] = [await openStore('sqlite::memory:'), await openStore('sqlite::memory:')];
afterAll(() => Promise.all([sqlite.close(), chained.close()]));

describe('contained resources on SQLite', () => containedSearches(sqlite));
describe('chains into contained resources on SQLite', () => containedChains(chained));

describe('what contains too much, from before, on SQLite', () => containersFromBefore(sqlite));

describe('what is contained and found by more than there is room for', () => {
  const server = useWholeServer({ store: createToyStore(), limits: { ...DEFAULT_LIMITS, resource: 6000 } });
  const holding = (id: string, codes: number) => ({
    resourceType: 'MedicationRequest',
    id,
    status: 'active',
    intent: 'order',
    subject: { reference: 'Patient/p' },
    contained: [
      { resourceType: 'Medication', id: 'few', code: { text: 'few' }, status: 'active' },
      {
        resourceType: 'Medication',
        id: 'many',
        code: { coding: Array.from({ length: codes }, (_, n) => ({ code: `c${n}` })) },
        status: 'active',
      },
      { resourceType: 'Medication', id: 'last', code: { text: 'last' }, status: 'active' },
    ],
  });
  const found = async () => {
    const answer = await server.send('GET', '/Medication?status=active&_contained=true&_containedType=contained');
    return [...idsOf(answer), ...notesOf(answer).map(({ text }) => text)];
  };

  it('what has the id of one that is not found is not found in its place', async () => {
    const [, many, last] = holding('twice', 200).contained;
    const contained = [many, { ...last, id: 'many' }];
    expect((await server.send('PUT', '/MedicationRequest/twice', { ...holding('twice', 1), contained })).status).toBe(
      201,
    );
    expect((await found()).filter((id) => id === 'many')).toEqual([]);
    await server.send('DELETE', '/MedicationRequest/twice');
  });

  it('is stored, and the rest of it found', async () => {
    expect((await server.send('PUT', '/MedicationRequest/a', holding('a', 200))).status).toBe(201);
    const note =
      'Some resources contain more than 5000 others, or too much: what is beyond that is stored, and not found';
    expect(await found()).toEqual(['few', 'last', note]);
    expect((await server.send('PUT', '/MedicationRequest/a', holding('a', 5))).status).toBe(200);
    expect((await found()).sort()).toEqual(['few', 'last', 'many']);
  });
});

describe('entries of what is contained that are missing', () => {
  const server = useWholeServer({
    store: createToyStore(),
    indexStatus: { notCurrent: () => Promise.resolve(['_contained']) },
  });

  it('are told by searches that look for them alone', async () => {
    const answer = await server.send('GET', '/Medication?_contained=true');
    expect(notesOf(answer)).toMatchObject([{ code: 'index-not-current', severity: 'warning' }]);
    expect(notesOf(answer)[0]?.text).toContain('Index entries of _contained were made by other definitions');
    expect(notesOf(await server.send('GET', '/Medication?_contained=false'))).toEqual([]);
  });
});
