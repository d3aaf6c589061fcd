import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';
import { batch, responsesOf } from '../bundles/bundle-server.js';
import { codeOf, type Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';

const FHIR = { 'content-type': 'application/fhir+json' };
const XML = { accept: 'application/fhir+xml' };

interface Part {
  readonly name: string;
  readonly valueCode?: string;
  readonly valueString?: string;
}

/** `type path` of each operation. */
function changesOf(answer: Answer): string[] {
  expect(answer.status, answer.text).toBe(200);
  const { resourceType, parameter = [] } = answer.json();
  expect(resourceType).toBe('Parameters');
  return parameter.map(({ part }: { part: Part[] }) => {
    const of = (name: string) => part.find((each) => each.name === name);
    return `${of('type')?.valueCode} ${of('path')?.valueString}`;
  });
}

/** `$diff` */
export function diff(store: Store): void {
  const server = scopedServer(store);
  const get = (path: string, headers = {}) => server.all.send('GET', path, undefined, headers);
  const put = (body: { resourceType: string; id: string; [name: string]: unknown }) =>
    server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
  const at = (versions: object) => ({ resourceType: 'Patient', id: 'a', ...versions });

  beforeAll(async () => {
    await put(at({ active: true, gender: 'male' }));
    await put(at({ active: false, gender: 'male', name: [{ family: 'A' }] }));
    await put(at({ active: false, name: [{ family: 'B' }] }));
    await put({ resourceType: 'Patient', id: 'b', meta: { tag: [{ code: 'x' }] }, active: false });
    await put({ resourceType: 'Patient', id: 'gone', active: true });
    await server.all.send('DELETE', '/Patient/gone');
    await put({ resourceType: 'Patient', id: 'back', active: true });
    await server.all.send('DELETE', '/Patient/back');
    await put({ resourceType: 'Patient', id: 'back', active: false });
    await put({ resourceType: 'Basic', id: 'x', code: { text: 'x' } });
  });

  it('of an instance: from the version before to the current one', async () => {
    const answer = await get('/Patient/a/$diff');
    expect(changesOf(answer).sort()).toEqual(['delete Patient.gender', 'replace Patient.name[0].family']);
    const replaced = answer.json().parameter.find(({ part }: { part: Part[] }) => part[0]?.valueCode === 'replace');
    expect(replaced.part).toContainEqual({ name: 'previousValue', valueString: 'A' });
    expect(replaced.part).toContainEqual({ name: 'value', valueString: 'B' });
  });

  it('of a version, and from a version that is named; by POST too', async () => {
    expect(changesOf(await get('/Patient/a/_history/2/$diff')).sort()).toEqual([
      'add Patient',
      'replace Patient.active',
    ]);
    expect(changesOf(await get('/Patient/a/$diff?fromVersion=1')).sort()).toEqual([
      'add Patient',
      'delete Patient.gender',
      'replace Patient.active',
    ]);
    const body = { resourceType: 'Parameters', parameter: [{ name: 'fromVersion', valueString: '1' }] };
    const posted = await server.all.send('POST', '/Patient/a/_history/2/$diff', body, FHIR);
    expect(changesOf(posted).sort()).toEqual(['add Patient', 'replace Patient.active']);
    expect(changesOf(await get('/Patient/a/$diff?fromVersion=3'))).toEqual([]);
  });

  it('of a first version: all of it is inserted; a deletion in between is passed over', async () => {
    const answer = await get('/Patient/a/_history/1/$diff');
    expect(changesOf(answer)).toEqual(['insert Patient']);
    expect(answer.json().parameter[0].part[2]).toMatchObject({ name: 'value', resource: { id: 'a', active: true } });
    expect(changesOf(await get('/Patient/back/$diff'))).toEqual(['replace Patient.active']);
  });

  it('of two resources, and of versions of them, however they are written', async () => {
    expect(changesOf(await get('/$diff?from=Patient/a&to=Patient/b'))).toEqual(['delete Patient.name[0]']);
    for (const from of ['Patient/a/_history/1', 'Patient/a/version/1', `${server.url}/fhir/Patient/a/_history/1`]) {
      const changes = changesOf(await get(`/$diff?from=${encodeURIComponent(from)}&to=Patient/b`));
      expect(changes.sort()).toEqual(['delete Patient.gender', 'replace Patient.active']);
    }
    expect(changesOf(await get('/$diff?from=Patient/a&fromVersion=1&to=Patient/a/_history/1'))).toEqual([]);
    expectRefusal(
      await get('/$diff?from=Patient/a/_history/2&fromVersion=1&to=Patient/b'),
      400,
      'parameter-invalid',
      'fromVersion',
    );
  });

  it('leaves meta out unless it is asked for', async () => {
    expect(changesOf(await get('/$diff?from=Patient/a&to=Patient/b')).join()).not.toContain('meta');
    const changes = changesOf(await get('/$diff?from=Patient/a&to=Patient/b&includeMeta=true'));
    expect(changes).toContain('replace Patient.meta.versionId');
    expect(changesOf(await get('/Patient/a/$diff?includeMeta=true')).join()).toContain('lastUpdated');
  });

  it('its result is a patch: the older version becomes the newer one; none changes nothing', async () => {
    await put({ resourceType: 'Patient', id: 'c', active: true, gender: 'male' });
    const patch = (await get('/$diff?from=Patient/c&to=Patient/a')).text;
    const patched = await server.all.send('PATCH', '/Patient/c', patch, FHIR);
    expect(patched.status, patched.text).toBe(200);
    expect(changesOf(await get('/$diff?from=Patient/c&to=Patient/a'))).toEqual([]);
  });

  it('its result with meta is a patch too', async () => {
    const tag = (...codes: string[]) => ({ meta: { tag: codes.map((code) => ({ code })), profile: undefined } });
    await put({ resourceType: 'Patient', id: 'd', active: true, ...tag('x') });
    await put({ resourceType: 'Patient', id: 'e', active: true, gender: 'male', ...tag('y', 'z') });
    for (const query of ['from=Patient/d&to=Patient/e', 'from=Patient/e&to=Patient/d']) {
      const id = query.slice('from=Patient/'.length)[0]!;
      const patch = (await get(`/$diff?${query}&includeMeta=true`)).text;
      const patched = await server.all.send('PATCH', `/Patient/${id}`, patch, FHIR);
      expect(patched.status, `${patch} ${patched.text}`).toBe(200);
    }
    // Within one resource, to what stood before.
    await put({ resourceType: 'Patient', id: 'd', active: false, meta: { source: 'http://x.example' } });
    const back = (await get('/$diff?from=Patient/d&to=Patient/d/_history/1&includeMeta=true')).text;
    const patched = await server.all.send('PATCH', '/Patient/d', back, FHIR);
    expect(patched.status, `${back} ${patched.text}`).toBe(200);
    expect(patched.json()).toMatchObject({ active: true, meta: { tag: expect.arrayContaining([{ code: 'x' }]) } });
  });

  it('in XML, and as an entry of a batch', async () => {
    const xml = await get('/Patient/a/$diff', XML);
    expect(xml.headers['content-type']).toContain('application/fhir+xml');
    expect(xml.text).toContain('<name value="operation"/>');
    const entries = ['Patient/a/$diff', '$diff?from=Patient/a&to=Basic/x', 'Patient/none/$diff'];
    const answer = await server.all.send('POST', '/', batch(...entries.map((url) => ({ request: { method: 'GET', url } })))); // prettier-ignore
    expect(responsesOf(answer).map(({ status }) => status.slice(0, 3))).toEqual(['200', '400', '404']);
    expect(answer.json().entry[0].resource.parameter).toHaveLength(2);
  });

  it('of a Binary, whose content is kept apart', async () => {
    const type = { 'content-type': 'text/plain' };
    await server.all.send('PUT', '/Binary/bin', 'one', type);
    await server.all.send('PUT', '/Binary/bin', 'two', type);
    expect(changesOf(await get('/Binary/bin/$diff'))).toEqual(['replace Binary.data']);
  });

  it('refuses what cannot be compared', async () => {
    expectRefusal(await get('/$diff?from=Patient/none&to=Basic/none'), 400, 'parameter-invalid', 'Patient', 'Basic');
    expectRefusal(await get('/$diff?from=Patient/a'), 400, 'parameter-invalid', '"to"', 'required');
    expectRefusal(await get('/$diff?from=a&to=Patient/b'), 400, 'parameter-invalid', '"from"', 'Type/id');
    expectRefusal(await get('/$diff?from=Patient/_&to=Patient/b'), 400, 'parameter-invalid', '"from"');
    expectRefusal(await get('/$diff?from=Patient/a&from=Patient/b&to=Patient/b'), 400, 'parameter-invalid', '"from"');
    expectRefusal(await get('/Patient/a/$diff?fromVersion=x'), 400, 'parameter-invalid', 'fromVersion');
    expectRefusal(await get('/Patient/a/$diff?from=Patient/b'), 400, 'parameter-unknown', '"from"', 'includeMeta');
    expectRefusal(await get('/Patient/a/$diff?includeMeta=maybe'), 400, 'parameter-invalid', 'includeMeta');
    expectRefusal(await get('/Patient/a/$diff?fromVersion=9'), 404, 'not-found');
    expectRefusal(await get('/$diff?from=Patient/none&to=Patient/a'), 404, 'not-found');
    expectRefusal(await get('/Patient/gone/$diff'), 410, 'deleted');
    expectRefusal(await get('/Patient/back/$diff?fromVersion=2'), 410, 'deleted');
    expectRefusal(await get('/$diff?from=Patient/gone&to=Patient/a'), 410, 'deleted');
  });

  it('compares for a token what it may read', async () => {
    const refused = await server.as('system/Basic.r').send('GET', '/$diff?from=Patient/none&to=Patient/a');
    expect([refused.status, codeOf(refused)]).toEqual([403, 'scope-missing']);
    expect(refused.headers['www-authenticate']).toContain('system/Patient.r');
    expect((await server.as('system/Patient.s').send('GET', '/Patient/none/$diff')).status).toBe(403);
    const narrow = server.as('system/Patient.r?_tag=x');
    expectRefusal(await narrow.send('GET', '/$diff?from=Patient/a&to=Patient/b'), 404, 'not-found');
    expect((await narrow.send('GET', '/Patient/b/$diff')).status).toBe(200);
    expect((await server.as('system/Patient.r').send('GET', '/$diff?from=Patient/a&to=Patient/b')).status).toBe(200);
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
