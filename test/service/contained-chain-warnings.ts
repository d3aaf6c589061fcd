import { afterAll, beforeAll, expect, it } from 'vitest';

import { parameter, startClient, type Client } from './stored-parameters/stored-parameters-subject.js';

/** Chains by search parameters of the store do not look into contained resources, which matters only where there are some. */
export function containedChainWarnings(store: string): void {
  let client: Client;
  const put = async (resource: Readonly<Record<string, unknown>>) => {
    const path = `${String(resource['resourceType'])}/${String(resource['id'])}`;
    expect((await client.send('PUT', path, resource)).status).toBeLessThan(300);
  };
  const observation = { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' } };
  beforeAll(async () => {
    client = await startClient(store);
    await put(parameter('x-kind', { expression: 'Patient.gender' }));
    await put(parameter('x-language', { base: ['Resource'], expression: 'Resource.language' }));
    await put({ resourceType: 'Patient', id: 'p', gender: 'male', language: 'en' });
    await put({ ...observation, subject: { reference: 'Patient/p' }, focus: [{ reference: 'Patient/p' }] });
  });
  afterAll(() => client.server.close());

  // `subject` leads to few types, `focus` to all.
  const CHAINS = ['Observation?subject:Patient.x-kind=male', 'Observation?subject.x-language=en', 'Observation?focus.x-language=en']; // prettier-ignore

  /** Of the index, which was not made anew, other warnings tell. */
  const warningsOf = async (chain: string) => {
    const { found, warnings } = await client.search(chain);
    expect(found, chain).toEqual(['Observation/o']);
    return warnings.filter((text) => text.includes('contained'));
  };

  it('no chain warns of it where nothing is contained', async () => {
    for (const chain of CHAINS) expect(await warningsOf(chain), chain).toEqual([]);
  });

  it('nor where resources of other types are', async () => {
    const contained = [{ resourceType: 'Medication', id: 'm' }];
    await put({ ...observation, id: 'holds', contained, note: [{ text: 'x', authorReference: { reference: '#m' } }] });
    expect(await warningsOf('Observation?subject:Patient.x-kind=male')).toEqual([]);
    expect(await warningsOf('Observation?focus.x-language=en')).toEqual([
      expect.stringContaining('did not look into contained resources'),
    ]);
  });
}
