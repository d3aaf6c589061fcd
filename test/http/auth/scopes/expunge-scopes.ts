import { describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import type { Answer } from '../../server.js';
import { scopedServer } from '../scoped.js';

const messageOf = (answer: Answer): string => answer.json().issue[0].diagnostics;

const FLAGS = ['expungeDeletedResources', 'expungePreviousVersions'];

/** What a token may remove for good: of each version its content tells, as far as that is there, and of a Binary its `securityContext`. */
export function expungeScopes(store: Store): void {
  const server = scopedServer(store, { allowsExpunge: true });
  const { all } = server;
  const give = async (resource: { resourceType: string; id: string }): Promise<void> => {
    const { status, text } = await all.send('PUT', `/${resource.resourceType}/${resource.id}`, resource);
    expect(status, text).toBeLessThan(300);
  };
  const remove = async (path: string): Promise<void> => {
    expect((await all.send('DELETE', path)).status).toBe(200);
  };
  const binary = (id: string, context?: string) => ({
    ...{ resourceType: 'Binary', id, contentType: 'text/plain', data: 'b25l' },
    ...(context !== undefined && { securityContext: { reference: context } }),
  });
  const patient = (id: string, city = 'in') => ({ resourceType: 'Patient', id, address: [{ city }] });
  const expunge = (scopes: string, path: string, limit?: number): Promise<Answer> => {
    const parameter = [
      ...FLAGS.map((name) => ({ name, valueBoolean: true })),
      ...(limit === undefined ? [] : [{ name: 'limit', valueInteger: limit }]),
    ];
    const body = { resourceType: 'Parameters', parameter };
    return server.as(`__admin.expunge ${scopes}`).send('POST', `${path}/$expunge`, body);
  };
  const countOf = (answer: Answer): number => {
    expect(answer.status, answer.text).toBe(200);
    return answer.json().parameter[0].valueInteger;
  };
  const versionsOf = async (path: string): Promise<number> =>
    (await store.history({ ...keyOf(path), count: 50 })).total!;
  const keyOf = (path: string) => {
    const [type = '', id = ''] = path.slice(1).split('/');
    return { type, id };
  };

  describe('Binaries by their type', () => {
    it('stay where the token may not read what their securityContext could name', async () => {
      await give(patient('secret'));
      await give(binary('guarded', 'Patient/secret'));
      await remove('/Binary/guarded');
      for (const scopes of ['system/Binary.cruds', 'system/Binary.cruds system/Patient.rs?address-city=out']) {
        const answer = await expunge(scopes, '/Binary');
        expect(answer.status, answer.text).toBe(403);
        expect(messageOf(answer)).toContain('securityContext');
        expect(answer.headers['www-authenticate']).toContain('scope="system/*.r system/Binary.d"');
        expect((await expunge(scopes, '/Binary/guarded')).status).toBe(404);
      }
      expect(await versionsOf('/Binary/guarded')).toBe(2);
      expect(countOf(await expunge('system/Binary.d system/*.r', '/Binary'))).toBeGreaterThanOrEqual(2);
      expect(await versionsOf('/Binary/guarded')).toBe(0);
    });
  });

  describe('a token with all rights removes', () => {
    const ALL = 'system/*.cruds';

    it('versions whose securityContext is deleted', async () => {
      await give(patient('left'));
      await give(patient('left2'));
      for (const context of ['Patient/left', 'Patient/left2', undefined]) await give(binary('freed', context));
      for (const id of ['left', 'left2']) await remove(`/Patient/${id}`);
      expect((await expunge('system/Binary.d', '/Binary/freed')).status).toBe(403);
      const one = await server.as(`__admin.expunge ${ALL}`).send('DELETE', '/Binary/freed/_history/1');
      expect(one.status, one.text).toBe(200);
      const others = await server.as(`__admin.expunge ${ALL}`).send('DELETE', '/Binary/freed/_history');
      expect(others.status, others.text).toBe(200);
      expect(await versionsOf('/Binary/freed')).toBe(1);
    });

    it('the same with all rights on the types alone that are concerned, and with a constraint on one of them not', async () => {
      await give(patient('once'));
      for (const context of ['Patient/once', undefined]) await give(binary('lone', context));
      await remove('/Patient/once');
      const narrow = await expunge('system/Binary.d system/Patient.r?address-city=in', '/Binary/lone');
      expect(narrow.status, narrow.text).toBe(403);
      expect(countOf(await expunge('system/Binary.d system/Patient.r', '/Binary/lone'))).toBe(1);
    });

    it('a Binary that was deleted after its securityContext, as by its type', async () => {
      await give(patient('gone'));
      await give(binary('after', 'Patient/gone'));
      await remove('/Binary/after');
      await remove('/Patient/gone');
      expect((await expunge('system/Binary.d', '/Binary/after')).status).toBe(404);
      expect(countOf(await expunge(ALL, '/Binary/after'))).toBe(2);
    });

    it.each(['Binary', 'Basic'])('a deletion of a %s whose version before is gone', async (type) => {
      const resource = type === 'Binary' ? binary('bare') : { resourceType: type, id: 'bare', code: { text: 'x' } };
      await give(resource);
      await remove(`/${type}/bare`);
      await give(resource);
      await remove(`/${type}/bare/_history/1`);
      const history = await server.as(`__admin.expunge ${ALL}`).send('DELETE', `/${type}/bare/_history`);
      expect(history.status, history.text).toBe(200);
      await remove(`/${type}/bare`);
      await remove(`/${type}/bare/_history/3`);
      expect(countOf(await expunge(ALL, `/${type}/bare`))).toBe(1);
    });
  });

  describe('a token with a constraint', () => {
    const WITHIN = 'system/Patient.d?address-city=in';

    it('goes on, version by version, until nothing is left', async () => {
      for (const id of ['short', 'long']) {
        await give(patient(id));
        if (id === 'long') await give({ ...patient(id), active: true } as never);
        await remove(`/Patient/${id}`);
        for (let left = await versionsOf(`/Patient/${id}`); left > 0; left--) {
          expect(countOf(await expunge(WITHIN, `/Patient/${id}`, 1)), `${id}, ${left} left`).toBe(1);
        }
        expect((await expunge(WITHIN, `/Patient/${id}`, 1)).status).toBe(404);
      }
    });

    it('removes a deletion without other versions, along with what the constraint allows', async () => {
      await give(patient('again'));
      await remove('/Patient/again');
      await give(patient('again'));
      await remove('/Patient/again/_history/1');
      const answer = await server.as(`__admin.expunge ${WITHIN}`).send('DELETE', '/Patient/again/_history/2');
      expect(answer.status, answer.text).toBe(200);
    });

    it('is judged on the versions that have content, and told which constraint was not met', async () => {
      await give(patient('moved', 'out'));
      await give(patient('moved'));
      const refused = await expunge(WITHIN, '/Patient/moved');
      expect(refused.status, refused.text).toBe(403);
      expect(messageOf(refused)).toContain(`(${WITHIN})`);
      expect(messageOf(refused)).toContain('the constraint address-city=in is not met');
      await remove('/Patient/moved');
      // What is left of it lies outside.
      await remove('/Patient/moved/_history/2');
      expect((await expunge(WITHIN, '/Patient/moved')).status).toBe(404);
      expect(await versionsOf('/Patient/moved')).toBe(2);
      const ofType = await expunge(WITHIN, '/Patient');
      expect(ofType.status).toBe(403);
      expect(messageOf(ofType)).toContain(`(${WITHIN})`);
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
