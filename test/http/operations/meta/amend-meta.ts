import { beforeEach, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import { batch, responsesOf, transaction } from '../../bundles/bundle-server.js';
import type { Answer } from '../../server.js';
import { expectRefusal } from '../../write-server.js';

const SYSTEM = 'http://tags.example';
const tag = (code: string) => ({ system: SYSTEM, code });

/** `$meta-add` and `$meta-delete` (resource-operation-meta-add.html, resource-operation-meta-delete.html) */
export function amendMeta(store: Store): void {
  const server = scopedServer(store);
  const body = (valueMeta: object) => ({ resourceType: 'Parameters', parameter: [{ name: 'meta', valueMeta }] });
  const add = (path: string, meta: object, who: Pick<typeof server.all, 'send'> = server.all, headers = {}) =>
    who.send('POST', `${path}/$meta-add`, body(meta), headers);
  const remove = (path: string, meta: object) => server.all.send('POST', `${path}/$meta-delete`, body(meta));
  const metaOf = (answer: Answer) => {
    expect(answer.status, answer.text).toBe(200);
    return answer.json().parameter[0].valueMeta;
  };
  const found = async (query: string): Promise<string[]> =>
    ((await server.all.send('GET', `/Patient?${query}`)).json().entry ?? []).map(
      ({ resource }: { resource: { id: string } }) => resource.id,
    );
  const get = (path: string) => server.all.send('GET', path);

  beforeEach(async () => {
    await server.all.send('DELETE', '/Patient/a');
    const patient = { resourceType: 'Patient', id: 'a', meta: { tag: [tag('old')] }, active: true };
    await server.all.send('PUT', '/Patient/a', patient);
    await server.all.send('PUT', '/Patient/a', { ...patient, active: false });
  });

  it('adds to the current version, which stays what it is, and is found by the new labels', async () => {
    const before = (await get('/Patient/a')).json();
    const added = { tag: [tag('new'), { ...tag('old'), display: 'x' }], security: [tag('s')], profile: ['http://p.example'] }; // prettier-ignore
    const meta = metaOf(await add('/Patient/a', added));
    expect(meta).toEqual({ ...before.meta, tag: [tag('old'), tag('new')], security: [tag('s')], profile: ['http://p.example'] }); // prettier-ignore
    const answer = await get('/Patient/a');
    expect(answer.json()).toEqual({ ...before, meta });
    expect(answer.headers.etag).toBe(`W/"${before.meta.versionId}"`);
    for (const query of [`_tag=${SYSTEM}|new`, `_security=s`, `_profile=http://p.example`, '_tag=old']) {
      expect(await found(query), query).toEqual(['a']);
    }
    const { versionId } = before.meta;
    const history = (await get('/Patient/a/_history')).json();
    expect(history.entry[0].resource.meta).toEqual(meta);
    // Tags stay in later versions, as ever.
    await server.all.send('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a', gender: 'male' });
    const next = (await get('/Patient/a')).json();
    expect([next.meta.versionId, next.meta.tag]).toEqual([String(Number(versionId) + 1), [tag('old'), tag('new')]]);
  });

  it('removes by identity; what is not there is no fault', async () => {
    const meta = metaOf(await remove('/Patient/a', { tag: [{ ...tag('old'), display: 'y' }, tag('none')] }));
    expect(meta.tag).toBeUndefined();
    expect(await found('_tag=old')).toEqual([]);
    const same = metaOf(await remove('/Patient/a', { tag: [tag('old')] }));
    expect(same).toEqual(meta);
    const read = (await get('/Patient/a/$meta')).json().parameter[0].valueMeta;
    expect(read).toEqual(meta);
  });

  it('of a past version: that alone, in no search', async () => {
    const current = (await get('/Patient/a')).json().meta.versionId;
    const past = `/Patient/a/_history/${Number(current) - 1}`;
    const meta = metaOf(await add(past, { tag: [tag('past')] }));
    expect([meta.versionId, meta.tag]).toEqual([String(Number(current) - 1), [tag('old'), tag('past')]]);
    expect((await get(past)).json().meta.tag).toEqual([tag('old'), tag('past')]);
    expect((await get('/Patient/a')).json().meta.tag).toEqual([tag('old')]);
    expect(await found('_tag=past')).toEqual([]);
  });

  it('a Binary keeps its content', async () => {
    await server.all.send('PUT', '/Binary/b', 'bytes', { 'content-type': 'text/plain' });
    expect(metaOf(await add('/Binary/b', { tag: [tag('t')] })).tag).toEqual([tag('t')]);
    expect((await server.all.send('GET', '/Binary/b', undefined, { accept: 'text/plain' })).text).toBe('bytes');
  });

  it('refuses what is wrong', async () => {
    const path = '/Patient/a/$meta-add';
    expectRefusal(
      await server.all.send('POST', path, { resourceType: 'Parameters' }),
      400,
      'parameter-invalid',
      '"meta"',
    );
    const two = { resourceType: 'Parameters', parameter: [1, 2].map(() => ({ name: 'meta', valueMeta: {} })) };
    expect((await server.all.send('POST', path, two)).status).toBe(400);
    expectRefusal(await add('/Patient/none', { tag: [tag('x')] }), 404, 'not-found');
    expectRefusal(await add('/Patient/a/_history/999', { tag: [tag('x')] }), 404, 'not-found');
    expectRefusal(await add('/Patient/a', { tag: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' }] }), 400, 'resource-subsetted'); // prettier-ignore
    const got = await get(path);
    expectRefusal(got, 405, 'method-not-allowed');
    expect(got.headers.allow).toBe('POST');
    expectRefusal(await add('/Patient/a', { tag: [tag('x')] }, server.all, { 'if-match': 'W/"999"' }), 412, 'precondition-failed'); // prettier-ignore
    await server.all.send('DELETE', '/Patient/a');
    expectRefusal(await add('/Patient/a', { tag: [tag('x')] }), 410, 'deleted');
  });

  it('as an entry of a batch; a transaction could not undo it', async () => {
    const entry = { request: { method: 'POST', url: 'Patient/a/$meta-add' }, resource: body({ tag: [tag('b')] }) };
    const answer = await server.all.send('POST', '/', batch(entry));
    expect(responsesOf(answer)[0].status).toBe('200 OK');
    expect(answer.json().entry[0].resource.parameter[0].valueMeta.tag).toContainEqual(tag('b'));
    expectRefusal(await server.all.send('POST', '/', transaction(entry)), 400, 'bundle-entry', '$meta-add');
    const xml = await add('/Patient/a', { tag: [tag('xml')] }, server.all, { accept: 'application/fhir+xml' });
    expect(xml.text).toContain('<code value="xml"/>');
  });

  it('needs to update, within the constraint before and after', async () => {
    const refused = await add('/Patient/a', { tag: [tag('x')] }, server.as('system/Patient.crds'));
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([403, expect.stringContaining('system/Patient.u')]); // prettier-ignore
    const within = server.as(`system/Patient.u?_tag=${SYSTEM}|old`);
    expect(metaOf(await add('/Patient/a', { tag: [tag('x')] }, within)).tag).toContainEqual(tag('x'));
    const out = await within.send('POST', '/Patient/a/$meta-delete', body({ tag: [tag('old')] }));
    expect(out.status, out.text).toBe(403);
    expect((await get('/Patient/a')).json().meta.tag).toContainEqual(tag('old'));
    expectRefusal(
      await add('/Patient/a', { tag: [tag('z')] }, server.as('system/Patient.u?_tag=none')),
      404,
      'not-found',
    );
  });

  it('at once: no label is lost', async () => {
    const codes = Array.from({ length: 8 }, (_, i) => `c${i}`);
    const answers = await Promise.all(codes.map((code) => add('/Patient/a', { tag: [tag(code)] })));
    for (const answer of answers) metaOf(answer);
    const { tag: tags } = (await get('/Patient/a')).json().meta;
    expect(tags.map(({ code }: { code: string }) => code).sort()).toEqual([...codes, 'old'].sort());
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
