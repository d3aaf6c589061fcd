import { beforeEach, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { neededBy, scopedServer } from '../auth/scoped.js';
import { batch, responsesOf, transaction } from '../bundles/bundle-server.js';
import { codeOf, type Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';

const TEXT = { 'content-type': 'text/plain' };

/** `$expunge`, and the removal of history */
export function expunge(store: Store): void {
  const server = scopedServer(store, { allowsExpunge: true });
  const send = (method: string, path: string, body?: unknown, headers = {}) =>
    server.all.send(method, path, body as object, headers);
  const put = (id: string, n: number, type = 'Basic') =>
    send('PUT', `/${type}/${id}`, { resourceType: type, id, code: { text: String(n) } });
  const call = (
    path: string,
    values: Record<string, number | boolean> = {},
    who: Pick<typeof server.all, 'send'> = server.all,
  ) => {
    const parameter = Object.entries(values).map(([name, value]) =>
      typeof value === 'number' ? { name, valueInteger: value } : { name, valueBoolean: value },
    );
    const body = { resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) };
    return who.send('POST', `${path}/$expunge`.replace(/^\/\$/, '/$'), body);
  };
  const countOf = (answer: Answer): number => {
    expect(answer.status, answer.text).toBe(200);
    const [{ name, valueInteger }] = answer.json().parameter;
    expect(name).toBe('count');
    return valueInteger;
  };
  const ALL = { expungeDeletedResources: true, expungePreviousVersions: true };

  beforeEach(async () => {
    expect(countOf(await call('', { expungeEverything: true }))).toBeGreaterThanOrEqual(0);
    for (const n of [1, 2, 3]) await put('a', n);
    for (const n of [1, 2]) await put('gone', n);
    await send('DELETE', '/Basic/gone');
  });

  describe('$expunge', () => {
    it('of an instance: what it was, or all of it where it is deleted', async () => {
      expect(countOf(await call('/Basic/a'))).toBe(0);
      expect(countOf(await call('/Basic/a', { expungeDeletedResources: true }))).toBe(0);
      expect(countOf(await call('/Basic/a', { expungePreviousVersions: true }))).toBe(2);
      expectRefusal(await send('GET', '/Basic/a/_history/1'), 404, 'not-found');
      expect((await send('GET', '/Basic/a')).json().meta.versionId).toBe('3');
      expect((await send('GET', '/Basic/a/$diff')).json().parameter[0].part[0].valueCode).toBe('insert');
      expect(countOf(await call('/Basic/gone', ALL))).toBe(3);
      expectRefusal(await send('GET', '/Basic/gone'), 404, 'not-found');
      expectRefusal(await call('/Basic/gone', ALL), 404, 'not-found');
    });

    it('of a version, but not of the current one', async () => {
      expect(countOf(await call('/Basic/a/_history/2', ALL))).toBe(1);
      expectRefusal(await call('/Basic/a/_history/2', ALL), 404, 'not-found');
      expectRefusal(await call('/Basic/a/_history/3', ALL), 412, 'precondition-failed');
      expect((await send('GET', '/Basic/a/_history')).json().total).toBe(2);
    });

    it('of a type and of all types, up to the limit', async () => {
      await put('p', 1, 'Basic');
      expect(countOf(await call('/Basic', { ...ALL, limit: 2 }))).toBe(2);
      expect(countOf(await call('', { ...ALL, limit: 2 }))).toBe(2);
      expect(countOf(await call('/Patient', ALL))).toBe(0);
      expect(countOf(await call('', ALL))).toBe(1);
      expect(countOf(await call('', ALL))).toBe(0);
      expect((await send('GET', '/_history')).json().total).toBe(2);
    });

    it('of everything: search parameters lose their effect, contents go', async () => {
      await send('PUT', '/Binary/b', 'one', TEXT);
      await send('PUT', '/Binary/b', 'two', TEXT);
      expect(await store.blobs.list('binary/')).toHaveLength(2);
      expect(countOf(await call('/Binary/b', { expungePreviousVersions: true }))).toBe(1);
      expect(await store.blobs.list('binary/')).toHaveLength(1);
      expect((await send('GET', '/Binary/b', undefined, { accept: 'text/plain' })).text).toBe('two');
      expect(countOf(await call('', { expungeEverything: true }))).toBe(7);
      expect(await store.blobs.list('binary/')).toEqual([]);
      expect((await send('GET', '/_history')).json().total).toBe(0);
      expect((await send('GET', '/Basic')).json().total).toBe(0);
      expect((await put('a', 1)).status).toBe(201);
    });

    it('refuses what is wrong, and GET', async () => {
      expectRefusal(await call('', { ...ALL, limit: 0 }), 400, 'parameter-invalid', 'limit');
      expectRefusal(await call('/Basic', { expungeEverything: true }), 400, 'parameter-unknown', 'expungeEverything');
      expectRefusal(await call('/Basic/none', ALL), 404, 'not-found');
      const get = await send('GET', '/$expunge');
      expectRefusal(get, 405, 'method-not-allowed');
      expect(get.headers.allow).toBe('POST');
      const entry = { request: { method: 'POST', url: 'Basic/a/$expunge' }, resource: { resourceType: 'Parameters' } };
      expectRefusal(await send('POST', '/', transaction(entry)), 400, 'bundle-entry', '$expunge');
      expect(responsesOf(await send('POST', '/', batch(entry)))[0].status).toBe('200 OK');
    });

    it('needs its own scope, and to delete', async () => {
      for (const [scopes, path, status] of [
        ['system/*.cruds', '', 403],
        ['__admin.expunge', '', 200],
        ['__admin', '', 200],
        ['__admin.expunge', '/Basic/a', 403],
        ['system/Basic.d', '/Basic/a', 403],
        ['__admin.expunge system/Basic.d', '/Basic/a', 200],
        ['__admin.expunge system/Basic.d', '/Basic', 200],
        ['__admin.expunge system/Basic.d?_id=other', '/Basic', 403],
        ['__admin.expunge system/Basic.d?_id=other', '/Basic/a', 404],
        ['__admin.expunge system/Basic.d?_id=a', '/Basic/a', 200],
      ] as const) {
        const answer = await call(path, {}, Object.assign(Object.create(server.all), server.as(scopes)));
        expect(answer.status, `${scopes} ${path} ${answer.text}`).toBe(status);
      }
    });
  });

  describe('DELETE of history (http.html#delete-history)', () => {
    it('removes all but the current version, or one', async () => {
      expect((await send('DELETE', '/Basic/a/_history/1')).status).toBe(200);
      expectRefusal(await send('DELETE', '/Basic/a/_history/1'), 404, 'not-found');
      expectRefusal(await send('DELETE', '/Basic/a/_history/3'), 412, 'precondition-failed');
      const answer = await send('DELETE', '/Basic/a/_history');
      expect([answer.status, answer.json().resourceType]).toEqual([200, 'OperationOutcome']);
      expect((await send('GET', '/Basic/a/_history')).json().total).toBe(1);
      expect((await send('DELETE', '/Basic/gone/_history')).status).toBe(200);
      expect((await send('GET', '/Basic/gone/_history')).json().total).toBe(1);
      expectRefusal(await send('DELETE', '/Basic/none/_history'), 404, 'not-found');
      expect((await server.as('system/*.cruds').send('DELETE', '/Basic/a/_history')).status).toBe(403);
      expectRefusal(await send('POST', '/', transaction({ request: { method: 'DELETE', url: 'Basic/a/_history' } })), 400, 'bundle-entry'); // prettier-ignore
      const { rest } = (await send('GET', '/metadata')).json();
      expect(rest[0].operation.map(({ name }: { name: string }) => name)).toContain('expunge');
    });

    it.each([
      ['DELETE', '/_history', 200],
      ['DELETE', '/_history/1', 200],
      ['DELETE', '/_history/3', 412],
      ['DELETE', '/_history/9', 404],
      ['POST', '/_history/1/$expunge', 200],
      ['POST', '/_history/9/$expunge', 404],
    ])('%s %s needs its own scope, and to delete', async (method, path, done) => {
      const flags = Object.keys(ALL).map((name) => ({ name, valueBoolean: true }));
      const body = method === 'POST' ? { resourceType: 'Parameters', parameter: flags } : undefined;
      for (const [scopes, status, needed] of [
        ['system/*.cruds', 403, 'system/Basic.d __admin.expunge'],
        ['__admin.expunge', 403, 'system/Basic.d __admin.expunge'],
        ['__admin', 403, 'system/Basic.d __admin.expunge'],
        ['__admin.expunge system/*.crus system/Patient.d', 403, 'system/Basic.d __admin.expunge'],
        ['__admin.expunge system/Basic.d?_id=other', 404, undefined],
        ['__admin.expunge system/Basic.d?_id=a', done, undefined],
      ] as const) {
        const answer = await server.as(scopes).send(method, `/Basic/a${path}`, body);
        expect(answer.status, `${scopes} ${answer.text}`).toBe(status);
        if (needed !== undefined) expect(neededBy(answer)).toBe(needed);
        const total = status === 200 ? (path === '/_history' ? 1 : 2) : 3;
        expect((await send('GET', '/Basic/a/_history')).json().total, scopes).toBe(total);
      }
    });

    it('a resource that a constraint hides is as good as one that never was, whichever version is named', async () => {
      const within = server.as('__admin.expunge system/Basic.d?_id=other');
      for (const path of ['/_history', '/_history/1', '/_history/3', '/_history/9', '/_history/x']) {
        const [hidden, never] = await Promise.all(
          ['a', 'never'].map((id) => within.send('DELETE', `/Basic/${id}${path}`)),
        );
        expect([hidden!.status, hidden!.text], path).toEqual([404, never!.text.replaceAll('Basic/never', 'Basic/a')]);
        const entry = { request: { method: 'DELETE', url: `Basic/a${path}` } };
        expect(responsesOf(await within.send('POST', '/', batch(entry)))[0].status).toMatch(/^404/);
      }
      expect((await send('GET', '/Basic/a/_history')).json().total).toBe(3);
    });

    it('a version that lies outside of the constraint stays, though the current one lies within', async () => {
      const tagged = (code: string) => ({ resourceType: 'Basic', id: 'v', meta: { tag: [{ code }] }, code: { text: code } }); // prettier-ignore
      for (const code of ['out', 'in', 'in2']) await send('PUT', '/Basic/v', tagged(code));
      await send('POST', '/Basic/v/_history/2/$meta-delete', { resourceType: 'Parameters', parameter: [{ name: 'meta', valueMeta: { tag: [{ code: 'out' }] } }] }); // prettier-ignore
      const within = server.as('__admin.expunge system/Basic.d?_tag=in');
      expectRefusal(await within.send('DELETE', '/Basic/v/_history/1'), 404, 'not-found');
      // Nor with the others, in whatever way.
      expectRefusal(await within.send('DELETE', '/Basic/v/_history'), 403, 'scope-missing');
      expectRefusal(await call('/Basic/v', { expungePreviousVersions: true }, within), 403, 'scope-missing');
      expectRefusal(await call('/Basic/v', ALL, within), 403, 'scope-missing');
      const entry = { request: { method: 'DELETE', url: 'Basic/v/_history' } };
      expect(responsesOf(await within.send('POST', '/', batch(entry)))[0].status).toMatch(/^403/);
      expect((await send('GET', '/Basic/v/_history')).json().total).toBe(3);
      expect((await within.send('DELETE', '/Basic/v/_history/2')).status).toBe(200);
      await send('DELETE', '/Basic/v/_history/1');
      await send('PUT', '/Basic/v', tagged('in'));
      expect((await within.send('DELETE', '/Basic/v/_history')).status).toBe(200);
      expect((await send('GET', '/Basic/v/_history')).json().total).toBe(1);
    });

    it('a deleted resource is removed whole only where each of its versions lies within the constraint', async () => {
      const tagged = (id: string, code: string) => ({ resourceType: 'Basic', id, meta: { tag: [{ code }] }, code: { text: code } }); // prettier-ignore
      const within = server.as('__admin.expunge system/Basic.d?_tag=in');
      for (const [id, first] of [
        ['mixed', 'out'],
        ['whole', 'in'],
      ] as const) {
        // prettier-ignore
        await send('PUT', `/Basic/${id}`, tagged(id, first));
        await send('DELETE', `/Basic/${id}`);
        await send('PUT', `/Basic/${id}`, tagged(id, 'in'));
        await send('DELETE', `/Basic/${id}`);
      }
      expectRefusal(await call('/Basic/mixed', ALL, within), 403, 'scope-missing');
      expect((await send('GET', '/Basic/mixed/_history')).json().total).toBe(4);
      expect(countOf(await call('/Basic/whole', ALL, within))).toBe(4);
    });
  });

  describe('switched off, as it is by default', () => {
    const off = scopedServer(store);
    it('is 405 at every level where the token has the scope, and nowhere claimed', async () => {
      expect((await off.as('system/*.cruds').send('POST', '/$expunge', { resourceType: 'Parameters' })).status).toBe(
        403,
      );
      const paths = ['/$expunge', '/Basic/$expunge', '/Basic/a/$expunge', '/Basic/a/_history/1/$expunge'];
      for (const path of paths) {
        const answer = await off.all.send('POST', path, { resourceType: 'Parameters' });
        expect([answer.status, codeOf(answer)], path).toEqual([405, 'method-not-allowed']);
        expect(answer.text).toContain('admin.expunge');
      }
      for (const path of ['/Basic/a/_history', '/Basic/a/_history/1']) {
        expect((await off.all.send('DELETE', path)).status, path).toBe(405);
      }
      expect((await off.all.send('GET', '/metadata')).text).not.toContain('expunge');
      expect((await off.all.send('GET', '/Basic/a/_history')).json().total).toBe(3);
      expect(off.defects).toEqual([]);
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
