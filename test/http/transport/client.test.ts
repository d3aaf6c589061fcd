import { gzipSync } from 'node:zlib';

import { rolldown } from 'rolldown';
import { afterAll, describe, expect, it } from 'vitest';

import { FhirClient } from '../../../runtime/client/index.js';
import { openStore } from '../../contract/open-store.js';
import { clientSuite } from './client.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());

describe('the typed client, on SQLite', () => clientSuite(store));

describe('the typed client', () => {
  it('follows no link to another server', async () => {
    const other = new FhirClient({
      base: 'http://127.0.0.1:1/fhir',
      fetch: () =>
        Promise.resolve(
          Response.json({
            resourceType: 'Bundle',
            type: 'searchset',
            link: [{ relation: 'next', url: 'http://evil.example/' }],
          }),
        ),
    });
    const walk = async (): Promise<void> => {
      for await (const each of other.search('Patient', {})) expect(each).toBeUndefined();
    };
    await expect(walk()).rejects.toThrow('does not lead below');
  });

  it('sends again what may be repeated, after the pause that the server asks for, and nothing else', async () => {
    const sent: string[] = [];
    let answers: Response[] = [];
    const busy = (status: number, pause?: string) =>
      new Response('', { status, ...(pause !== undefined && { headers: { 'Retry-After': pause } }) });
    const client = new FhirClient({
      base: 'http://127.0.0.1:1/fhir',
      headers: { 'X-Team': 'lab' },
      fetch: (_url, init) => {
        const headers = new Headers(init?.headers);
        sent.push(`${init?.method ?? ''} ${headers.get('x-team') ?? ''} ${headers.get('x-request-id') ?? ''}`);
        return Promise.resolve(answers.shift() ?? Response.json({ resourceType: 'Patient', id: '1' }));
      },
    });
    answers = [busy(503, '0'), busy(429, new Date().toUTCString())];
    await client.read('Patient', '1', undefined, { headers: { 'X-Request-Id': '7' } });
    expect(sent.splice(0)).toEqual(Array(3).fill('GET lab 7'));
    answers = [busy(503, '0')];
    await client.update({ resourceType: 'Patient', id: '1' });
    answers = [busy(503, '0')];
    await client.search('Patient', {}, { post: true }).bundle();
    expect(sent.splice(0)).toEqual(['PUT lab ', 'PUT lab ', 'POST lab ', 'POST lab ']);
    for (const refused of [busy(503), busy(503, '9000'), busy(500, '0')]) {
      answers = [refused];
      await expect(client.read('Patient', '1')).rejects.toMatchObject({ status: refused.status });
    }
    answers = [busy(503, '0')];
    await expect(client.create({ resourceType: 'Patient' })).rejects.toMatchObject({ status: 503 });
    answers = [busy(429, '0')];
    await expect(client.patch('Patient', '1', [])).rejects.toMatchObject({ status: 429 });
    expect(sent.splice(0)).toHaveLength(5);
    answers = Array.from({ length: 9 }, () => busy(503, '0'));
    await expect(client.read('Patient', '1')).rejects.toMatchObject({ status: 503 });
    expect(sent).toHaveLength(4);
  });

  it('asks for another token once where the server does not take the first', async () => {
    const asked: (boolean | undefined)[] = [];
    const bearers: (string | null)[] = [];
    const client = new FhirClient({
      base: 'http://127.0.0.1:1/fhir',
      token: (isRefused) => Promise.resolve(`token-${asked.push(isRefused)}`),
      fetch: (_url, init) => {
        bearers.push(new Headers(init?.headers).get('authorization'));
        const isTaken = bearers.at(-1) === 'Bearer token-2';
        return Promise.resolve(
          isTaken ? Response.json({ resourceType: 'Patient' }) : new Response('', { status: 401 }),
        );
      },
    });
    await client.create({ resourceType: 'Patient' });
    expect([asked, bearers]).toEqual([
      [false, true],
      ['Bearer token-1', 'Bearer token-2'],
    ]);
    await expect(client.read('Patient', '1')).rejects.toMatchObject({ status: 401 });
    expect(bearers).toHaveLength(4);
  });

  it.each(['http://127.0.0.1:1/fhir/../auth/x', 'http://127.0.0.1:1/fhirs/x', 'https://evil.example/', 'file:///x'])(
    'sends no token to %s',
    async (path) => {
      const client = new FhirClient({
        base: 'http://127.0.0.1:1/fhir',
        token: 'secret',
        fetch: () => Promise.reject(new Error('sent')),
      });
      await expect(client.request({ path })).rejects.toThrow('does not lead below');
    },
  );

  it('is smaller than 12 kB for a browser, compressed, with jose', async () => {
    const bundle = await rolldown({
      input: new URL('../../../runtime/client/index.ts', import.meta.url).pathname,
      platform: 'browser',
    });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    await bundle.close();
    expect(output).toHaveLength(1);
    const [{ code }] = output;
    expect(code).not.toMatch(/node:|from"/);
    const size = gzipSync(code).length;
    expect(size).toBeGreaterThan(1000);
    expect(size).toBeLessThan(12_000);
  });
});
