import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { word } from '../bundles/bundle-server.js';
import { codeOf, type Answer } from '../server.js';
import { EVERYTHING, LAB, observed, serveWith } from './support.js';

const PATCH = { 'content-type': 'application/json-patch+json' };
const TO = (code: string) => [{ op: 'replace', path: '/category/0/coding/0/code', value: code }];
const NOTE = [{ op: 'add', path: '/note', value: [{ text: 'more' }] }];

/** Writes of clients with scopes. */
export function writes(store: Store): void {
  const server = serveWith(store);
  const admin = server.as(EVERYTHING);
  const lab = server.as(`system/Observation.cruds?${LAB}`);
  const seed = async (category: Parameters<typeof observed>[0], more: object = {}): Promise<string> => {
    const id = word();
    const made = await admin.send('PUT', `/Observation/${id}`, observed(category, { id, ...more }));
    expect(made.status, made.text).toBe(201);
    return `/Observation/${id}`;
  };
  const at = (path: string, category: Parameters<typeof observed>[0], more: object = {}) =>
    observed(category, { id: path.slice('/Observation/'.length), ...more });
  const versionOf = async (path: string): Promise<string> =>
    (await admin.send('GET', path)).json().meta?.versionId ?? 'gone';
  const outcome = (answer: Answer): [number, string | undefined] => [
    answer.status,
    answer.status < 300 ? undefined : codeOf(answer),
  ];

  describe('a write within a constraint', () => {
    it('makes what lies within, and nothing else', async () => {
      expect(outcome(await lab.send('POST', '/Observation', observed('laboratory')))).toEqual([201, undefined]);
      const refused = await lab.send('POST', '/Observation', observed('vital-signs'));
      expect(outcome(refused)).toEqual([403, 'scope-missing']);
      expect(refused.headers['www-authenticate']).toContain('scope="system/Observation.c"');
      expect(refused.text).toContain(`outside of what the token gives (system/Observation.cruds?${LAB})`);
      expect(refused.text).toContain(`the constraint ${LAB} is not met; beyond that it needs: system/Observation.c`);
      const path = `/Observation/${word()}`;
      expect(outcome(await lab.send('PUT', path, at(path, 'vital-signs')))).toEqual([403, 'scope-missing']);
      expect((await admin.send('GET', path)).status).toBe(404);
      expect(outcome(await lab.send('PUT', path, at(path, 'laboratory')))).toEqual([201, undefined]);
    });

    it('creates by PUT with u alone', async () => {
      const path = `/Observation/${word()}`;
      expect((await server.as('system/Observation.u').send('PUT', path, at(path, 'laboratory'))).status).toBe(201);
    });

    it.each([
      ['PUT', at, {}],
      ['PATCH', () => NOTE, PATCH],
      ['DELETE', () => undefined, {}],
    ] as const)('%s knows nothing of what lies outside, preconditions or not', async (method, body, headers) => {
      const path = await seed('vital-signs');
      const conditions = [{}, { 'if-match': 'W/"7"' }, { 'if-match': 'W/"1"' }, { 'if-none-match': '*' }];
      for (const condition of conditions) {
        const answer = await lab.send(method, path, body(path, 'laboratory'), { ...headers, ...condition });
        expect(outcome(answer), JSON.stringify(condition)).toEqual([404, 'not-found']);
      }
      expect(await versionOf(path)).toBe('1');
      await admin.send('DELETE', path);
      expect(outcome(await lab.send(method, path, body(path, 'laboratory'), headers))).toEqual([404, 'not-found']);
    });

    it('a patch of what never was is answered as one of what lies outside', async () => {
      const path = `/Observation/${word()}`;
      for (const condition of [{}, { 'if-match': 'W/"7"' }]) {
        const answer = await lab.send('PATCH', path, NOTE, { ...PATCH, ...condition });
        expect(outcome(answer)).toEqual([404, 'not-found']);
      }
    });

    it('moves nothing out', async () => {
      const path = await seed('laboratory');
      expect(outcome(await lab.send('PUT', path, at(path, 'vital-signs')))).toEqual([403, 'scope-missing']);
      expect(outcome(await lab.send('PATCH', path, TO('vital-signs'), PATCH))).toEqual([403, 'scope-missing']);
      expect(await versionOf(path)).toBe('1');
    });

    it('changes, revives and deletes what lies within', async () => {
      const path = await seed('laboratory');
      expect((await lab.send('PATCH', path, NOTE, PATCH)).status).toBe(200);
      expect((await lab.send('DELETE', path)).status).toBe(200);
      expect((await lab.send('PUT', path, at(path, 'laboratory'))).status).toBe(201);
      // As of one that lies outside.
      expect((await lab.send('DELETE', `/Observation/${word()}`)).status).toBe(404);
      expect((await server.as('system/Observation.d').send('DELETE', `/Observation/${word()}`)).status).toBe(200);
    });

    it('keeps to the letter: what u may not touch is unknown, whatever else may be done', async () => {
      const path = await seed('vital-signs');
      const client = server.as(`system/Observation.rs system/Observation.u?${LAB}`);
      expect((await client.send('GET', path)).status).toBe(200);
      expect((await client.send('PUT', path, at(path, 'laboratory'))).status).toBe(404);
      expect((await client.send('DELETE', path)).status).toBe(403);
    });

    it('by criteria finds nothing outside', async () => {
      const value = word();
      await seed('vital-signs', { identifier: [{ value }] });
      const client = server.as(`system/Observation.s system/Observation.ud?${LAB}`);
      expect((await client.send('DELETE', `/Observation?identifier=${value}`)).status).toBe(404);
      expect((await client.send('PATCH', `/Observation?identifier=${value}`, NOTE, PATCH)).status).toBe(404);
      expect((await lab.send('PATCH', `/Observation?identifier=${value}`, NOTE, PATCH)).status).toBe(404);
    });
  });

  describe('the answer to a write', () => {
    it('of a patch shows what could be read', async () => {
      const path = await seed('laboratory');
      const shown = await server.as('system/Observation.ru').send('PATCH', path, NOTE, PATCH);
      expect(shown.json().resourceType).toBe('Observation');
      for (const prefer of [{}, { prefer: 'return=representation' }]) {
        const hidden = await server.as('system/Observation.us').send('PATCH', path, NOTE, { ...PATCH, ...prefer });
        expect([hidden.status, hidden.text]).toEqual([200, '']);
        expect(hidden.headers.etag).toBe('W/"2"');
      }
      const told = await server
        .as('system/Observation.u')
        .send('PATCH', path, TO('exam'), { ...PATCH, prefer: 'return=OperationOutcome' });
      expect(told.json().resourceType).toBe('OperationOutcome');
    });

    it('of a patch that fails quotes nothing to who may not read', async () => {
      const path = await seed('laboratory', { identifier: [{ value: 'a secret' }] });
      const quoting = [{ op: 'copy', from: '/identifier/0/value', path: '/issued' }];
      const told = await server.as('system/Observation.ru').send('PATCH', path, quoting, PATCH);
      expect([told.status, told.text.includes('a secret')]).toEqual([400, true]);
      const unread = ['system/Observation.us', `system/Observation.u system/Observation.s?${LAB}`];
      for (const client of unread.map((scope) => server.as(scope))) {
        const hidden = await client.send('PATCH', path, quoting, PATCH);
        expect([hidden.status, codeOf(hidden)]).toEqual([400, 'patch-target']);
        expect(hidden.text).not.toContain('secret');
        const request = { method: 'PATCH', url: path.slice(1) };
        const data = Buffer.from(JSON.stringify(quoting)).toString('base64');
        const resource = { resourceType: 'Binary', contentType: PATCH['content-type'], data };
        for (const type of ['batch', 'transaction']) {
          const bundle = { resourceType: 'Bundle', type, entry: [{ request, resource }] };
          const answer = await client.send('POST', '', bundle);
          expect(answer.text).toContain('patch-target');
          expect(answer.text).not.toContain('secret');
        }
      }
    });

    it('of an update is what was sent, without tags that were there', async () => {
      const path = await seed('laboratory', { meta: { tag: [{ code: 'secret' }] } });
      const client = server.as('system/Observation.u');
      const hidden = await client.send('PUT', path, at(path, 'laboratory', { note: [{ text: 'x' }] }));
      expect([hidden.status, hidden.text]).toEqual([200, '']);
      const same = await client.send('PUT', path, at(path, 'laboratory', { note: [{ text: 'x' }] }));
      expect([same.status, same.text]).toEqual([200, '']);
      const plain = await seed('laboratory');
      expect((await client.send('PUT', plain, at(plain, 'exam' as 'laboratory'))).json().resourceType).toBe(
        'Observation',
      );
    });

    it('of a conditional create that finds something needs s, and not the constraint of c', async () => {
      const value = word();
      await seed('vital-signs', { identifier: [{ value }] });
      const client = server.as(`system/Observation.c?${LAB} system/Observation.s`);
      const body = observed('laboratory', { identifier: [{ value }] });
      const found = await client.send('POST', '/Observation', body, { 'if-none-exist': `identifier=${value}` });
      expect([found.status, found.json().category[0].coding[0].code]).toEqual([200, 'vital-signs']);
    });
  });

  it('an AuditEvent may be added with c, and changed by who was given exactly that', async () => {
    const event = { resourceType: 'AuditEvent', code: { text: 'what' }, recorded: '2024-01-01T00:00:00Z', agent: [{ who: { display: 'who' } }], source: { observer: { display: 'where' } } }; // prettier-ignore
    const all = server.as('system/*.cruds');
    const made = await all.send('POST', '/AuditEvent', event);
    expect(made.status, made.text).toBe(201);
    const id = String(made.json().id);
    const wanted: readonly [method: string, path: string, body: unknown, headers: Record<string, string>, letters: string][] = [
      ['PUT', `/AuditEvent/${id}`, { ...event, id }, {}, 'u'],
      ['PUT', `/AuditEvent/${word()}`, event, {}, 'u'],
      ['PUT', `/AuditEvent?_id=${id}`, event, {}, 'us'],
      ['PATCH', `/AuditEvent/${id}`, [{ op: 'remove', path: '/code' }], PATCH, 'u'],
      ['PATCH', `/AuditEvent?_id=${id}`, [], PATCH, 'us'],
      ['DELETE', `/AuditEvent/${id}`, undefined, {}, 'd'],
      ['DELETE', `/AuditEvent?_id=${id}`, undefined, {}, 'ds'],
    ]; // prettier-ignore
    for (const [method, path, body, headers, letters] of wanted) {
      const refused = await all.send(method, path, body, headers);
      expect(outcome(refused), `${method} ${path}`).toEqual([403, 'scope-missing']);
      expect(refused.headers['www-authenticate']).toContain(`scope="system/AuditEvent.${letters}"`);
    }
    expect((await all.send('GET', `/AuditEvent/${id}`)).json().meta.versionId).toBe('1');
    expect((await server.as('system/AuditEvent.d').send('DELETE', `/AuditEvent/${id}`)).status).toBe(200);
  });
}
