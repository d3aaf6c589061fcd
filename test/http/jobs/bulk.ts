import { beforeEach, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createPatchers } from '../../../runtime/patch/apply/patchers.js';
import { BULK } from '../../../runtime/jobs/bulk/bulk-input.js';
import type { JobKind } from '../../../runtime/jobs/engine/job-kind.js';
import { JOB_KINDS } from '../../../runtime/jobs/kinds.js';
import type { Store } from '../../../runtime/store/store.js';
import { neededBy } from '../auth/scoped.js';
import { LAB, observed } from '../auth/support.js';
import { expectRefusal, patient, word } from '../write-server.js';
import { ASYNC, jobsServer } from './jobs-server.js';

const FULL = 'system/*.cruds';

const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });
const url = (text: string) => ({ name: 'url', valueString: text });
const DRY = { name: 'dryRun', valueBoolean: true };

/** A FHIRPath Patch that sets an element. */
const setting = (type: string, name: string, value: object) => ({
  name: 'patch',
  resource: parameters({
    name: 'operation',
    part: [
      { name: 'type', valueCode: 'add' },
      { name: 'path', valueString: type },
      { name: 'name', valueString: name },
      { name: 'value', ...value },
    ],
  }),
});

/** Deletions and patches of what searches find, on any store. */
export function bulkChanges(store: Store): void {
  /** After so many writes the process dies. */
  let deadline = Infinity;
  const kinds = JOB_KINDS.map((kind): JobKind => {
    if (kind.type !== BULK.delete && kind.type !== BULK.patch && kind.type !== BULK.undo) return kind;
    return {
      ...kind,
      chunk(context) {
        const { services } = context;
        const watched = Object.assign(Object.create(services.store) as Store, {
          async write(...args: Parameters<Store['write']>) {
            const versions = await services.store.write(...args);
            if (--deadline === 0) throw new Error('killed');
            return versions;
          },
        });
        return kind.chunk({ ...context, services: { ...services, store: watched } });
      },
    };
  });
  const server = jobsServer(store, { patchers: createPatchers(tables) }, { kinds });
  const { all } = server;
  const client = (scopes = FULL) => server.as(scopes, 'changing');
  const below = (location: unknown): string => String(location).replace(/^.*?\/fhir/, '');
  let value: string;

  beforeEach(async () => {
    deadline = Infinity;
    value = word();
    const entry = Array.from({ length: 250 }, (_, n) => ({ request: { method: 'PUT', url: `Patient/${value}-${n}` }, resource: patient(value, { id: `${value}-${n}` }) })); // prettier-ignore
    const other = { request: { method: 'PUT', url: `Patient/${value}-other` }, resource: patient(word(), { id: `${value}-other` }) }; // prettier-ignore
    const done = await all.send('POST', '/', { resourceType: 'Bundle', type: 'batch', entry: [...entry, other] });
    expect(done.status, done.text).toBe(200);
  });

  async function start(operation: string, body: object, who = client()): Promise<string> {
    const answer = await who.send('POST', `/$${operation}`, body, ASYNC);
    expect(answer.status, answer.text).toBe(202);
    return below(answer.headers['content-location']);
  }

  /** What the job tells at its end, by name. */
  async function told(status: string, who = client()): Promise<Record<string, unknown>> {
    const answer = await who.send('GET', status);
    expect(answer.status, answer.text).toBe(200);
    const { resource, response } = answer.json().entry[0];
    expect(response.status, answer.text).toBe('200 OK');
    const found = resource.parameter as { name: string; valueInteger?: number; resource?: { issue: { diagnostics: string }[] } }[]; // prettier-ignore
    return Object.fromEntries(found.map((each) => [each.name, each.valueInteger ?? each.resource?.issue.map(({ diagnostics }) => diagnostics)])); // prettier-ignore
  }
  const total = async (query: string): Promise<number> => (await all.send('GET', `/Patient?${query}&_summary=count`)).json().total; // prettier-ignore
  const found = () => url(`Patient?identifier=${value}`);

  it('tell first how many it would be, and change nothing then', async () => {
    for (const body of [
      parameters(found(), DRY),
      parameters(found(), setting('Patient', 'active', { valueBoolean: true }), DRY),
    ]) {
      const answer = await client().send('POST', body.parameter.length === 2 ? '/$bulk-delete' : '/$bulk-patch', body);
      expect([answer.status, answer.json().parameter]).toEqual([200, [{ name: 'total', valueInteger: 250 }]]);
    }
    await server.finish();
    expect(await total(`identifier=${value}`)).toBe(250);
  });

  it('delete exactly what is found; undone, all is as before', async () => {
    const status = await start('bulk-delete', parameters(found()));
    const late = await all.send('POST', '/Patient', patient(value));
    expect((await client().send('GET', status)).headers['x-progress']).toBeDefined();
    await server.finish();
    expect(await told(status)).toEqual({ deleted: 250, skipped: 0, failed: 0 });
    // What came after the request stays, and so does what is not found.
    expect(await total(`identifier=${value}`)).toBe(1);
    expect((await all.send('GET', `/Patient/${value}-other`)).status).toBe(200);
    expect(late.status).toBe(201);
    await all.send('PUT', `/Patient/${value}-7`, patient(word(), { id: `${value}-7` }));
    const [, id] = status.split('=');
    const undo = await start('bulk-undo', parameters({ name: '_jobId', valueString: id }));
    await server.finish();
    expect(await told(undo)).toEqual({ restored: 249, skipped: 1, failed: 0 });
    expect(await total(`identifier=${value}`)).toBe(250);
    expect((await all.send('GET', `/Patient/${value}-3`)).json().meta.versionId).toBe('3');
  });

  it('patch exactly what is found, once; undone, all is as before', async () => {
    const status = await start('bulk-patch', parameters(found(), setting('Patient', 'active', { valueBoolean: true })));
    await server.finish();
    expect(await told(status)).toEqual({ patched: 250, skipped: 0, failed: 0 });
    expect(await total(`identifier=${value}&active=true`)).toBe(250);
    expect((await all.send('GET', `/Patient/${value}-other`)).json().active).toBeUndefined();
    const undo = await start('bulk-undo', parameters({ name: '_jobId', valueString: status.split('=')[1] }));
    await server.finish();
    expect(await told(undo)).toEqual({ restored: 250, skipped: 0, failed: 0 });
    expect(await total(`identifier=${value}&active=true`)).toBe(0);
  });

  it.each([
    ['bulk-delete', 'deleted'],
    ['bulk-patch', 'patched'],
  ])('%s does nothing twice when its process dies', async (operation, name) => {
    const patch = operation === 'bulk-patch' ? [setting('Patient', 'active', { valueBoolean: true })] : [];
    const status = await start(operation, parameters(found(), ...patch));
    deadline = 40;
    await expect(server.finish()).rejects.toThrow('killed');
    await server.finish();
    expect(await told(status)).toEqual({ [name]: 250, skipped: 0, failed: 0 });
    const history = await all.send('GET', `/Patient/_history?_count=1000`);
    const versions = (history.json().entry as { fullUrl: string; response: { etag: string } }[])
      .filter(({ fullUrl }) => fullUrl.includes(value) && !fullUrl.endsWith('other'))
      .map(({ response }) => response.etag);
    expect([versions.length, [...new Set(versions)].sort()]).toEqual([500, ['W/"1"', 'W/"2"']]);
    expect([...(await store.maps.entries('job-ledger')).keys()]).toEqual([]);
  });

  it('name what is refused, and go on', async () => {
    const invalid = setting('Patient', 'wings', { valueBoolean: true });
    const status = await start('bulk-patch', parameters(url(`Patient?_id=${value}-1,${value}-2`), invalid));
    await server.finish();
    const { patched, failed, issues } = await told(status);
    expect([patched, failed]).toEqual([0, 2]);
    expect(issues).toEqual([expect.stringMatching(`^Patient/${value}-[12]: `), expect.stringMatching('wings')]);
  });

  describe('are for clients', () => {
    it('that may do all of it, and within their constraints', async () => {
      const send = (scopes: string) => client(scopes).send('POST', '/$bulk-delete', parameters(found()), ASYNC);
      expect(neededBy(await send('system/Patient.rs'))).toBe('system/Patient.ds');
      expect(neededBy(await send('system/Patient.d'))).toBe('system/Patient.ds');
      const lab = `system/Observation.cruds?${LAB}`;
      const ids: string[] = [];
      for (const category of ['laboratory', 'vital-signs'] as const)
        ids.push((await all.send('POST', '/Observation', observed(category, { identifier: [{ value }] }))).json().id);
      const status = await start('bulk-delete', parameters(url(`Observation?identifier=${value}`)), client(lab));
      await server.finish();
      expect(await told(status, client(lab))).toEqual({ deleted: 1, skipped: 0, failed: 0 });
      expect((await all.send('GET', `/Observation/${ids[0]}`)).status).toBe(410);
      expect((await all.send('GET', `/Observation/${ids[1]}`)).status).toBe(200);
    });

    it('that started them', async () => {
      const status = await start('bulk-delete', parameters(url('Patient?_id=none')));
      await server.finish();
      const other = server.as(FULL, 'other');
      expectRefusal(await other.send('GET', status), 404, 'job-unknown');
      const undo = parameters({ name: '_jobId', valueString: status.split('=')[1] });
      expectRefusal(await other.send('POST', '/$bulk-undo', undo, ASYNC), 404, 'job-unknown');
      expect((await client().send('DELETE', status)).status).toBe(202);
      expectRefusal(await client().send('POST', '/$bulk-undo', undo, ASYNC), 404, 'job-unknown');
    });
  });

  it('are refused without the wish for an answer later, without a search, and for what is none', async () => {
    expectRefusal(await client().send('POST', '/$bulk-delete', parameters(found())), 400, 'async-only');
    for (const body of [
      parameters(),
      parameters(url('Patient')),
      parameters(url('Patient?nope=1')),
      parameters(url('Patient?_count=1')),
    ])
      expect((await client().send('POST', '/$bulk-delete', body, ASYNC)).status).toBe(400);
    expect((await client().send('POST', '/$bulk-patch', parameters(found()), ASYNC)).status).toBe(400);
  });
}
