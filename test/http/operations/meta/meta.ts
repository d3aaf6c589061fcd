import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../../generated/tables.js';
import { OPERATIONS, SWITCHES, WEBSOCKET } from '../../../../runtime/operations/registry.js';
import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import { batch, responsesOf, transaction } from '../../bundles/bundle-server.js';
import { codeOf, type Answer } from '../../server.js';
import { expectRefusal } from '../../write-server.js';

const SYSTEM = 'http://tags.example';
const tag = (code: string) => ({ system: SYSTEM, code });
const XML = { accept: 'application/fhir+xml' };

/** The operations that answer at once, whatever the store, which has nothing in it. */
export function operations(store: Store): void {
  const server = scopedServer(store);
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const isServed = (id: string): boolean =>
    OPERATIONS.has(id) && !['admin.expunge', 'publish.types'].includes(SWITCHES.get(id) ?? '') && !WEBSOCKET.has(id);
  const metaOf = (answer: Answer) => {
    expect(answer.status, answer.text).toBe(200);
    const { resourceType, parameter } = answer.json();
    expect([resourceType, parameter.length, parameter[0].name]).toEqual(['Parameters', 1, 'return']);
    return parameter[0].valueMeta;
  };

  beforeAll(async () => {
    const profile = ['http://p.example/patient'];
    await put({ resourceType: 'Patient', id: 'a', meta: { tag: [tag('one')], profile }, active: true });
    await put({ resourceType: 'Patient', id: 'a', meta: { tag: [tag('two')], profile }, active: false });
    await put({ resourceType: 'Patient', id: 'b', meta: { security: [tag('secret')] } });
    await put({ resourceType: 'Patient', id: 'gone', meta: { tag: [tag('gone')] } });
    await server.all.send('DELETE', '/Patient/gone');
    await put({ resourceType: 'Basic', id: 'x', meta: { tag: [tag('basic')] }, code: { text: 'x' } });
    await put({ resourceType: 'Basic', id: 'y', code: { text: 'y' } });
  });

  describe('$get-resource-counts', () => {
    const counts = async (who = server.all, path = '/$get-resource-counts') => {
      const answer = await who.send('GET', path);
      expect(answer.status, answer.text).toBe(200);
      const { parameter = [] } = answer.json();
      return parameter.map(({ name, valueInteger }: { name: string; valueInteger: number }) => [name, valueInteger]);
    };

    it('counts what lives, by type, sorted by name; by GET, HEAD and POST', async () => {
      expect(await counts()).toEqual([
        ['Basic', 2],
        ['Patient', 2],
      ]);
      const posted = await server.all.send('POST', '/$get-resource-counts', { resourceType: 'Parameters' });
      expect(posted.json()).toEqual((await server.all.send('GET', '/$get-resource-counts')).json());
      expect((await server.all.send('POST', '/$get-resource-counts')).status).toBe(200);
      expect((await server.all.send('HEAD', '/$get-resource-counts')).status).toBe(200);
    });

    it('counts for a token what it may search, and under a constraint what fulfils that', async () => {
      expect(await counts(Object.assign(Object.create(server.all), server.as('system/Basic.s')))).toEqual([
        ['Basic', 2],
      ]);
      const scope = `system/Basic.s?_tag=${SYSTEM}|basic`;
      expect(await counts(Object.assign(Object.create(server.all), server.as(scope)))).toEqual([['Basic', 1]]);
      expect(await counts(Object.assign(Object.create(server.all), server.as('system/Linkage.s')))).toEqual([]);
      const refused = await server.as('system/Basic.cru').send('GET', '/$get-resource-counts');
      expect([refused.status, codeOf(refused)]).toEqual([403, 'scope-missing']);
    });
  });

  describe('$meta (resource-operation-meta.html)', () => {
    it('of a resource and of a version: its meta, in JSON and XML, by GET and POST', async () => {
      const meta = metaOf(await server.all.send('GET', '/Patient/a/$meta'));
      expect(meta).toMatchObject({ versionId: '2', profile: ['http://p.example/patient'] });
      expect(meta.tag.map(({ code }: { code: string }) => code).sort()).toEqual(['one', 'two']);
      expect(meta.lastUpdated).toMatch(/^\d{4}-/);
      expect(metaOf(await server.all.send('POST', '/Patient/a/$meta', { resourceType: 'Parameters' }))).toEqual(meta);
      const first = metaOf(await server.all.send('GET', '/Patient/a/_history/1/$meta'));
      expect([first.versionId, first.tag]).toEqual(['1', [tag('one')]]);
      const xml = await server.all.send('GET', '/Patient/a/$meta', undefined, XML);
      expect(xml.headers['content-type']).toContain('application/fhir+xml');
      expect(xml.text).toContain('<valueMeta><versionId value="2"/>');
    });

    it('of a type and of all types: what current versions use, each value once', async () => {
      const patients = metaOf(await server.all.send('GET', '/Patient/$meta'));
      expect(patients).toEqual({
        profile: ['http://p.example/patient'],
        security: [tag('secret')],
        tag: [tag('one'), tag('two')],
      });
      const all = metaOf(await server.all.send('GET', '/$meta'));
      expect(all.tag).toEqual([tag('basic'), tag('one'), tag('two')]);
      expect(metaOf(await server.all.send('GET', '/Linkage/$meta'))).toBeUndefined();
    });

    it('shows a token the types and resources within its scopes', async () => {
      const basic = metaOf(await server.as('system/Basic.s').send('GET', '/$meta'));
      expect(basic).toEqual({ tag: [tag('basic')] });
      const scope = `system/Patient.rs?_security=${SYSTEM}|secret`;
      expect(metaOf(await server.as(scope).send('GET', '/Patient/$meta'))).toEqual({ security: [tag('secret')] });
      expect((await server.as(scope).send('GET', '/Patient/a/$meta')).status).toBe(404);
      expect((await server.as(scope).send('GET', '/Patient/b/$meta')).status).toBe(200);
      const refused = await server.as('system/Patient.s').send('GET', '/Patient/none/$meta');
      expect([refused.status, codeOf(refused)]).toEqual([403, 'scope-missing']);
      expect(refused.headers['www-authenticate']).toContain('system/Patient.r');
    });

    it('a deleted resource is 410, an unknown one 404', async () => {
      expectRefusal(await server.all.send('GET', '/Patient/gone/$meta'), 410, 'deleted');
      expectRefusal(await server.all.send('GET', '/Patient/gone/_history/2/$meta'), 410, 'deleted');
      expect((await server.all.send('GET', '/Patient/gone/_history/1/$meta')).status).toBe(200);
      expectRefusal(await server.all.send('GET', '/Patient/none/$meta'), 404, 'not-found');
      expectRefusal(await server.all.send('GET', '/Patient/a/_history/9/$meta'), 404, 'not-found');
    });
  });

  describe('what every operation refuses', () => {
    it('unknown parameters, by name, with those that are right; lenient clients go without', async () => {
      const query = await server.all.send('GET', '/Patient/a/$meta?nonsense=1&_format=json&_pretty=true');
      expectRefusal(query, 400, 'parameter-unknown', '"nonsense"', '$meta takes none');
      const body = { resourceType: 'Parameters', parameter: [{ name: 'nonsense', valueString: 'x' }] };
      const posted = await server.all.send('POST', '/$get-resource-counts', body);
      expectRefusal(posted, 400, 'parameter-unknown', '"nonsense"');
      expect(posted.json().issue[0].expression).toEqual(['Parameters.parameter[0]']);
      const lenient = { prefer: 'handling=lenient' };
      expect((await server.all.send('POST', '/$get-resource-counts', body, lenient)).status).toBe(200);
    });

    it('other bodies than Parameters, and Parameters with faults', async () => {
      const patient = { resourceType: 'Patient' };
      expectRefusal(await server.all.send('POST', '/$meta', patient), 400, 'type-mismatch', 'Parameters', 'Patient');
      expectRefusal(await server.all.send('POST', '/$meta', '[]'), 400, 'not-a-resource');
      const faulty = { resourceType: 'Parameters', parameter: [{ name: 'x', valueInteger: 'y' }] };
      expect((await server.all.send('POST', '/$meta', faulty)).status).toBe(400);
    });

    it('other methods (405), and names that no operation has (404)', async () => {
      const put = await server.all.send('PUT', '/Patient/a/$meta', { resourceType: 'Parameters' });
      expectRefusal(put, 405, 'method-not-allowed');
      expect(put.headers.allow).toBe('GET, HEAD, POST');
      expectRefusal(await server.all.send('GET', '/$nonsense'), 404, 'unknown-operation');
      const hints = {
        '/Patient/1/$Meta': 'did you mean $meta?',
        '/Observation/1/$get-resource-counts': 'it is at $get-resource-counts',
      };
      for (const [path, hint] of Object.entries(hints)) {
        const answer = await server.all.send('GET', path);
        expectRefusal(answer, 404, 'unknown-operation');
        expect(answer.text).toContain(hint);
      }
      expectRefusal(await server.as('').send('GET', '/$nonsense'), 404, 'unknown-operation');
    });
  });

  it('works as an entry of a batch and of a transaction, each judged by itself', async () => {
    const entries = [
      { request: { method: 'GET', url: 'Patient/a/$meta' } },
      { request: { method: 'GET', url: '$get-resource-counts' } },
      { request: { method: 'POST', url: 'Basic/$meta' }, resource: { resourceType: 'Parameters' } },
      { request: { method: 'GET', url: 'Patient/a/$meta?x=1' } },
    ];
    const answer = await server.as('system/Patient.r system/Basic.s').send('POST', '/', batch(...entries));
    const [meta, counts, basic, faulty] = responsesOf(answer);
    expect([meta.status, counts.status, basic.status].map((status) => status.slice(0, 3))).toEqual([
      '200',
      '200',
      '200',
    ]);
    expect(faulty.status).toMatch(/^400/);
    const [metaEntry, countsEntry, basicEntry] = answer.json().entry;
    expect(metaEntry.resource.parameter[0].valueMeta.versionId).toBe('2');
    expect(countsEntry.resource.parameter).toEqual([{ name: 'Basic', valueInteger: 2 }]);
    expect(basicEntry.resource.parameter[0].valueMeta.tag).toEqual([tag('basic')]);
    const refused = await server.as('system/Basic.s').send('POST', '/', batch(entries[0]!));
    expect(responsesOf(refused)[0].status).toMatch(/^403/);
    const whole = await server.all.send('POST', '/', transaction(entries[1]!));
    expect(whole.json().entry[0].resource.parameter).toContainEqual({ name: 'Basic', valueInteger: 2 });
  });

  it('/metadata, Allow and the routes list exactly the operations that are wired', async () => {
    const { rest } = (await server.all.send('GET', '/metadata')).json();
    const listed = (rows: readonly { definition: string }[] = []) => rows.map(({ definition }) => definition).sort();
    const urls = (level: (levels: readonly string[]) => boolean) =>
      tables.operations
        .filter(({ id, levels, types = ['Patient'] }) => {
          const isBelow = level(['type']) && !types.includes('Patient');
          return isServed(id) && level(levels) && !isBelow;
        })
        .map(({ url }) => (url.startsWith('http') ? url : `${server.url}/fhir/${url}`))
        .sort();
    expect(listed(rest[0].operation)).toEqual(urls((levels) => levels.includes('system')));
    const patient = rest[0].resource.find(({ type }: { type: string }) => type === 'Patient');
    expect(listed(patient.operation)).toEqual(urls((levels) => levels.some((each) => each !== 'system')));
    for (const { path, operation, method } of tables.routes) {
      if (operation === undefined) continue;
      const url = path.replace('[type]', 'Patient').replace('[id]', 'a').replace('[vid]', '1');
      const { headers } = await server.all.send('OPTIONS', `/${url}`);
      if (isServed(operation)) expect(headers.allow?.split(', '), url).toContain(method);
      else expect(headers.allow, url).toBeUndefined();
    }
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
