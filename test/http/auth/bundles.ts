import { describe, expect, it } from 'vitest';

import { Principal } from '../../../runtime/auth/scopes/principal.js';
import type { Store } from '../../../runtime/store/store.js';
import {
  batch,
  entry,
  patient,
  responsesOf,
  statusesOf,
  transaction,
  urn,
  word,
  type TestEntry,
} from '../bundles/bundle-server.js';
import { codeOf } from '../server.js';
import { EVERYTHING, LAB, observed, serveWith } from './support.js';

/** Bundles of clients with scopes. */
export function bundles(store: Store): void {
  const server = serveWith(store);
  const admin = server.as(EVERYTHING);
  const countOf = async (value: string): Promise<number> =>
    (await admin.send('GET', `/Patient?identifier=${value}&_summary=count`)).json().total;

  describe('a batch', () => {
    it('does what may be done, and refuses the rest in its place', async () => {
      const value = word();
      const answer = await server
        .as('system/Patient.cs')
        .send(
          'POST',
          '/',
          batch(
            entry('POST', 'Patient', patient(value)),
            entry('POST', 'Basic', { resourceType: 'Basic', code: { text: 'x' } }),
            entry('GET', 'Patient/none'),
            entry('GET', 'metadata'),
            entry('GET', 'Nonsense/1'),
            entry('GET', '_history'),
            entry('PUT', 'AuditEvent/1', { resourceType: 'AuditEvent', id: '1' }),
          ),
        );
      expect(statusesOf(answer).map((status) => status.slice(0, 3))).toEqual(
        ['201', '403', '403', '200', '404', '200', '403'], // prettier-ignore
      );
      const [, refused] = responsesOf(answer);
      expect(refused.outcome.issue[0].details.coding[0].code).toBe('scope-missing');
      expect(refused.outcome.issue[0].details.text).toContain('system/Basic.c');
      expect(await countOf(value)).toBe(1);
    });

    it('needs no scope by itself, but a token', async () => {
      const open = batch(entry('GET', 'metadata'));
      expect((await server.as('').send('POST', '/', open)).status).toBe(200);
      expect((await server.send('POST', '/', open)).status).toBe(401);
    });

    it('stays within constraints', async () => {
      const id = word();
      await admin.send('PUT', `/Observation/${id}`, observed('vital-signs', { id }));
      const answer = await server
        .as(`system/Observation.cruds?${LAB}`)
        .send(
          'POST',
          '/',
          batch(
            entry('GET', `Observation/${id}`),
            entry('DELETE', `Observation/${id}`),
            entry('POST', 'Observation', observed('vital-signs')),
            entry('POST', 'Observation', observed('laboratory')),
          ),
        );
      expect(
        statusesOf(answer)
          .map((status) => status.slice(0, 3))
          .sort(),
      ).toEqual(['201', '403', '404', '404']);
    });
  });

  describe('a transaction', () => {
    it('is refused as a whole, naming all that is missing, and does nothing', async () => {
      const value = word();
      const answer = await server
        .as('system/Patient.c')
        .send(
          'POST',
          '/',
          transaction(
            entry('POST', 'Patient', patient(value)),
            entry('GET', 'Basic/1'),
            entry('PUT', 'Observation/x', observed('laboratory', { id: 'x' })),
            entry('POST', 'Patient', patient(value), { request: { ifNoneExist: 'identifier=x' } }),
          ),
        );
      expect([answer.status, codeOf(answer)]).toEqual([403, 'scope-missing']);
      expect(answer.headers['www-authenticate']).toContain(
        'scope="system/Basic.r system/Observation.u system/Patient.cs"',
      );
      expect(answer.json().issue.map((each: { expression: string[] }) => each.expression[0])).toEqual([
        'Bundle.entry[1]',
        'Bundle.entry[2]',
        'Bundle.entry[3]',
      ]);
      expect(await countOf(value)).toBe(0);
    });

    it('is judged before anything of it is looked up', async () => {
      const asked: string[] = [];
      const watched = new Proxy(store, {
        get(target, name) {
          if (['read', 'readMany', 'readVersion', 'find', 'write'].includes(String(name))) asked.push(String(name));
          const own: unknown = Reflect.get(target, name);
          return typeof own === 'function' ? (own.bind(target) as unknown) : own;
        },
      });
      const { execute } = await import('../../../runtime/interactions/execute.js');
      const { createServices } = await import('../../../runtime/http/create-services.js');
      const { tables } = await import('../../../generated/tables.js');
      const { accessOf } = await import('../../unit/auth/scopes-setup.js');
      const { services } = createServices({ tables, store: watched, extract: () => [] });
      const access = accessOf('system/Patient.cruds');
      const body = transaction(
        entry('PUT', 'Patient?identifier=1', patient('1')),
        entry('DELETE', 'Patient/1'),
        entry('POST', 'Binary', { resourceType: 'Binary', contentType: 'text/plain', data: 'eA==' }),
      );
      const call = {
        ...{ interaction: 'bundle' as const, params: new URLSearchParams(), conditions: {}, prefer: {}, base: '' },
        ...{ principal: Principal.ofClient({ clientId: '', scope: '', access }), body: body as never },
      };
      await expect(execute(call, services)).rejects.toMatchObject({ code: 'scope-missing' });
      expect(asked).toEqual([]);
    });

    it('needs s on the types that its conditional references search', async () => {
      const value = word();
      await admin.send('POST', '/Patient', patient(value));
      const referring = observed('laboratory', { subject: { reference: `Patient?identifier=${value}` } });
      const bundle = transaction(entry('POST', 'Observation', referring));
      const refused = await server.as('system/Observation.c').send('POST', '/', bundle);
      expect(refused.status).toBe(403);
      expect(refused.headers['www-authenticate']).toContain('scope="system/Observation.c system/Patient.s"');
      const done = await server.as('system/Observation.c system/Patient.s').send('POST', '/', bundle);
      expect(done.status, done.text).toBe(200);
      const narrow = await server
        .as('system/Observation.c system/Patient.s?identifier=other')
        .send('POST', '/', bundle);
      expect([narrow.status, codeOf(narrow)]).toEqual([404, 'not-found']);
    });

    it('writes within constraints, or not at all', async () => {
      const [outside, value] = [word(), word()];
      await admin.send('PUT', `/Observation/${outside}`, observed('vital-signs', { id: outside }));
      const client = server.as(`system/Observation.cruds?${LAB} system/Patient.cruds`);
      const send = (...entries: TestEntry[]) =>
        client.send('POST', '/', transaction(entry('POST', 'Patient', patient(value)), ...entries));
      for (const [status, each] of [
        [404, entry('PUT', `Observation/${outside}`, observed('laboratory', { id: outside }))],
        [404, entry('DELETE', `Observation/${outside}`)],
        [404, entry('GET', `Observation/${outside}`)],
        [403, entry('POST', 'Observation', observed('vital-signs'))],
        [404, entry('DELETE', `Observation/${outside}`, undefined, { request: { ifMatch: 'W/"7"' } })],
      ] as const) {
        expect((await send(each)).status, JSON.stringify(each)).toBe(status);
      }
      expect(await countOf(value)).toBe(0);
    });

    it('reads what it writes, within constraints', async () => {
      const [id, name] = [word(), urn()];
      const client = server.as(`system/Observation.crus?${LAB} system/Patient.c`);
      const answer = await client.send(
        'POST',
        '/',
        transaction(
          entry('POST', 'Patient', patient(id), { fullUrl: name }),
          entry('PUT', `Observation/${id}`, observed('laboratory', { id, subject: { reference: name } })),
          entry('GET', `Observation/${id}`),
          entry('GET', `Observation/${id}/_history`),
        ),
      );
      expect(answer.status, answer.text).toBe(200);
      expect(statusesOf(answer).map((status) => status.slice(0, 3))).toEqual(['201', '201', '200', '200']);
    });
  });
}
