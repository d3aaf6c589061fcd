import { describe, expect, it } from 'vitest';

import { codeOf, useToyServer, type Answer } from '../server.js';

const APP = 'http://localhost:5173';
const OTHER = 'https://other.example';

/** What a browser asks before it sends what a form could not. */
const preflight = (origin: string) => ({ origin, 'access-control-request-method': 'PUT' });

function corsOf({ headers }: Answer): object {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));
}

describe('pages of other origins (https://fetch.spec.whatwg.org/#http-cors-protocol)', () => {
  const server = useToyServer({ corsOrigins: [APP] });

  it('one that is named may read and write, and sees what it needs', async () => {
    const ada = { resourceType: 'Patient', id: 'ada' };
    const written = await server.send('PUT', '/Patient/ada', ada, { origin: APP });
    const read = await server.send('GET', '/Patient/ada', undefined, { origin: APP });
    const missing = await server.send('GET', '/Patient/none', undefined, { origin: APP });
    expect([written.status, read.status, missing.status]).toEqual([201, 200, 404]);
    for (const answer of [written, read, missing]) {
      expect(corsOf(answer)).toEqual({
        'access-control-allow-origin': APP,
        'access-control-expose-headers': expect.stringContaining('ETag') as string,
      });
    }
    expect(read.headers.vary).toBe('Accept, Accept-Encoding, Origin');
  });

  it('is told beforehand, without a token', async () => {
    const answer = await server.send('OPTIONS', '/Patient/ada', undefined, preflight(APP));
    expect([answer.status, answer.text, answer.headers.vary]).toEqual([204, '', 'Origin']);
    expect(corsOf(answer)).toEqual({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': expect.stringMatching(/Authorization.*Content-Type.*If-Match.*Prefer/) as string,
      'access-control-max-age': '600',
    });
  });

  it.each([OTHER, 'null', `${APP}.evil.example`, 'http://localhost', APP.toUpperCase()])(
    'another, %s, is told nothing',
    async (origin) => {
      const told = await server.send('OPTIONS', '/Patient/ada', undefined, preflight(origin));
      const read = await server.send('GET', '/Patient', undefined, { origin });
      expect([told.status, corsOf(told)]).toEqual([204, {}]);
      expect([read.status, corsOf(read)]).toEqual([200, {}]);
      // A cache has to know that others are told otherwise.
      expect([told.headers.vary, read.headers.vary]).toEqual(['Origin', 'Accept, Accept-Encoding, Origin']);
    },
  );

  it('credentials of the browser are never let in', async () => {
    for (const method of ['GET', 'OPTIONS']) {
      for (const path of ['/metadata', '/Patient']) {
        const { headers } = await server.send(method, path, undefined, preflight(APP));
        expect(headers['access-control-allow-credentials']).toBeUndefined();
      }
    }
  });

  it('/metadata is for every page', async () => {
    for (const origin of [APP, OTHER, 'null']) {
      const read = await server.send('GET', '/metadata?_format=xml&_format=json', undefined, { origin });
      expect(read.headers['access-control-allow-origin']).toBe('*');
      const told = await server.send('OPTIONS', '/metadata', undefined, preflight(origin));
      expect([told.status, corsOf(told)]).toEqual([
        204,
        expect.objectContaining({ 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET, HEAD' }),
      ]);
    }
    const { headers } = await server.send('GET', '/metadata/');
    expect(headers['access-control-allow-origin']).toBe('*');
  });

  it('content, large answers and paths outside FHIR have them too', async () => {
    await server.raw('PUT', '/fhir/Binary/b', 'x', { 'content-type': 'text/plain', origin: APP });
    const content = await server.raw('GET', '/fhir/Binary/b', undefined, { origin: APP, accept: '*/*' });
    const nothing = await server.raw('GET', '/nothing', undefined, { origin: APP });
    expect([content.text, nothing.status]).toEqual(['x', 404]);
    for (const answer of [content, nothing]) {
      expect(answer.headers['access-control-allow-origin']).toBe(APP);
      expect(answer.headers.vary).toMatch(/^Accept.*, Origin$/);
    }
  });
});

describe('without origins that are named', () => {
  const server = useToyServer();

  it('only /metadata is for pages', async () => {
    const read = await server.send('GET', '/Patient', undefined, { origin: APP });
    const told = await server.send('OPTIONS', '/Patient', undefined, preflight(APP));
    const open = await server.send('GET', '/metadata', undefined, { origin: APP });
    expect([read, told].map(corsOf)).toEqual([{}, {}]);
    expect([told.status, read.headers.vary]).toEqual([204, 'Accept, Accept-Encoding']);
    expect(open.headers['access-control-allow-origin']).toBe('*');
  });
});

describe('a server behind proxies', () => {
  const trusting = useToyServer({ proxies: { isPeer: () => true } });
  const refusing = useToyServer({ proxies: { isPeer: () => false } });

  it('serves what comes through them, and nothing else', async () => {
    expect((await trusting.send('GET', '/metadata')).status).toBe(200);
    for (const path of ['/fhir/metadata', '/fhir/Patient/1', '/auth/token', '/nothing']) {
      const answer = await refusing.raw('POST', path, 'x=1', { authorization: 'Bearer x' });
      expect([answer.status, codeOf(answer), answer.headers.connection]).toEqual([403, 'proxy-untrusted', 'close']);
    }
  });
});

describe('a server with a base URL', () => {
  const server = useToyServer({ baseUrl: 'https://fhir.example/kiln/fhir' });

  it('names it in links, whatever Host says', async () => {
    const host = { host: '127.0.0.1' };
    const made = await server.send('POST', '/Patient', { resourceType: 'Patient' }, host);
    expect(made.headers.location).toMatch(/^https:\/\/fhir\.example\/kiln\/fhir\/Patient\/[^/]+\/_history\/1$/);
    const found = (await server.send('GET', '/Patient?_count=1', undefined, host)).json();
    expect(found.link[0].url).toMatch(/^https:\/\/fhir\.example\/kiln\/fhir\/Patient\?/);
    expect(found.entry[0].fullUrl).toMatch(/^https:\/\/fhir\.example\/kiln\/fhir\/Patient\//);
    const statement = (await server.send('GET', '/metadata')).json();
    expect(statement.implementation.url).toBe('https://fhir.example/kiln/fhir');
  });
});
