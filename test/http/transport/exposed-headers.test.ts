import { afterAll, expect, it } from 'vitest';

import type { AppOptions } from '../../../runtime/http/app.js';
import { openStore } from '../../contract/open-store.js';
import { ASYNC, jobsServer } from '../jobs/jobs-server.js';
import type { Answer } from '../server.js';

const APP = 'http://localhost:5173';
const store = await openStore('sqlite::memory:');
afterAll(() => store.close());
const options: Partial<AppOptions> = { corsOrigins: [APP] };
const server = jobsServer(store, options);

/** What browsers show to pages of other origins unasked. https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name */
const SHOWN = 'cache-control content-language content-length content-type expires last-modified pragma'.split(' ');

/** What is for browsers, caches and connections, and says nothing to a page. */
const NOT_FOR_PAGES = [
  ...['access-control-allow-origin', 'access-control-expose-headers', 'vary', 'connection', 'keep-alive'],
  ...['transfer-encoding', 'x-content-type-options', 'content-security-policy', 'referrer-policy'],
  // Of our own pages.
  'kiln-page',
];

it('pages of other origins see every header that says something to clients', async () => {
  const seen = new Set<string>();
  const hidden = new Set<string>();
  const look = ({ headers, text }: Answer): void => {
    const exposed = headers['access-control-expose-headers'];
    expect(exposed, text).toBeDefined();
    const shown = [...SHOWN, ...String(exposed).toLowerCase().split(', '), ...NOT_FOR_PAGES];
    for (const name of Object.keys(headers)) (shown.includes(name) ? seen : hidden).add(name);
  };
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    who: Pick<typeof server, 'send'> = server.all,
  ): Promise<Answer> => {
    const answer = await who.send(method, path, body, { origin: APP, ...headers });
    look(answer);
    return answer;
  };
  const reader = server.as('system/*.rs', 'reader');
  const patient = { resourceType: 'Patient', id: 'a' };

  await call('PUT', '/Patient/a', patient, { 'x-correlation-id': 'mine' });
  await call('PUT', '/Patient/a', { ...patient, active: true });
  await call('POST', '/Patient', patient, { 'if-none-exist': '_id=a' });
  await call('GET', '/Patient/a', undefined, { 'if-none-match': 'W/"2"' });
  await call('GET', '/Patient?_id=a', undefined, { 'accept-encoding': 'gzip' });
  await call('GET', '/Patient/a', undefined, { accept: 'text/html' });
  await call('PATCH', '/Patient/a', 'x', { 'content-type': 'text/plain' });
  await call('PUT', '/Patient/a', patient, { 'content-encoding': 'br' });
  await call('POST', '/Patient/a', patient);
  await call('DELETE', '/Patient/a', undefined, {}, reader);
  look(await server.raw('GET', '/fhir/Patient/a', undefined, { origin: APP }));
  const content = { 'content-type': 'text/plain', 'x-security-context': 'Patient/a' };
  await call('PUT', '/Binary/b', 'content', content);
  await call('GET', '/Binary/b', undefined, { accept: '*/*' });
  await call('GET', '/Binary/b', undefined, { accept: '*/*', range: 'bytes=0-2' });
  await call('GET', '/Binary/b', undefined, { accept: '*/*', range: 'bytes=90-' });
  const started = await call('GET', '/$export', undefined, ASYNC, reader);
  const status = String(started.headers['content-location']).replace(/^.*?\/fhir/, '');
  const waiting = await call('GET', status, undefined, {}, reader);
  expect(waiting.status).toBe(202);
  await server.finish();
  const done = await call('GET', status, undefined, {}, reader);
  expect(done.status, done.text).toBe(200);
  for (const { url } of done.json().output) await call('GET', url.replace(/^.*?\/fhir/, ''), undefined, {}, reader);
  look(await server.raw('GET', '/nothing', undefined, { origin: APP }));

  expect([...hidden]).toEqual([]);
  const wanted = ['retry-after', 'x-progress', 'content-location', 'location', 'etag', 'last-modified', 'expires'];
  const others = ['www-authenticate', 'x-request-id', 'x-correlation-id', 'allow', 'accept-patch', 'content-range'];
  expect([...seen]).toEqual(expect.arrayContaining([...wanted, ...others]));
});
