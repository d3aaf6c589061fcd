import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { word } from '../bundles/bundle-server.js';
import { EVERYTHING, LAB, observed, serveWith } from './support.js';

/** Binaries of clients with scopes: who sees them is decided by what their `securityContext` names. */
export function binaries(store: Store): void {
  const server = serveWith(store);
  const admin = server.as(EVERYTHING);
  const names = { lab: word(), vital: word(), gone: word() };
  const contexts = {
    free: undefined,
    lab: `Observation/${names.lab}`,
    vital: `Observation/${names.vital}`,
    gone: `Observation/${names.gone}`,
    never: `Observation/${word()}`,
    foreign: `http://elsewhere.example/fhir/Observation/${names.lab}`,
  };
  const ids: Record<string, string> = {};
  const write = (id: string, context: string | undefined, text = 'secret') =>
    admin.send('PUT', `/Binary/${id}`, text, {
      'content-type': 'text/plain',
      ...(context === undefined ? {} : { 'x-security-context': context }),
    });

  beforeAll(async () => {
    for (const name of ['lab', 'vital', 'gone'] as const) {
      const category = name === 'lab' ? 'laboratory' : 'vital-signs';
      await admin.send('PUT', `/Observation/${names[name]}`, observed(category, { id: names[name] }));
    }
    await admin.send('DELETE', `/Observation/${names.gone}`);
    for (const [name, context] of Object.entries(contexts)) {
      ids[name] = word();
      expect((await write(ids[name], context)).status).toBe(201);
    }
    ids['nested'] = word();
    await write(ids['nested'], `Binary/${ids['vital']}`);
  });

  it.each([
    ['system/Binary.r', ['free']],
    ['system/Binary.r system/Observation.r', ['free', 'lab', 'vital', 'nested']],
    ['system/Binary.r system/Observation.s', ['free']],
    [`system/Binary.r system/Observation.r?${LAB}`, ['free', 'lab']],
    [EVERYTHING, ['free', 'lab', 'vital', 'nested']],
  ])('%s sees %j', async (scopes, seen) => {
    for (const [name, id] of Object.entries(ids)) {
      const status = seen.includes(name) ? 200 : 404;
      for (const path of [`/Binary/${id}`, `/Binary/${id}/_history/1`, `/Binary/${id}/_history`]) {
        for (const accept of ['*/*', 'application/fhir+json']) {
          const answer = await server.as(scopes).send('GET', path, undefined, { accept });
          expect(answer.status, `${name} ${path} ${accept}`).toBe(status);
        }
      }
    }
  });

  it('leaves hidden ones out of histories, and of their totals', async () => {
    const answer = await server.as('system/Binary.rs').send('GET', '/Binary/_history');
    const shown: string[] = answer.json().entry.map((each: { fullUrl: string }) => each.fullUrl.replace(/.*\//, ''));
    expect(shown).toContain(ids['free']);
    expect(shown.filter((id) => id !== ids['free'] && Object.values(ids).includes(id))).toEqual([]);
    expect(answer.json().total).toBe(shown.length);
  });

  describe('a write', () => {
    it.each([
      ['PUT', 'new', 'text/plain'],
      ['PATCH', [{ op: 'remove', path: '/data' }], 'application/json-patch+json'],
      ['DELETE', undefined, 'text/plain'],
    ])('%s knows nothing of hidden ones', async (method, body, type) => {
      const client = server.as('system/Binary.cruds');
      for (const condition of [{}, { 'if-match': 'W/"9"' }]) {
        const headers = { 'content-type': type, ...condition };
        expect((await client.send(method, `/Binary/${ids['vital']}`, body, headers)).status).toBe(404);
      }
      expect((await admin.send('GET', `/Binary/${ids['vital']}`)).text).toBe('secret');
    });

    describe('by criteria finds those that the token may read, as a search does', () => {
      const client = () => server.as(`system/Binary.cruds system/Observation.r?${LAB}`);
      const json = { 'content-type': 'application/fhir+json' };
      const patch = [{ op: 'replace', path: '/contentType', value: 'text/x-patched' }];
      const forms = {
        PATCH: (id: string) => client().send('PATCH', `/Binary?_id=${id}`, patch, { 'content-type': 'application/json-patch+json' }), // prettier-ignore
        PUT: (id: string, context?: string) => {
          const securityContext = context === undefined ? undefined : { reference: context };
          return client().send('PUT', `/Binary?_id=${id}`, { resourceType: 'Binary', contentType: 'text/plain', data: 'eA==', securityContext }, json); // prettier-ignore
        },
        'If-None-Exist': (id: string) =>
          client().send('POST', '/Binary', { resourceType: 'Binary', contentType: 'text/x-new' }, { ...json, 'if-none-exist': `_id=${id}` }), // prettier-ignore
        DELETE: (id: string) => client().send('DELETE', `/Binary?_id=${id}`),
      };

      it.each([
        ['PATCH', 200, 404],
        ['PUT', 200, 201],
        ['If-None-Exist', 200, 201],
        ['DELETE', 200, 200],
      ] as const)('%s: %i, hidden ones are none: %i', async (method, found, none) => {
        const [seen, hidden, free] = [word(), word(), word()];
        await write(seen, contexts.lab);
        await write(hidden, contexts.vital);
        await write(free, undefined);
        const searched = await client().send('GET', `/Binary?_id=${seen},${hidden},${free}`);
        expect(searched.json().entry).toHaveLength(2);
        expect((await forms[method](seen, contexts.lab)).status).toBe(found);
        expect((await forms[method](free)).status).toBe(found);
        const missed = await forms[method](hidden);
        expect(missed.status, missed.text).toBe(none);
        expect((await admin.send('GET', `/Binary/${hidden}`)).text).toBe('secret');
        const left = (await admin.send('GET', `/Binary/${seen}`)).status;
        expect(left).toBe(method === 'DELETE' ? 410 : 200);
      });
    });

    it('that names a context which is not there yet hides it from all, until somebody makes that', async () => {
      const [id, context] = [word(), word()];
      await write(id, `Observation/${context}`);
      const lab = server.as(`system/Binary.crud system/Observation.crud?${LAB}`);
      for (const client of [admin, lab]) {
        expect((await client.send('GET', `/Binary/${id}`)).status).toBe(404);
        expect((await client.send('DELETE', `/Binary/${id}`)).status).toBe(404);
      }
      expect((await lab.send('PUT', `/Observation/${context}`, observed('laboratory', { id: context }))).status).toBe(201); // prettier-ignore
      expect((await lab.send('GET', `/Binary/${id}`)).text).toBe('secret');
    });

    it('of a context that was deleted is for who could see that', async () => {
      const id = word();
      await write(id, contexts.gone);
      const lab = server.as(`system/Binary.crud system/Observation.crud?${LAB}`);
      const anew = observed('laboratory', { id: names.gone });
      expect((await lab.send('PUT', `/${contexts.gone}`, anew)).status).toBe(404);
      expect((await lab.send('GET', `/Binary/${id}`)).status).toBe(404);
    });

    it('may name a context, and then needs it to read', async () => {
      const id = word();
      const client = server.as('system/Binary.cru');
      const headers = { 'content-type': 'text/plain', 'x-security-context': contexts.lab };
      expect((await client.send('PUT', `/Binary/${id}`, 'x', headers)).status).toBe(201);
      expect((await client.send('GET', `/Binary/${id}`)).status).toBe(404);
      const reader = server.as('system/Binary.r system/Observation.r');
      expect((await reader.send('GET', `/Binary/${id}`)).headers['x-security-context']).toBe(contexts.lab);
    });
  });
}
