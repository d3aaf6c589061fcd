import { Readable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { createFetchFile } from '../../../runtime/assembly/fetch-file.js';
import { neededBy } from '../auth/scoped.js';
import { expectRefusal } from '../write-server.js';
import { ASYNC, jobsServer, linesOf } from './jobs-server.js';

const SCOPES = 'system/*.cruds';

/** `$import`, on any store */
export function imports(store: Store): void {
  const allowed = createFetchFile(['files.example', 'ports.example:8443'])!;
  /** What the other server has: the way there is tried in test/unit/fetch-file.test.ts. */
  const elsewhere = new Map<string, string>();
  const fetchFile = async (url: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
    const text = elsewhere.get(url);
    return text === undefined ? allowed(url, signal) : Readable.from([Buffer.from(text)]);
  };
  const server = jobsServer(store, { fetchFile: Object.assign(fetchFile, { fault: allowed.fault }) });
  const { all } = server;
  const client = (scopes = SCOPES, id = 'importer') => server.as(scopes, id);
  const below = (url: string): string => url.replace(/^.*?\/fhir/, '');

  /** Uploads lines. @returns the URL of the Binary */
  async function upload(...lines: readonly (object | string)[]): Promise<string> {
    return uploadBytes(
      Buffer.from(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')),
    );
  }

  async function uploadBytes(bytes: Buffer): Promise<string> {
    const answer = await all.send('POST', '/Binary', bytes, { 'content-type': 'application/fhir+ndjson' });
    expect(answer.status, answer.text).toBe(201);
    return /Binary\/[^/]+/.exec(String(answer.headers['location']))![0];
  }

  const bodyOf = (...files: readonly { url: string; type?: string }[]) => ({
    resourceType: 'Parameters',
    parameter: files.map(({ url, type }) => ({
      name: 'input',
      part: [{ name: 'url', valueUri: url }, ...(type === undefined ? [] : [{ name: 'type', valueCode: type }])],
    })),
  });

  async function start(files: readonly { url: string; type?: string }[], who = client()): Promise<string> {
    const answer = await who.send('POST', '/$import', bodyOf(...files), ASYNC);
    expect(answer.status, answer.text).toBe(202);
    return below(String(answer.headers['content-location']));
  }

  it('puts in what is right, and reports what is wrong with file and line', async () => {
    await all.send('PUT', '/Patient/same', { resourceType: 'Patient', id: 'same', gender: 'male' });
    await all.send('PUT', '/Patient/other', { resourceType: 'Patient', id: 'other' });
    const patients = await upload(
      { resourceType: 'Patient', id: 'new', birthDate: '1970-01-01' },
      { resourceType: 'Patient', id: 'same', gender: 'male' },
      '',
      { resourceType: 'Patient', id: 'other', gender: 'female' },
      '{"resourceType":"Patient"',
      { resourceType: 'Patient', id: 'bad', birthDate: 'yesterday' },
      { resourceType: 'Basic', code: { text: 'x' } },
      { resourceType: 'Patient', name: [{ family: 'Unnamed' }] },
      { resourceType: 'Patient', id: 'new', gender: 'other' },
    );
    const mixed = await upload({ resourceType: 'Basic', id: 'b', code: { text: 'x' } }, { resourceType: 'Nonsense' });
    const status = await start([{ url: patients, type: 'Patient' }, { url: `${server.url}/fhir/${mixed}` }]);
    const waiting = await client().send('GET', status);
    expect([waiting.status, waiting.headers['retry-after']]).toEqual([202, '1']);
    await server.finish();
    const answer = await client().send('GET', status);
    expect(answer.status, answer.text).toBe(200);
    const { output, error } = answer.json();
    expect(output).toEqual([
      { inputUrl: patients, type: 'Patient', created: 2, updated: 2, unchanged: 1, failed: 3 },
      { inputUrl: `${server.url}/fhir/${mixed}`, created: 1, updated: 0, unchanged: 0, failed: 1 },
    ]);
    expect((await all.send('GET', '/Patient/new')).json()).toMatchObject({ gender: 'other', meta: { versionId: '2' } });
    expect((await all.send('GET', '/Patient/same')).json().meta.versionId).toBe('1');
    const told: string[] = [];
    for (const { url, count, type } of error) {
      const file = await client().send('GET', below(url));
      const outcomes = linesOf(file.text) as { resourceType: string; issue: { diagnostics: string }[] }[];
      expect([type, outcomes.length]).toEqual(['OperationOutcome', count]);
      told.push(...outcomes.map(({ issue }) => issue[0]!.diagnostics));
      expectRefusal(await client(SCOPES, 'another').send('GET', below(url)), 404, 'not-found');
    }
    for (const line of [5, 6, 7])
      expect(
        told.some((text) => text.includes(` (${patients}, line ${line}`)),
        told.join(),
      ).toBe(true);
    expectRefusal(await client(SCOPES, 'another').send('GET', status), 404, 'job-unknown');
    expect((await client().send('DELETE', status)).status).toBe(202);
    expectRefusal(await client().send('GET', status), 404, 'job-unknown');
    expect(await store.blobs.list('import/')).toEqual([]);
  });

  it('repairs nothing: a line that is not UTF-8 is an error', async () => {
    const line = (family: string) => JSON.stringify({ resourceType: 'Patient', name: [{ family }] });
    const bytes = ['\ufeff', line('Müller')].join('');
    const latin = Buffer.from(line('Müller'), 'latin1');
    const url = await uploadBytes(Buffer.concat([Buffer.from(`${bytes}\r\n`), latin, Buffer.from(`\n${line('x')}`)]));
    const status = await start([{ url, type: 'Patient' }]);
    await server.finish();
    const { output, error } = (await client().send('GET', status)).json();
    expect(output[0]).toMatchObject({ created: 2, failed: 1 });
    const { text } = await client().send('GET', below(error[0].url));
    expect(text).toContain(`${url}, line 2`);
    expect(text).toContain('json-encoding');
    expect((await all.send('GET', '/Patient?family=M%C3%BCller')).json().total).toBe(1);
  });

  it('replaces no Binary whose securityContext decides who may', async () => {
    const guarded = { resourceType: 'Binary', contentType: 'text/plain', securityContext: { reference: 'Patient/p' } };
    await all.send('PUT', '/Patient/p', { resourceType: 'Patient', id: 'p' });
    for (const id of ['guarded', 'gone']) await all.send('PUT', `/Binary/${id}`, { ...guarded, id, data: 'YQ==' });
    await all.send('DELETE', '/Binary/gone');
    const own = (id: string) => ({ resourceType: 'Binary', id, contentType: 'text/plain', data: 'Yg==' });
    const blind = client('system/Binary.cru');
    const status = await start(
      [{ url: await upload(own('guarded'), own('gone'), own('free')), type: 'Binary' }],
      blind,
    );
    await server.finish();
    expect((await blind.send('GET', status)).json().output[0]).toMatchObject({ created: 1, updated: 0, failed: 2 });
    expect((await all.send('GET', '/Binary/free')).text).toBe('b');
    expect((await store.read('Binary', 'gone'))?.version).toBe(2);
    expect((await store.read('Binary', 'guarded'))?.version).toBe(1);
  });

  it('takes a file of another server that is allowed, and keeps no copy of it', async () => {
    const url = 'https://files.example/basics.ndjson';
    const basic = (id: string) => JSON.stringify({ resourceType: 'Basic', id, code: { text: 'x' } });
    elsewhere.set(url, `${basic('far1')}\nnothing\n${basic('far2')}`);
    const status = await start([{ url, type: 'Basic' }]);
    await server.finish();
    const { output, error } = (await client().send('GET', status)).json();
    expect(output).toEqual([{ inputUrl: url, type: 'Basic', created: 2, updated: 0, unchanged: 0, failed: 1 }]);
    expect((await client().send('GET', below(error[0].url))).text).toContain(`${url}, line 2`);
    expect((await all.send('GET', '/Basic/far2')).status).toBe(200);
    expect(await store.blobs.list(`import/${status.split('=')[1]}`)).toHaveLength(1);
    expect((await client().send('DELETE', status)).status).toBe(202);
  });

  it('of many lines gives each resource without an id one of its own', async () => {
    const lines = Array.from({ length: 1200 }, (_, i) => ({ resourceType: 'Basic', code: { text: `many ${i}` } }));
    const status = await start([{ url: await upload(...lines), type: 'Basic' }]);
    await server.finish();
    expect((await client().send('GET', status)).json().output[0]).toMatchObject({ created: 1200, failed: 0 });
  });

  describe('is refused', () => {
    const send = (body: object, who = client(), headers: Record<string, string> = ASYNC) =>
      who.send('POST', '/$import', body, headers);

    it('without the wish for an answer later, without a file, and for files that are not there', async () => {
      const url = await upload({ resourceType: 'Basic' });
      expectRefusal(await send(bodyOf({ url }), client(), {}), 400, 'async-only');
      expectRefusal(await send({ resourceType: 'Parameters' }), 400, 'parameter-invalid', '"input"');
      expectRefusal(await send(bodyOf({ url: 'Binary/none' })), 400, 'parameter-invalid', 'Binary/none');
      expectRefusal(await send(bodyOf({ url, type: 'Nonsense' })), 400, 'parameter-invalid', '"Nonsense"');
    });

    it('for URLs of servers that the configuration does not allow', async () => {
      const refused = async (url: string, words: string) =>
        expectRefusal(await send(bodyOf({ url })), 400, 'parameter-invalid', words);
      await refused('https://other.example/x.ndjson', 'import.allow');
      await refused('http://files.example/x.ndjson', 'no https URL');
      await refused('https://files.example:8443/x', 'port');
      await refused('https://me@files.example/x', 'names a user');
      await refused('https://169.254.169.254/latest', 'import.allow');
      expect((await send(bodyOf({ url: 'https://ports.example:8443/x' }))).status).toBe(202);
      for (const { id } of await server.jobs.list()) await server.jobs.cancel(id);
    });

    it('without scopes that cover the types whole', async () => {
      const url = await upload({ resourceType: 'Basic' });
      const needed = async (scopes: string, type?: string) =>
        neededBy(await send(bodyOf({ url, ...(type !== undefined && { type }) }), client(scopes)));
      expect(await needed('system/Patient.cu system/Binary.r', 'Basic')).toBe('system/Basic.cu');
      expect(await needed('system/Basic.cu?code=x system/Patient.cu system/Binary.r', 'Basic')).toBe('system/Basic.cu');
      expect(await needed('system/Basic.cu', 'Basic')).toBe('system/Binary.r');
      expect(await needed('system/Basic.c system/Binary.r')).toBe('system/*.cu');
    });
  });

  it('leaves out what the token does not cover', async () => {
    const url = await upload(
      { resourceType: 'Basic', id: 'mine', code: { text: 'x' } },
      { resourceType: 'Patient', id: 'hers' },
    );
    const who = client('system/Basic.cu system/Binary.r');
    const status = await start([{ url }], who);
    await server.finish();
    expect((await who.send('GET', status)).json().output[0]).toMatchObject({ created: 1, failed: 1 });
    expect((await all.send('GET', '/Patient/hers')).status).toBe(404);
  });
}
