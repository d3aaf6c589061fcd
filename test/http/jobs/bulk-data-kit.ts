import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Store } from '../../../runtime/store/store.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { putAll, type Sendable } from '../search-server.js';
import type { Answer } from '../server.js';
import { ASYNC, jobsServer, linesOf } from './jobs-server.js';

/** The levels of an export, with the file that the kit expects of each. */
const LEVELS = [
  { level: 'System', path: '/$export', patients: ['p1', 'p2', 'p3'] },
  { level: 'Patient', path: '/Patient/$export', patients: ['p1', 'p2', 'p3'] },
  { level: 'Group', path: '/Group/g/$export', patients: ['p1', 'p2'] },
] as const;

const KIT = { scopes: 'system/*.rs', accept: { accept: 'application/fhir+json' } };

interface Item {
  readonly type: string;
  readonly url: string;
  readonly count: number;
}

/**
 * The checks of servers of the Bulk Data Test Kit of Inferno, of version 2.0.0 of the specification, as requests and answers; titles begin
 * with its names for them. TLS is tried in test/service, the tokens of backend services in test/http/auth.
 * https://github.com/inferno-framework/bulk-data-test-kit
 */
export function bulkDataKit(store: Store): void {
  const server = jobsServer(store);
  const { all } = server;
  const kit = (scopes: string = KIT.scopes) => server.as(scopes, 'kit');
  const below = (url: string): string => url.replace(/^.*?\/fhir/, '');
  const validate = createValidator(tables);

  const kickOff = (path: string, query = '', who = kit(), more: object = {}): Promise<Answer> =>
    who.send('GET', `${path}${query}`, undefined, { ...KIT.accept, ...ASYNC, ...more });

  async function start(path: string, query = '', who = kit()): Promise<string> {
    const answer = await kickOff(path, query, who);
    expect(answer.status, answer.text).toBe(202);
    return String(answer.headers['content-location']);
  }

  const poll = (url: string, who = kit()): Promise<Answer> =>
    who.send('GET', below(url), undefined, { accept: 'application/json' });
  const download = (url: string, who = kit()): Promise<Answer> =>
    who.send('GET', below(url), undefined, { accept: 'application/fhir+ndjson' });

  /** Addresses of the status of the exports that the checks look at; they are done together. */
  const status: Record<string, string> = {};
  const firstPolls: Record<string, Answer> = {};
  let since = '';

  const outputOf = async (name: string, who = kit()): Promise<readonly Item[]> => {
    const answer = await poll(status[name]!, who);
    expect(answer.status, answer.text).toBe(200);
    return answer.json().output;
  };

  beforeAll(async () => {
    const patient = (id: string) => ({ resourceType: 'Patient', id });
    const observation = (id: string, of: string) => ({
      ...{ resourceType: 'Observation', id, status: 'final', code: { text: id } },
      subject: { reference: `Patient/${of}` },
    });
    await putAll(all, [
      ...['p1', 'p2', 'p3'].map(patient),
      { resourceType: 'Organization', id: 'r', name: 'of no patient' },
      {
        ...{ resourceType: 'Group', id: 'g', type: 'person', membership: 'enumerated' },
        member: ['p1', 'p2'].map((id) => ({ entity: { reference: `Patient/${id}` } })),
      },
    ] as Sendable[]);
    since = (await all.send('GET', '/Group/g')).json().meta.lastUpdated;
    await putAll(all, [observation('o1', 'p1'), observation('o3', 'p3')] as Sendable[]);
    const instant = encodeURIComponent(since);
    for (const { level, path } of LEVELS) {
      status[level] = await start(path);
      firstPolls[level] = await poll(status[level]);
      status[`${level} since`] = await start(path, `?_since=${instant}`);
      status[`${level} types`] = await start(path, '?_type=Patient,Observation');
      status[`${level} types twice`] = await start(
        path,
        '?_type=Patient&_type=Observation&_until=2999-01-01T00:00:00Z',
      );
      status[`${level} narrow`] = await start(path, '', kit('system/Patient.rs system/Group.rs'));
    }
    await server.finish();
  }, 60_000);

  describe.each(LEVELS)('$level level', ({ level, path, patients }) => {
    it('operation support: the CapabilityStatement declares an operation named export', async () => {
      const [rest] = (await all.send('GET', '/metadata')).json().rest;
      const type = level === 'System' ? rest : rest.resource.find((each: { type: string }) => each.type === level);
      expect(type.operation.map(({ name }: { name: string }) => name)).toContain('export');
    });

    it('no authorization: the kick-off, its status and its files are refused without a token', async () => {
      const [{ url } = { url: '' }] = await outputOf(level);
      for (const each of [path, below(status[level]!), below(url)]) {
        const answer = await server.send('GET', each, undefined, { ...KIT.accept, ...ASYNC });
        expect([each, answer.status]).toEqual([each, 401]);
        expect(String(answer.headers['www-authenticate'])).toMatch(/^Bearer/);
      }
    });

    it('kick-off: 202, an absolute URL in Content-Location, and no body that is wrong', async () => {
      const answer = await kickOff(path, '?_type=Patient&_elements=id');
      expect([answer.status, answer.text]).toEqual([202, '']);
      const url = String(answer.headers['content-location']);
      expect(url).toMatch(new RegExp(`^${server.url}/fhir/`));
      expect((await kit().send('DELETE', below(url))).status).toBe(202);
    });

    it('kick-off: an error is 4xx with an OperationOutcome', async () => {
      const without = await kit().send('GET', path, undefined, KIT.accept);
      const wrong = await kickOff(path, '?_type=Nonsense');
      const unknown = await kickOff(path, '?_nonsense=1');
      for (const { status: code, headers, json } of [without, wrong, unknown]) {
        expect(code).toBe(400);
        expect(headers['content-type']).toContain('application/fhir+json');
        expect(json()).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ severity: 'error' }] });
        expect(headers['content-location']).toBeUndefined();
      }
      const lenient = await kickOff(path, '?_nonsense=1', kit(), { prefer: 'respond-async, handling=lenient' });
      expect(lenient.status).toBe(202);
      await kit().send('DELETE', below(String(lenient.headers['content-location'])));
    });

    it('status check: 202 with Retry-After until it is complete, then the manifest as JSON', async () => {
      const first = firstPolls[level]!;
      expect([first.status, first.text]).toEqual([202, '']);
      expect(Number(first.headers['retry-after'])).toBeGreaterThan(0);
      expect(String(first.headers['x-progress'])).toMatch(/\S/);
      const answer = await poll(status[level]!);
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toContain('application/json');
      const manifest = answer.json();
      expect(Object.keys(manifest)).toEqual(
        expect.arrayContaining(['transactionTime', 'request', 'requiresAccessToken', 'output', 'error']),
      );
      expect(manifest).toMatchObject({ requiresAccessToken: true, request: `${server.url}/fhir${path}`, error: [] });
      expect(manifest.transactionTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:\d\d)$/);
    });

    it('status check: Expires says how long the files stay', async () => {
      const { headers } = await poll(status[level]!);
      expect(Date.parse(String(headers['expires']))).toBeGreaterThan(Date.now());
    });

    it('output check: each item has a type, an absolute URL and its count', async () => {
      const output = await outputOf(level);
      expect(output.length).toBeGreaterThan(0);
      for (const { type, url, count } of output) {
        expect(tables.resourceTypes).toContain(type);
        expect(url).toMatch(/^https?:\/\//);
        expect(count).toBeGreaterThan(0);
      }
    });

    it('NDJSON download: application/fhir+ndjson, each line a valid resource of the type of its file', async () => {
      for (const { type, url, count } of await outputOf(level)) {
        const answer = await download(url);
        expect(answer.status).toBe(200);
        expect(answer.headers['content-type']).toMatch(/^application\/fhir\+ndjson/);
        const lines = linesOf(answer.text);
        expect(lines).toHaveLength(count);
        for (const line of lines) {
          expect(line.resourceType).toBe(type);
          expect(validate(line)).toEqual([]);
        }
      }
    });

    it('multiple patients: there are several, and they are those of the level', async () => {
      const file = (await outputOf(level)).find(({ type }) => type === 'Patient')!;
      const ids = linesOf((await download(file.url)).text).map((line) => line['id']);
      expect(ids.sort()).toEqual(patients);
      expect(ids.length).toBeGreaterThan(1);
    });

    it('cancel: DELETE is 202, and then the status is 404 with an OperationOutcome', async () => {
      const url = await start(path, '?_type=Observation&_elements=id');
      expect((await kit().send('DELETE', below(url))).status).toBe(202);
      const answer = await poll(url);
      expect(answer.status).toBe(404);
      const outcome = answer.json();
      expect(outcome.resourceType).toBe('OperationOutcome');
      expect(validate(outcome)).toEqual([]);
    });

    it.each(['application/fhir+ndjson', 'application/ndjson', 'ndjson'])(
      '_outputFormat %s is accepted',
      async (format) => {
        const url = await start(path, `?_outputFormat=${encodeURIComponent(format)}`);
        expect((await kit().send('DELETE', below(url))).status).toBe(202);
      },
    );

    it('_since leaves out what has not changed since', async () => {
      const output = await outputOf(`${level} since`);
      expect(output.map(({ type }) => type)).toEqual(['Observation']);
      const early = await kickOff(path, '?_since=2024');
      expect(early.status).toBe(400);
    });

    it('_type leaves out other types; repeated it is as with commas', async () => {
      for (const name of [`${level} types`, `${level} types twice`]) {
        const types = (await outputOf(name)).map(({ type }) => type);
        expect([...new Set(types)].sort()).toEqual(['Observation', 'Patient']);
      }
    });

    it('scopes: the files hold what the token covers, and a smaller one does not read them', async () => {
      const narrow = kit('system/Patient.rs system/Group.rs');
      const types = (await outputOf(`${level} narrow`, narrow)).map(({ type }) => type);
      expect([...new Set(types)].sort()).toEqual(['Group', 'Patient']);
      const file = (await outputOf(level)).find(({ type }) => type === 'Observation')!;
      expect((await download(file.url, narrow)).status).toBe(403);
      expect((await kickOff(path, '?_type=Observation', narrow)).status).toBe(403);
    });
  });
}
