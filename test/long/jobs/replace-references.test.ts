import { afterAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import type { Store } from '../../../runtime/store/store.js';
import { extract } from '../../bench/data/load-clinic.js';
import { openStore } from '../../contract/open-store.js';
import { replacementParameters } from '../../http/operations/replacement-support.js';
import { mongodUrl, newDatabase } from '../../mongod/for-tests.js';

const REFERRERS = 2000;
const HEADERS = { 'content-type': 'application/fhir+json' };

const stores: [string, Store][] = [['SQLite', await openStore('sqlite::memory:')]];
if (mongodUrl() !== undefined) stores.push(['MongoDB', await openStore(newDatabase())]);

describe.each(stores)('replacement over 2,000 referrers on %s', (_, store) => {
  afterAll(() => store.close());

  it('and its undo: the content is what it was', async () => {
    const server = await listen(createApp({ tables, store, extract }), '127.0.0.1', 0);
    const base = `${server.url}/fhir`;
    const post = async (path: string, body: object): Promise<Response> =>
      fetch(`${base}${path}`, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) });
    try {
      const put = (resource: { resourceType: string; id: string }) => ({
        resource,
        request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
      });
      const resources = Array.from({ length: REFERRERS }, (_, n) => ({
        ...{ resourceType: 'Observation', id: `o${n}`, status: 'final', code: { text: `x ${n}` } },
        ...{ subject: { reference: 'Patient/a' }, performer: [{ reference: 'Patient/a' }, { reference: 'Patient/b' }] },
      }));
      const patients = ['a', 'b'].map((id) => ({ resourceType: 'Patient', id }));
      const entry = [...patients, ...resources].map(put);
      expect((await post('', { resourceType: 'Bundle', type: 'transaction', entry })).status).toBe(200);
      const before = await contents(store);

      const limited = await post('/$svc.fhir.replace-references', replacementParameters('Patient/a', 'Patient/b'));
      expect(limited.status).toBe(412);
      const more = { 'resource-limit': REFERRERS };
      const begun = performance.now();
      const replaced = await post('/$svc.fhir.replace-references', replacementParameters('Patient/a', 'Patient/b', more)); // prettier-ignore
      expect(replaced.status).toBe(200);
      const { parameter } = (await replaced.json()) as { parameter: [{ resource: { entry: unknown[] } }] };
      expect(parameter[0].resource.entry).toHaveLength(REFERRERS);
      const between = performance.now();
      expect(JSON.stringify(await contents(store))).not.toContain('Patient/a"');
      const undone = await post('/$svc.fhir.undo-replace-references', replacementParameters('Patient/a', 'Patient/b'));
      expect(undone.status).toBe(200);
      console.log(`replaced in ${Math.round(between - begun)} ms, undone in ${Math.round(performance.now() - between)} ms`); // prettier-ignore
      expect(await contents(store)).toEqual(before);
    } finally {
      await server.close(0);
    }
  });
});

/** Every Observation without version and time, by id. */
async function contents(store: Store): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (let after: string | undefined; ;) {
    const query = { type: 'Observation', where: { all: [] }, sort: [], count: 500, total: 'none' } as const;
    const page = await store.find(after === undefined ? query : { ...query, after });
    for (const { id, json = '' } of page.versions) {
      const { meta: _meta, ...rest } = JSON.parse(json) as Record<string, unknown>;
      all[id] = rest;
    }
    after = page.next;
    if (after === undefined) return all;
  }
}
