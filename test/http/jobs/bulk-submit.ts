import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';

import { createFetchFile } from '../../../runtime/assembly/fetch-file.js';
import { SUBMIT } from '../../../runtime/core/job-files/read-job-file.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import type { JobKind } from '../../../runtime/jobs/engine/job-kind.js';
import { JOB_KINDS } from '../../../runtime/jobs/kinds.js';
import type { Store } from '../../../runtime/store/store.js';
import { neededBy } from '../auth/scoped.js';
import { expectRefusal, word } from '../write-server.js';
import { ASYNC, jobsServer, linesOf } from './jobs-server.js';

const SCOPES = 'system/*.cruds';

interface Status {
  readonly status: number;
  readonly submissionId?: string;
  /** By the address of the manifest, what is said of it. */
  readonly texts: Readonly<Record<string, string>>;
}

/** `$bulk-submit` and its status, on any store. */
export function submissions(store: Store): void {
  const allowed = createFetchFile(['files.example'])!;
  /** What the other server has, and the headers that it was asked with. */
  const elsewhere = new Map<string, string>();
  const asked: (readonly [string, Readonly<Record<string, string>> | undefined])[] = [];
  const fetchFile = async (
    ...[url, signal, headers]: Parameters<typeof allowed>
  ): Promise<AsyncIterable<Uint8Array>> => {
    asked.push([url, headers]);
    const text = elsewhere.get(url);
    if (text === undefined && allowed.fault(url) === undefined) {
      const words = 'files.example answered 404 to the request for a file';
      throw url.endsWith('.ndjson') ? new FhirError('parameter-invalid', words) : new Error(words);
    }
    return text === undefined ? allowed(url, signal) : Readable.from([Buffer.from(text)]);
  };
  /** After so many writes the process dies. */
  let deadline = Infinity;
  const kinds = JOB_KINDS.map((kind): JobKind => {
    if (kind.type !== SUBMIT) return kind;
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
  const server = jobsServer(store, { fetchFile: Object.assign(fetchFile, { fault: allowed.fault }) }, { kinds });
  const { all } = server;
  const client = (scopes = SCOPES, id = 'provider') => server.as(scopes, id);
  const below = (url: unknown): string => String(url).replace(/^.*?\/fhir/, '');
  const SUBMITTER = { name: 'submitter', valueIdentifier: { system: 'urn:who', value: 'us' } };
  let submission = '';
  let home = '';

  beforeEach(() => {
    deadline = Infinity;
    submission = word();
    home = `https://files.example/${submission}`;
    asked.length = 0;
  });

  const parameters = (...more: readonly object[]) => ({
    resourceType: 'Parameters',
    parameter: [SUBMITTER, { name: 'submissionId', valueString: submission }, ...more],
  });
  const state = (code: string) => ({
    name: 'submissionStatus',
    valueCoding: { system: 'http://hl7.org/fhir/event-status', code },
  });
  const manifestUrl = (name: string) => [
    { name: 'manifestUrl', valueUrl: `${home}/${name}` },
    { name: 'fhirBaseUrl', valueUrl: 'https://provider.example/fhir' },
  ];
  const replaces = (name: string) => ({ name: 'replacesManifestUrl', valueUrl: `${home}/${name}` });

  async function submit(...more: readonly object[]): Promise<void> {
    const answer = await client().send('POST', '/$bulk-submit', parameters(...more));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json().resourceType).toBe('OperationOutcome');
  }

  /** Puts a manifest on the other server, whose files have these resources. */
  function offer(name: string, ...files: readonly (readonly { readonly resourceType: string }[])[]): void {
    const output = files.map((resources, n) => {
      const url = `${home}/${name}-${n}.ndjson`;
      elsewhere.set(url, resources.map((each) => JSON.stringify(each)).join('\n'));
      return { type: resources[0]!.resourceType, url };
    });
    elsewhere.set(
      `${home}/${name}`,
      JSON.stringify({ transactionTime: '2024-01-01T00:00:00Z', requiresAccessToken: false, output, error: [] }),
    );
  }

  async function locate(who = client()): Promise<string> {
    const answer = await who.send('POST', '/$bulk-submit-status', parameters(), ASYNC);
    expect(answer.status, answer.text).toBe(202);
    return below(answer.headers['content-location']);
  }

  async function look(): Promise<Status> {
    const answer = await client().send('GET', await locate());
    if (answer.status > 202) return { status: answer.status, texts: {} };
    const { submissionId, error, requiresAccessToken } = answer.json();
    expect(requiresAccessToken).toBe(true);
    const texts: Record<string, string> = {};
    for (const { url, count, countSeverity, manifestUrl: of, type } of error) {
      expect(type).toBe('OperationOutcome');
      const lines = linesOf((await client().send('GET', below(url))).text) as unknown as {
        issue: { severity: string; details: { text: string } }[];
      }[];
      expect(lines).toHaveLength(count);
      expect(countSeverity).toEqual([{ code: lines[0]!.issue[0]!.severity, count }]);
      const text = lines.map(({ issue }) => JSON.stringify(issue)).join('\n');
      const key = String(of).slice(home.length + 1);
      texts[key] = `${texts[key] ?? ''}${text}`;
    }
    return { status: answer.status, submissionId, texts };
  }

  const id = (name: string): string => `${submission}-${name}`;
  const patient = (name: string, more: object = {}) => ({ resourceType: 'Patient', id: id(name), ...more });
  const read = async (name: string) => {
    const answer = await all.send('GET', `/Patient/${id(name)}`);
    return answer.status === 200 ? (answer.json().gender ?? 'none') : answer.status;
  };
  const put = async (name: string, gender: string) => {
    const answer = await all.send('PUT', `/Patient/${id(name)}`, patient(name, { gender }));
    expect(answer.status, answer.text).toBeLessThan(300);
  };

  it('takes in the files of manifests, and says what became of them', async () => {
    await put('old', 'male');
    offer(
      'one',
      [patient('a'), patient('old', { gender: 'female' })],
      [{ resourceType: 'Organization', id: id('o') } as never],
    );
    offer('two', [patient('b'), { resourceType: 'Patient', id: id('wrong'), nonsense: 1 } as never]);
    await submit(...manifestUrl('one'));
    expect(await look()).toEqual({ status: 202, submissionId: submission, texts: {} });
    await server.finish();
    await submit(...manifestUrl('two'), state('completed'));
    await server.finish();
    const { status, texts } = await look();
    expect(status).toBe(200);
    expect(texts['one']).toMatch(/2 created, 1 updated, 0 as they were, 0 refused/);
    expect(texts['two']).toMatch(/1 created, 0 updated, 0 as they were, 1 refused/);
    expect(texts['two']).toMatch(/two-0\.ndjson, line 2/);
    expect([await read('a'), await read('old'), await read('b'), await read('wrong')]).toEqual([
      'none',
      'female',
      'none',
      404,
    ]);
    expectRefusal(
      await client().send('POST', '/$bulk-submit', parameters(...manifestUrl('three'))),
      412,
      'precondition-failed',
    );
    // Said twice it is as said once.
    await submit(state('completed'));
  });

  it('follows links, and asks with the headers that it is given', async () => {
    offer('one', [patient('a')]);
    offer('more', [patient('b')]);
    const first = JSON.parse(elsewhere.get(`${home}/one`)!);
    elsewhere.set(`${home}/one`, JSON.stringify({ ...first, link: [{ relation: 'next', url: `${home}/more` }] }));
    const part = [
      { name: 'headerName', valueString: 'X-Key' },
      { name: 'headerValue', valueString: 'secret' },
    ];
    await submit(...manifestUrl('one'), { name: 'fileRequestHeader', part }, state('completed'));
    await server.finish();
    const { status, texts } = await look();
    expect([status, await read('a'), await read('b')]).toEqual([200, 'none', 'none']);
    expect(asked.map(([url]) => url.slice(home.length + 1))).toEqual(['one', 'more', 'one-0.ndjson', 'more-0.ndjson']);
    for (const [, headers] of asked) expect(headers).toEqual({ 'x-key': 'secret' });
    expect(JSON.stringify(texts)).not.toContain('secret');
    // Nor does the store keep it with the job.
    expect(JSON.stringify(await server.jobs.list())).not.toContain('secret');
  });

  it('reports manifests and files that cannot be had, and takes in the others', async () => {
    offer('one', [patient('a')]);
    const { output } = JSON.parse(elsewhere.get(`${home}/one`)!);
    const more = [
      { type: 'Patient', url: `${home}/missing.ndjson` },
      { type: 'Patient', url: 'https://elsewhere.example/x.ndjson' },
      { type: 'Nothing', url: `${home}/nothing.ndjson` },
    ];
    elsewhere.set(
      `${home}/one`,
      JSON.stringify({
        output: [more[0], ...output, ...more.slice(1)],
        deleted: [{ type: 'Bundle', url: `${home}/d` }],
      }),
    );
    elsewhere.set(`${home}/two`, 'no manifest');
    await submit(...manifestUrl('one'));
    await submit(...manifestUrl('two'));
    await submit(...manifestUrl('three'), state('completed'));
    for (let n = 0; n < 12; n++)
      await server.finish().catch((error: unknown) => expect(String(error)).toContain('404'));
    const { status, texts } = await look();
    expect(status).toBe(200);
    expect(texts['one']).toMatch(/missing\.ndjson: files\.example answered 404/);
    expect(texts['one']).toMatch(/elsewhere\.example\/x\.ndjson.* is on no server/);
    expect(texts['one']).toMatch(/is of \\"Nothing\\"/);
    expect(texts['one']).toMatch(/lists as deleted is not deleted here/);
    expect(texts['one']).toMatch(/1 created/);
    expect(texts['two']).toMatch(/The manifest is no JSON/);
    expect(texts['three']).toMatch(/did not answer/);
    expect(await read('a')).toBe('none');
  });

  it('takes back what came of a submission that is stopped, and nothing else', async () => {
    const notes = (await store.blobs.list('submit-notes/')).length;
    await put('old', 'male');
    await put('mine', 'male');
    offer('one', [patient('a'), patient('old', { gender: 'female' }), patient('mine', { gender: 'female' })]);
    offer('two', [patient('a', { gender: 'other' }), patient('b')]);
    await submit(...manifestUrl('one'));
    await server.finish();
    await submit(...manifestUrl('two'));
    await server.finish();
    await put('mine', 'unknown');
    expect([await read('a'), await read('b'), await read('old')]).toEqual(['other', 'none', 'female']);
    await submit(state('stopped'));
    await server.finish();
    const { status, texts } = await look();
    expect(status).toBe(200);
    expect(texts['two']).toMatch(/Taken back: 3 resources; left, because others changed them since: 1; refused: 0/);
    expect([await read('a'), await read('b'), await read('old'), await read('mine')]).toEqual([
      410,
      410,
      'male',
      'unknown',
    ]);
    expect(await store.blobs.list('submit-notes/')).toHaveLength(notes);
    await submit(state('stopped'));
  });

  it('stops in the middle, also where processes die', async () => {
    const many = Array.from({ length: 1200 }, (_, n) => patient(`m${n}`));
    offer('one', many);
    await submit(...manifestUrl('one'));
    deadline = 2;
    await server.finish().catch(() => {});
    await submit(state('stopped'));
    deadline = 3;
    for (let n = 0; n < 4; n++) await server.finish().catch(() => {});
    expect((await look()).status).toBe(200);
    const left = await all.send(
      'GET',
      `/Patient?_id=${many.map((each) => each.id).join()}&_summary=count`.slice(0, 8000).replace(/,[^,]*$/, ''),
    );
    expect(left.status === 200 ? left.json().entry : undefined).toBeUndefined();
    for (const n of [0, 250, 499, 500, 999, 1199]) expect([404, 410]).toContain(await read(`m${n}`));
  });

  it('puts one manifest in the place of another', async () => {
    await put('old', 'male');
    offer('one', [patient('a'), patient('b'), patient('old', { gender: 'female' })]);
    offer('two', [patient('b', { gender: 'other' })]);
    await submit(...manifestUrl('one'));
    await server.finish();
    await submit(...manifestUrl('two'), replaces('one'));
    await server.finish();
    expect([await read('a'), await read('b'), await read('old')]).toEqual([410, 'other', 'male']);
    await submit(replaces('two'), state('completed'));
    await server.finish();
    expect(await read('b')).toBe(410);
    const { status, texts } = await look();
    expect([status, Object.keys(texts)]).toEqual([200, ['two']]);
    expect(texts['two']).toMatch(/Taken back: 1 resources/);
  });

  it('refuses what it cannot do, by name', async () => {
    const refused = async (words: RegExp, ...more: readonly object[]) => {
      const answer = await client().send('POST', '/$bulk-submit', parameters(...more));
      expect([answer.status, answer.text], answer.text).toEqual([400, expect.stringMatching(words)]);
    };
    offer('one', [patient('a')]);
    const header = (name: string, value: string) => ({ name: 'fileRequestHeader', part: [{ name: 'headerName', valueString: name }, { name: 'headerValue', valueString: value }] }); // prettier-ignore
    await refused(/One of .*submissionStatus.* and .*manifestUrl.* is required/);
    await refused(/fhirBaseUrl.* is required/, manifestUrl('one')[0]!);
    await refused(/event-status: in-progress, completed, stopped/, state('aborted'));
    await refused(
      /is on no server/,
      { ...manifestUrl('one')[0]!, valueUrl: 'https://other.example/m' },
      manifestUrl('one')[1]!,
    );
    await refused(
      /is no https URL/,
      { ...manifestUrl('one')[0]!, valueUrl: 'http://files.example/m' },
      manifestUrl('one')[1]!,
    );
    await refused(/outputFormat/, ...manifestUrl('one'), { name: 'outputFormat', valueString: 'text/csv' });
    await refused(/oauthMetadataUrl/, ...manifestUrl('one'), {
      name: 'oauthMetadataUrl',
      valueUrl: 'https://files.example/x',
    });
    await submit(state('in-progress'));
    const table = parameters({ name: '_outputFormat', valueString: 'text/csv' });
    expectRefusal(await client().send('POST', '/$bulk-submit-status', table, ASYNC), 400, 'parameter-invalid');
    await refused(/no header of requests/, ...manifestUrl('one'), header('Host', 'x'));
    await refused(/no such manifest/, ...manifestUrl('one'), replaces('none'));
    await submit(...manifestUrl('one'));
    await refused(/has this manifest already/, ...manifestUrl('one'));
    await server.finish();
  });

  it('is known to its client alone', async () => {
    offer('one', [patient('a')]);
    await submit(...manifestUrl('one'));
    await server.finish();
    const at = await locate();
    expectRefusal(await client(SCOPES, 'other').send('GET', at), 404, 'job-unknown');
    expectRefusal(
      await client(SCOPES, 'other').send('POST', '/$bulk-submit-status', parameters(), ASYNC),
      404,
      'job-unknown',
    );
    expect((await client('system/Patient.cruds').send('GET', at)).status).toBe(403);
    // The other one has a submission of its own under this name.
    const other = await client(SCOPES, 'other').send('POST', '/$bulk-submit', parameters(state('stopped')));
    expect(other.status).toBe(200);
    await server.finish();
    expect(await read('a')).toBe('none');
    expect(neededBy(await client('system/*.rs').send('POST', '/$bulk-submit', parameters(state('completed'))))).toBe(
      'system/*.cu',
    );
    expect(
      (await client('system/Patient.cu?_tag=x').send('POST', '/$bulk-submit', parameters(state('completed')))).status,
    ).toBe(403);
  });

  it('takes in types alone that the token covers whole', async () => {
    offer('one', [patient('a')], [{ resourceType: 'Organization', id: id('o') } as never]);
    const who = client('system/Patient.cruds', 'narrow');
    const answer = await who.send('POST', '/$bulk-submit', parameters(...manifestUrl('one'), state('completed')));
    expect(answer.status, answer.text).toBe(200);
    await server.finish();
    expect([await read('a'), (await all.send('GET', `/Organization/${id('o')}`)).status]).toEqual(['none', 404]);
  });

  describe('DELETE on its progress', () => {
    it('lets it go on, and removes what is left of it when it is over', async () => {
      offer('one', [patient('a')]);
      await submit(...manifestUrl('one'));
      const at = await locate();
      expect((await client().send('DELETE', at)).status).toBe(202);
      await server.finish();
      expect(await read('a')).toBe('none');
      await submit(state('completed'));
      expect((await client().send('GET', at)).status).toBe(200);
      const blobs = async () => (await Promise.all([`${SUBMIT}/`, 'submit-notes/'].map((each) => store.blobs.list(each)))).flat().length; // prettier-ignore
      const files = await blobs();
      expect((await client().send('DELETE', at)).status).toBe(202);
      expectRefusal(await client().send('GET', at), 404, 'job-unknown');
      expect(await blobs()).toBe(files - 2);
      expect(await read('a')).toBe('none');
    });
  });
}
