import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { NONE_NEEDED } from '../../../runtime/auth/access/needed-scopes.js';
import { SERVER } from '../../../runtime/auth/scopes/principal.js';
import { openBodyWorkers, type BodyWorkers } from '../../../runtime/body-workers/body-workers.js';
import { startBodyWorker } from '../../../runtime/body-workers/start-thread.js';
import type { Store } from '../../../runtime/store/store.js';
import { neededBy } from '../auth/scoped.js';
import { putAll, type Sendable } from '../search-server.js';
import { expectRefusal } from '../write-server.js';
import { jobsServer } from './jobs-server.js';

const ADMIN = '__admin.reindex';

const THREAD = {
  zone: 'UTC',
  own: [],
  validation: 'full',
  limits: { nesting: 100, entries: 50, resource: 2 ** 24 },
} as const;

/** `$reindex` and what belongs to it, on any store */
export function reindexing(store: Store): void {
  /** Names of parameters whose entries other definitions made. */
  const stale: string[] = [];
  /** How often a thread made the entries of a resource. */
  let extracted = 0;
  const threads = openBodyWorkers(() => startBodyWorker(THREAD, 512), { body: 20 * 2 ** 20, threads: 1, idle: 200 });
  const large: BodyWorkers = {
    ...threads,
    parse(json, depth, purpose) {
      if (purpose === 'extract') extracted++;
      return threads.parse(json, depth, purpose);
    },
  };
  afterAll(() => threads.close());
  const server = jobsServer(store, { large, indexStatus: { notCurrent: () => Promise.resolve(stale) } });
  const { all } = server;
  /** Counts are shown to who may search. */
  const admin = server.as(`${ADMIN} system/*.s`, 'admin');
  const parameters = (...parameter: object[]) => ({
    resourceType: 'Parameters',
    ...(parameter.length > 0 && { parameter }),
  });
  const post = (path: string, ...parameter: object[]) => admin.send('POST', path, parameters(...parameter));

  async function start(...parameter: object[]): Promise<string> {
    const answer = await post('/$reindex', ...parameter);
    expect(answer.status, answer.text).toBe(202);
    return String(answer.headers['content-location']).replace(/^.*?\/fhir/, '');
  }

  /** How many resources search finds by family name. */
  const found = async (family: string): Promise<number> =>
    (await all.send('GET', `/Patient?family=${family}&_summary=count`)).json().total;

  beforeAll(async () => {
    await putAll(all, [
      { resourceType: 'Patient', id: 'a', active: true, name: [{ family: 'Alpha' }] },
      { resourceType: 'Patient', id: 'b', name: [{ family: 'Beta' }] },
      { resourceType: 'Organization', id: 'o', name: 'Gamma' },
    ] as Sendable[]);
  });

  /** Index entries as another version of the program could have made them. */
  async function spoil(): Promise<void> {
    for (const id of ['a', 'b']) {
      const { version = 0 } = (await store.read('Patient', id)) ?? {};
      const active = {
        kind: 'token' as const,
        param: 'active',
        code: 'true',
        system: 'http://terminology.hl7.org/CodeSystem/special-values',
      };
      await store.reindex([{ type: 'Patient', id, version, entries: id === 'a' ? [active] : [] }]);
    }
    expect(await found('alpha')).toBe(0);
  }

  describe('$reindex', () => {
    it('makes the entries of all resources anew, and no new version', async () => {
      await spoil();
      const status = await start();
      const waiting = await admin.send('GET', status);
      expect([waiting.status, waiting.json().issue[0].severity]).toEqual([202, 'information']);
      expect(waiting.headers['x-progress']).toContain('not started yet');
      await server.finish();
      const answer = await admin.send('GET', status);
      expect(answer.status).toBe(200);
      const [{ response }] = answer.json().entry;
      expect([answer.json().type, response.status]).toEqual(['batch-response', '200 OK']);
      expect(response.outcome.issue[0].details.text).toContain('Total Resources Changed: 3');
      const report = await admin.send('GET', `${status}&_return=report`);
      expect(report.headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(report.text).toMatch(/^Reindex Report\n-+\n/);
      const asText = await admin.send('GET', `${status}&_return=report`, undefined, { accept: 'text/plain' });
      expect([asText.status, asText.text]).toEqual([200, report.text]);
      expect(report.text).toContain('ResourceType[Patient]\n    Changed: 2\n    Unchanged: 0\n    Failures: 0');
      expect([await found('alpha'), await found('beta')]).toEqual([1, 1]);
      expect((await all.send('GET', '/Patient/a')).json().meta.versionId).toBe('1');
      const byPost = await post('/$svc.fhir.reindex-status', { name: '_jobId', valueString: status.split('=')[1] });
      expect(byPost.status).toBe(200);
    });

    it('of what a search finds leaves the rest', async () => {
      await spoil();
      await start({ name: 'url', valueString: 'Patient?active=true' }, { name: 'batchSize', valueInteger: 1 });
      await server.finish();
      expect([await found('alpha'), await found('beta')]).toEqual([1, 0]);
      await start({ name: 'url', valueString: 'Patient?' });
      await server.finish();
      expect(await found('beta')).toBe(1);
    });

    it('only looks where it is to make no entries', async () => {
      await spoil();
      const status = await start(
        { name: 'reindexSearchParameters', valueCode: 'none' },
        { name: 'batchSize', valueInteger: 9999 },
      );
      await server.finish();
      expect((await admin.send('GET', status)).text).toContain('Total Resources Unchanged: 3');
      expect(await found('alpha')).toBe(0);
      await start();
      await server.finish();
    });

    it('refuses what it does not know', async () => {
      const refused = async (word: string, ...parameter: object[]) =>
        expectRefusal(await post('/$reindex', ...parameter), 400, 'parameter-invalid', word);
      await refused('"SOME"', { name: 'reindexSearchParameters', valueCode: 'SOME' });
      await refused('"X"', { name: 'optimizeStorage', valueCode: 'X' });
      await refused(
        'optimisticLock',
        { name: 'optimisticLock', valueBoolean: true },
        { name: 'correctCurrentVersion', valueCode: 'ALL' },
      );
      await refused('partition', { name: 'partitionId', valueString: 'x' });
      await refused('Nonsense?', { name: 'url', valueString: 'Nonsense?' });
      expectRefusal(
        await post('/$reindex', { name: 'dryRun', valueBoolean: true }),
        400,
        'parameter-unknown',
        '"dryRun"',
      );
      expect((await admin.send('GET', '/$reindex')).status).toBe(405);
      expectRefusal(await admin.send('GET', '/$svc.fhir.reindex-status'), 400, 'parameter-invalid', '_jobId');
      expectRefusal(await admin.send('GET', '/$svc.fhir.reindex-status?_jobId=none'), 404, 'job-unknown');
      const other = await server.jobs.start('export', {}, SERVER, NONE_NEEDED);
      expectRefusal(await admin.send('GET', `/$svc.fhir.reindex-status?_jobId=${other.id}`), 404, 'job-unknown');
      await server.jobs.cancel(other.id);
    });

    it('shows what became of jobs that did not complete', async () => {
      const status = await start();
      const id = status.split('=')[1] ?? '';
      await server.jobs.cancel(id);
      const answer = await admin.send('GET', status);
      expect(answer.json().entry[0].response).toMatchObject({
        status: '200 OK',
        outcome: { issue: [{ severity: 'warning' }] },
      });
      const text = (await store.maps.get('job', id))!;
      await store.maps.swap(
        'job',
        id,
        text,
        JSON.stringify({ ...JSON.parse(text), state: 'failed', failure: 'No room' }),
      );
      const failed = (await admin.send('GET', status)).json().entry[0].response;
      expect(failed).toMatchObject({
        status: '500 Internal Server Error',
        outcome: { issue: [{ severity: 'error', details: { text: 'No room' } }] },
      });
    });

    it('needs the scope of administration', async () => {
      const everything = server.as('system/*.cruds');
      for (const path of [
        '/$reindex',
        '/$mark-all-resources-for-reindexing',
        '/$perform-reindexing-pass',
        '/$reindex-terminology',
      ]) {
        expect(neededBy(await everything.send('POST', path, parameters())), path).toBe(ADMIN);
      }
      expect(neededBy(await everything.send('GET', '/$svc.fhir.reindex-status?_jobId=1'))).toBe(ADMIN);
      expect(neededBy(await everything.send('POST', '/Patient/a/$reindex'))).toContain(ADMIN);
      expect(neededBy(await server.as(ADMIN).send('POST', '/Patient/a/$reindex'))).toContain('system/Patient.r');
    });
  });

  describe('of large resources', () => {
    const url = 'urn:test:large';
    const resources = [
      {
        resourceType: 'Patient',
        id: 'large',
        name: [{ family: 'Delta' }],
        identifier: Array.from({ length: 7000 }, (_, n) => ({ system: url, value: `large-${n}` })),
        text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Long words</div>' },
      },
      {
        resourceType: 'CodeSystem',
        id: 'large',
        ...{ url, status: 'active', content: 'complete' },
        concept: Array.from({ length: 7000 }, (_, n) => ({ code: `c${n}`, display: `The display of ${n}` })),
      },
    ];
    const reader = server.as(`${ADMIN} system/Patient.r`);
    const isFound = async (path: string): Promise<boolean> => (await all.send('GET', path)).json().total === 1;

    beforeAll(async () => {
      for (const each of resources) {
        const answer = await all.send('PUT', `/${each.resourceType}/${each.id}`, each);
        expect(answer.status, answer.text.slice(0, 500)).toBe(201);
      }
    });
    afterAll(async () => {
      for (const { resourceType, id } of resources) await all.send('DELETE', `/${resourceType}/${id}`);
    });

    it.each([
      ['one', 'Patient', () => reader.send('POST', '/Patient/large/$reindex')],
      ['a type, by a job', 'Patient', () => start({ name: 'url', valueString: 'Patient?' })],
      ['the terminology', 'CodeSystem', () => post('/$reindex-terminology')],
    ] as const)('has a thread make the entries of %s, once', async (_, type, reindex) => {
      const criteria = {
        Patient: ['family=delta', `identifier=${url}|large-6999`, '_text=words'],
        CodeSystem: [`url=${url}`, 'code=c6999'],
      }[type];
      const { version = 0 } = (await store.read(type, 'large')) ?? {};
      await store.reindex([{ type, id: 'large', version, entries: [] }]);
      for (const each of criteria) expect(await isFound(`/${type}?${each}`), each).toBe(false);
      extracted = 0;
      await reindex();
      await server.finish();
      for (const each of criteria) expect(await isFound(`/${type}?${each}`), each).toBe(true);
      expect(extracted).toBe(1);
    });
  });

  describe('of one resource', () => {
    const who = server.as(`${ADMIN} system/Patient.r?active=true`);

    it('makes its entries anew, and shows them', async () => {
      await spoil();
      const answer = await who.send('POST', '/Patient/a/$reindex');
      expect(answer.status, answer.text).toBe(200);
      const { parameter } = answer.json();
      expect(parameter.find(({ name }: { name: string }) => name === 'Message').valueString).toContain('made anew');
      const strings = parameter.find(({ name }: { name: string }) => name === 'StringIndexes').part;
      const family = strings.find(({ name }: { name: string }) => name === 'family');
      expect(family.part).toContainEqual({ name: 'ValueExact', valueString: 'Alpha' });
      expect(await found('alpha')).toBe(1);
    });

    it('shows without a change what it would do', async () => {
      await spoil();
      const answer = await who.send('GET', '/Patient/a/$reindex-dryrun?code=family');
      expect(answer.json().parameter.map(({ name }: { name: string }) => name)).toEqual([
        'Narrative',
        'Message',
        'StringIndexes',
      ]);
      // Its values are those of the name.
      const union = await who.send('GET', '/Patient/a/$reindex-dryrun?code=phonetic');
      expect(union.json().parameter).toEqual((await who.send('GET', '/Patient/a/$reindex-dryrun?code=name')).json().parameter); // prettier-ignore
      expect(union.json().parameter).toHaveLength(3);
      expect(await found('alpha')).toBe(0);
      expectRefusal(await who.send('GET', '/Patient/a/$reindex-dryrun?code=nope'), 400, 'parameter-invalid', '"nope"');
      expectRefusal(await who.send('GET', '/Patient/b/$reindex-dryrun'), 404, 'not-found');
      await post('/$reindex');
      await server.finish();
    });
  });

  /** What a pass says at its end, which comes when its jobs have worked. */
  async function passed(): Promise<string> {
    let isAnswered = false;
    const pass = post('/$perform-reindexing-pass').finally(() => (isAnswered = true));
    while (!isAnswered) await server.finish();
    return (await pass).json().parameter[0].valueString as string;
  }

  it('a pass indexes what other definitions have indexed, and answers when that is done', async () => {
    await spoil();
    stale.push('Patient.family', 'Basic.code');
    expect(await passed()).toBe('2 resources were indexed');
    expect(await found('alpha')).toBe(1);
    // A parameter of all types.
    await spoil();
    stale.splice(0, 2, 'Resource._tag');
    expect(await passed()).toMatch(/^[3-9] resources were indexed$/);
    expect(await found('beta')).toBe(1);
    stale.length = 0;
    expect(await passed()).toContain('0 resources');
  });

  it('the older operations lead to a job too', async () => {
    await spoil();
    const marked = await post('/$mark-all-resources-for-reindexing', { name: 'type', valueCode: 'Patient' });
    expect(marked.json().parameter[0]).toMatchObject({
      name: 'status',
      valueString: expect.stringContaining('Patient are marked'),
    });
    expect(await found('beta')).toBe(0);
    expect(await passed()).toBe('2 resources were indexed');
    expect(await found('beta')).toBe(1);
    expect((await post('/$perform-reindexing-pass')).json().parameter[0].valueString).toContain('0 resources');
    expect((await post('/$reindex-terminology')).json().parameter).toEqual([{ name: 'success', valueBoolean: true }]);
    expectRefusal(
      await post('/$mark-all-resources-for-reindexing', { name: 'type', valueCode: 'X' }),
      400,
      'parameter-invalid',
    );
  });
}
