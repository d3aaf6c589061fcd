import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';
import { batch, responsesOf } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';

/** `$graph` and `Composition/$document` */
export function graphs(store: Store): void {
  const server = scopedServer(store);
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const get = (path: string) => server.all.send('GET', path);
  const names = (answer: Answer): string[] => {
    expect(answer.status, answer.text).toBe(200);
    const { entry = [] } = answer.json();
    return entry.map(({ resource }: { resource: { resourceType: string; id: string } }) => `${resource.resourceType}/${resource.id}`); // prettier-ignore
  };
  const composition = (id: string, more: object = {}) => ({
    ...{ resourceType: 'Composition', id, status: 'final', type: { text: 'x' }, date: '2024-01-01', title: 'Summary' },
    ...{ subject: [{ reference: 'Patient/a' }], author: [{ reference: 'Practitioner/dr' }] },
    section: [{ title: 's', entry: [{ reference: 'Observation/o' }, { reference: 'http://other.example/Basic/1' }] }],
    ...more,
  });

  beforeAll(async () => {
    await put({ resourceType: 'Organization', id: 'org', name: 'x' });
    await put({ resourceType: 'Patient', id: 'a', managingOrganization: { reference: 'Organization/org' } });
    await put({ resourceType: 'Practitioner', id: 'dr', active: true });
    await put({ resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/a' } }); // prettier-ignore
    await put({
      ...{
        resourceType: 'GraphDefinition',
        id: 'g',
        url: 'http://g.example/g',
        name: 'G',
        status: 'active',
        start: 'n1',
      },
      node: [
        { nodeId: 'n1', type: 'Observation' },
        { nodeId: 'n2', type: 'Patient' },
        { nodeId: 'n3', type: 'Organization' },
      ],
      link: [
        { sourceId: 'n1', path: 'Observation.subject', targetId: 'n2' },
        { sourceId: 'n2', path: 'Patient.managingOrganization', targetId: 'n3' },
      ],
    });
    await put({
      ...{ resourceType: 'GraphDefinition', id: 'c', name: 'C', status: 'active', start: 'n1' },
      node: [
        { nodeId: 'n1', type: 'Composition' },
        { nodeId: 'n2', type: 'Patient' },
        { nodeId: 'n3', type: 'Organization' },
      ],
      link: [
        { sourceId: 'n1', path: 'Composition.subject', targetId: 'n2' },
        { sourceId: 'n2', path: 'Patient.managingOrganization', targetId: 'n3' },
      ],
    });
  });

  describe('$graph (resource-operation-graph.html)', () => {
    it('the resource, and what the graph leads to, by id, reference and canonical', async () => {
      for (const named of ['g', 'GraphDefinition/g', 'http://g.example/g']) {
        const answer = await get(`/Observation/o/$graph?graph=${named}`);
        expect(names(answer)).toEqual(['Observation/o', 'Patient/a', 'Organization/org']);
        expect(answer.json().entry[1].search.mode).toBe('include');
      }
      const body = { resourceType: 'Parameters', parameter: [{ name: 'graph', valueUri: 'GraphDefinition/g' }] };
      expect(names(await server.all.send('POST', '/Observation/o/$graph', body))).toHaveLength(3);
      const entry = { request: { method: 'GET', url: 'Observation/o/$graph?graph=g' } };
      expect(responsesOf(await server.all.send('POST', '/', batch(entry)))[0].status).toBe('200 OK');
    });

    it('refuses what cannot be followed, and keeps to the scopes', async () => {
      expectRefusal(await get('/Observation/none/$graph?graph=g'), 404, 'not-found');
      expectRefusal(await get('/Observation/o/$graph'), 400, 'parameter-invalid', '"graph"');
      expectRefusal(await get('/Observation/o/$graph?graph=none'), 400, 'parameter-invalid', '"graph"');
      expectRefusal(await get('/Patient/a/$graph?graph=g'), 400, 'parameter-invalid');
      const path = '/Observation/o/$graph?graph=g';
      const some = await server.as('system/Observation.r system/GraphDefinition.r system/Patient.r').send('GET', path);
      expect(names(some)).toEqual(['Observation/o', 'Patient/a']);
      expect((await server.as('system/Observation.r').send('GET', path)).status).toBe(403);
      expect((await server.as('system/GraphDefinition.r').send('GET', path)).status).toBe(403);
    });
  });

  describe('Composition/$document (composition-operation-document.html)', () => {
    it('is a document of all that the Composition refers to', async () => {
      await put(composition('c'));
      const answer = await get('/Composition/c/$document');
      expect(names(answer)).toEqual(['Composition/c', 'Patient/a', 'Practitioner/dr', 'Observation/o']);
      const { type, identifier, timestamp, entry } = answer.json();
      expect([type, identifier.system]).toEqual(['document', 'urn:ietf:rfc:3986']);
      expect(timestamp).toMatch(/^\d{4}-/);
      expect(entry[0].fullUrl).toBe(`${server.url}/fhir/Composition/c`);
      const graphed = names(await get('/Composition/c/$document?graph=c'));
      expect(graphed).toEqual([...names(answer), 'Organization/org']);
      const xml = await server.all.send('GET', '/Composition/c/$document', undefined, { accept: 'application/fhir+xml' }); // prettier-ignore
      expect(xml.text).toContain('<type value="document"/>');
    });

    it('carries the labels of its parts, and the highest confidentiality', async () => {
      const system = 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality';
      const security = (...codes: string[]) => ({ meta: { security: codes.map((code) => ({ system, code })) } });
      const act = { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'PSY' };
      await put({ resourceType: 'Patient', id: 'labeled', ...security('N') });
      await put({
        resourceType: 'Practitioner',
        id: 'labeled',
        meta: { security: [act, ...security('R').meta.security] },
      });
      const of = {
        subject: [{ reference: 'Patient/labeled' }],
        author: [{ reference: 'Practitioner/labeled' }],
        section: [],
      };
      await put(composition('labeled', { ...of, section: undefined, ...security('L') }));
      const { meta } = (await get('/Composition/labeled/$document')).json();
      expect(meta.security).toEqual([{ system, code: 'R' }, act]);
      const stored = await get('/Composition/labeled/$document?persist=true');
      expect(stored.json().meta.security).toEqual(meta.security);
      expect((await get('/Composition/c/$document')).json().meta).toBeUndefined();
    });

    it('is stored with persist, where the token may', async () => {
      const answer = await get('/Composition/c/$document?persist=true');
      expect(answer.status, answer.text).toBe(201);
      const location = String(answer.headers['location']);
      const stored = await get(location.slice(location.indexOf('/fhir') + 5));
      expect(stored.json().type).toBe('document');
      const reads = ['Composition', 'Patient', 'Practitioner', 'Observation']
        .map((type) => `system/${type}.r`)
        .join(' ');
      expect((await server.as(reads).send('GET', '/Composition/c/$document')).status).toBe(200);
      const refused = await server.as(reads).send('GET', '/Composition/c/$document?persist=true');
      expect([refused.status, refused.headers['www-authenticate']]).toEqual([403, expect.stringContaining('system/Bundle.c')]); // prettier-ignore
    });

    it('refuses to lack anything', async () => {
      await put(composition('lacking', { author: [{ reference: 'Practitioner/none' }] }));
      expectRefusal(await get('/Composition/lacking/$document'), 404, 'not-found', 'Practitioner/none');
      expectRefusal(await get('/Composition/none/$document'), 404, 'not-found', 'Composition/none');
      const some = await server.as('system/Composition.r system/Patient.r').send('GET', '/Composition/c/$document');
      expect([some.status, some.headers['www-authenticate']]).toEqual([403, expect.stringContaining('system/Practitioner.r')]); // prettier-ignore
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
