import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { idsOf, includedIn, putAll, useWholeServer } from '../../search-server.js';

const observation = (id: string, reference: string) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { text: 'x' },
  subject: { reference },
});

/**
 * A server without a configured URL is all names of this machine with its own port and path, by http and https, and nothing else: however
 * references to it are written, and by whichever name it is asked. https://hl7.org/fhir/R5/references.html#literal
 */
export function ownBases(store: Store): void {
  const server = useWholeServer({ store });
  const here = (host: string, scheme = 'http') => `${scheme}://${host}:${server.port}/fhir`;
  beforeAll(async () => {
    await putAll(server, [
      { resourceType: 'Patient', id: 'ann', name: [{ family: 'Ann' }] },
      observation('relative', 'Patient/ann'),
      observation('by-name', `${here('localhost')}/Patient/ann`),
      observation('by-number', `${here('127.0.0.1')}/Patient/ann`),
      observation('by-long-number', `${here('[::1]')}/Patient/ann`),
      observation('by-https', `${here('LOCALHOST', 'https')}/Patient/ann`),
      observation('version', `${here('localhost')}/Patient/ann/_history/1`),
      observation('port', 'http://localhost:9/fhir/Patient/ann'),
      observation('path', `http://localhost:${server.port}/r5/Patient/ann`),
      observation('below', `${here('localhost')}/r5/Patient/ann`),
      observation('host', `http://elsewhere.example:${server.port}/fhir/Patient/ann`),
      { resourceType: 'Group', id: 'g', membership: 'enumerated', member: [{ entity: { reference: `${here('localhost')}/Patient/ann` } }] }, // prettier-ignore
    ]);
  });

  const OWN = ['by-https', 'by-long-number', 'by-name', 'by-number', 'relative', 'version'];

  describe.each(['localhost', '127.0.0.1', '[::1]'])('asked as %s', (host) => {
    const get = (path: string, port = server.port) => server.send('GET', path, undefined, { host: `${host}:${port}` });
    const found = async (path: string): Promise<string[]> => idsOf(await get(path)).sort();

    it.each([
      'subject=Patient/ann',
      'subject=ann',
      'subject:Patient=ann',
      'subject:Patient.family=ann',
      'patient.family=ann',
      '_has:Group:member:_id=g',
    ])('Observation?%s', async (query) => {
      const path = query.startsWith('_has') ? `/Patient?${query}` : `/Observation?${query}`;
      expect(await found(path)).toEqual(query.startsWith('_has') ? ['ann'] : OWN);
    });

    it('by values that are absolute themselves', async () => {
      for (const base of [here('localhost'), here('127.0.0.1', 'https'), here('[::1]')]) {
        expect(await found(`/Observation?subject=${base}/Patient/ann`)).toEqual(OWN);
      }
      expect(await found('/Observation?subject=http://localhost:9/fhir/Patient/ann')).toEqual(['port']);
      expect(await found(`/Observation?subject=http://elsewhere.example:${server.port}/fhir/Patient/ann`)).toEqual(['host']); // prettier-ignore
    });

    it('in compartments, includes and back', async () => {
      expect(await found('/Patient/ann/Observation')).toEqual(OWN);
      const back = await get('/Patient?_id=ann&_revinclude=Observation:subject');
      expect(includedIn(back)).toEqual(OWN.map((id) => `Observation/${id}`));
      expect(includedIn(await get('/Observation?_id=by-name&_include=Observation:subject'))).toEqual(['Patient/ann']);
      expect(includedIn(await get('/Observation?_id=port&_include=Observation:subject'))).toEqual([]);
      expect(await found('/Patient?_in=Group/g')).toEqual(['ann']);
    });
  });

  it('the port in the Host header decides nothing', async () => {
    const headers = { host: 'localhost:9' };
    const answer = await server.send('GET', '/Observation?subject=Patient/ann', undefined, headers);
    expect(idsOf(answer).sort()).toEqual(OWN);
  });

  it('what is stored stays as it was written', async () => {
    const { subject } = (await server.send('GET', '/Observation/by-https')).json() as { subject: object };
    expect(subject).toEqual({ reference: `${here('LOCALHOST', 'https')}/Patient/ann` });
  });

  it('references within a Bundle lead to its entries by any of these names', async () => {
    const entry = [
      { fullUrl: `${here('127.0.0.1')}/Patient/new`, resource: { resourceType: 'Patient', id: 'new' }, request: { method: 'PUT', url: `${here('localhost')}/Patient/new` } }, // prettier-ignore
      { resource: observation('of-new', `${here('[::1]')}/Patient/new`), request: { method: 'PUT', url: 'Observation/of-new' } }, // prettier-ignore
    ];
    const answer = await server.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
    expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
    expect(idsOf(await server.send('GET', '/Observation?subject=Patient/new'))).toEqual(['of-new']);
    const elsewhere = [{ request: { method: 'GET', url: 'http://localhost:9/fhir/Patient/new' } }];
    const refused = await server.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry: elsewhere });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('under another base')]);
  });
}
