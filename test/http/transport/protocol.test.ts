import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';

import { codeOf, useToyServer } from '../server.js';

const patient = { resourceType: 'Patient' };

describe('OPTIONS leaves an audit event', () => {
  const told: [string | undefined, string | undefined, number][] = [];
  const server = useToyServer({
    audit: { answered: ({ type, id }, { status }) => void told.push([type, id, status]), failed: () => undefined },
  });
  it('that tells what it was about', async () => {
    for (const path of ['/Patient/1', '/Patient', '/Nothing', '']) await server.send('OPTIONS', path);
    expect(told).toEqual([
      ['Patient', '1', 204],
      ['Patient', undefined, 204],
      [undefined, undefined, 204],
      [undefined, undefined, 204],
    ]);
  });
});

describe('what has no route, or no interaction behind it yet (http.html)', () => {
  const server = useToyServer();

  it.each([
    ['DELETE', '/?identifier=x', 404, 'not-wired', undefined],
    ['POST', '/Patient/1', 405, 'method-not-allowed', 'GET, HEAD, PUT, PATCH, DELETE'],
    ['DELETE', '/Patient/1/_history/1', 405, 'method-not-allowed', 'GET, HEAD'],
    ['POST', '/Patient/_history', 405, 'method-not-allowed', 'GET, HEAD'],
    ['DELETE', '/_history', 405, 'method-not-allowed', 'GET, HEAD'],
    ['PUT', '/Patient/_search', 405, 'method-not-allowed', 'GET, HEAD, POST'],
    ['GET', '/Patient/1/Observation', 200, undefined, undefined],
    ['POST', '/Patient/1/Observation', 405, 'method-not-allowed', 'GET, HEAD'],
    ['GET', '/Patient/1/Basic', 404, 'unknown-path', undefined],
    ['GET', '/Patient/1/Nothing', 404, 'unknown-type', undefined],
    ['GET', '/Basic/1/Observation', 404, 'unknown-path', undefined],
    ['GET', '/Patient/1/Observation/1', 404, 'unknown-path', undefined],
    ['GET', '/', 405, 'method-not-allowed', 'POST'],
    ['GET', '/$data-requirements', 501, 'operation-unsupported', undefined],
    ['GET', '/Patient/1/$apply', 501, 'operation-unsupported', undefined],
    ['GET', '/$frobnicate', 404, 'unknown-operation', undefined],
    ['POST', '/Patient/$frobnicate', 404, 'unknown-operation', undefined],
    ['GET', '/Patient/1/$frobnicate', 404, 'unknown-operation', undefined],
    ['GET', '/Nothing/$frobnicate', 404, 'unknown-type', undefined],
    ['GET', '/Nothing', 404, 'unknown-type', undefined],
    ['GET', '/__proto__/constructor', 404, 'unknown-path', undefined],
    ['GET', '/constructor', 404, 'unknown-type', undefined],
    ['GET', '//Patient/1', 404, 'unknown-path', undefined],
  ])('%s %s: %i %s', async (method, path, status, code, allow) => {
    const answer = await server.send(method, path);
    expect(answer.status).toBe(status);
    expect(answer.headers.allow).toBe(allow);
    if (code !== undefined) expect(codeOf(answer)).toBe(code);
    if (status === 404 && method !== 'HEAD') expect(answer.json().issue[0].code).toBe('not-supported');
  });

  it.each([
    ['GET', '/Patient/1/Basic?x=1', 'Basic is not in the compartment of Patient; search it by itself: [base]/Basic?…'],
    ['GET', '/Patient/1/Pateint', 'Unknown resource type "Pateint"; did you mean Patient?'],
    ['GET', '/Basic/1/Observation', 'There is no compartment of Basic; there is one of Patient'],
    ['DELETE', '/?identifier=x', 'deletion over all types yet; a deletion by criteria names the type'],
    ['GET', '/Pateint/1', 'Unknown resource type "Pateint"; did you mean Patient?'],
    ['POST', '/patient', 'Unknown resource type "patient"; did you mean Patient?'],
    ['GET', '/Patients', 'Unknown resource type "Patients"; did you mean Patient?'],
    ['GET', `/${'Patient'.repeat(20)}`, 'Unknown resource type "PatientPatient'],
    ['GET', '/Patient/a_b', 'There is no such resource: an id is 1 to 64 letters, digits, "-" and "."'],
  ])('%s %s was told as something else: it says %s', async (method, path, text) => {
    expect((await server.send(method, path)).json().issue[0].details.text).toContain(text);
  });

  it('takes a trailing slash', async () => {
    expect((await server.send('GET', '/metadata/')).status).toBe(200);
  });

  it('OPTIONS lists the methods', async () => {
    const answer = await server.send('OPTIONS', '/Patient/1');
    expect([answer.status, answer.headers.allow, answer.text]).toEqual([204, 'GET, HEAD, PUT, PATCH, DELETE', '']);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('outside of /fhir there is nothing', async () => {
    const answer = await server.raw('GET', '/');
    expect([answer.status, codeOf(answer)]).toEqual([404, 'unknown-path']);
    expect(answer.headers['x-powered-by']).toBeUndefined();
  });
});

describe('formats (http.html#mime-type)', () => {
  const server = useToyServer();

  it.each([
    ['application/fhir+json', 201],
    ['application/json', 201],
    ['text/json', 201],
    ['Application/FHIR+JSON; charset=UTF-8', 201],
    ['application/fhir+json; fhirVersion=5.0', 201],
    ['application/fhir+json; fhirVersion="5.0"; charset="utf-8"', 201],
    ['application/fhir+json; fhirVersion=4.0', 415],
    ['application/fhir+json; charset=latin1', 415],
    ['application/fhir+xml', 415],
    ['application/xml', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['json', 415],
    ['', 415],
  ])('Content-Type %j: %i', async (type, status) => {
    const answer = await server.send('POST', '/Patient', patient, { 'content-type': type });
    expect(answer.status).toBe(status);
    if (status === 415) expect(codeOf(answer)).toBe('unsupported-media-type');
  });

  it('refuses a body without Content-Type, as browsers send it across origins', async () => {
    const answer = await server.raw('POST', '/fhir/Patient', JSON.stringify(patient));
    expect(answer.status).toBe(415);
  });

  it.each([
    ['*/*', 200],
    ['application/json', 200],
    ['text/html, application/*;q=0.8', 200],
    ['application/fhir+xml, application/fhir+json;q=0.5', 200],
    ['application/fhir+json; fhirVersion=5.0', 200],
    ['application/fhir+json; fhirVersion=4.0', 406],
    ['application/fhir+xml', 406],
    ['text/html', 200],
    ['application/fhir+json;q=0, text/html', 200],
    ['image/png', 406],
    ['application/fhir+json;q=0, */*', 406],
    ['*/*, application/*;q=0', 406],
  ])('Accept %j: %i', async (accept, status) => {
    const answer = await server.send('GET', '/metadata', undefined, { accept });
    expect(answer.status).toBe(status);
    if (status === 406) expect(answer.text).toContain('text/html is a page for people');
  });

  it.each([
    ['json', 200],
    ['application/json', 200],
    ['application/fhir+json', 200],
    ['application%2Ffhir%2Bjson', 200],
    ['text/json', 200],
    ['xml', 406],
    ['application/fhir+xml', 406],
    ['turtle', 406],
  ])('_format=%s: %i, whatever Accept says', async (format, status) => {
    const answer = await server.send('GET', `/metadata?_format=${format}`, undefined, { accept: 'text/html' });
    expect(answer.status).toBe(status);
    if (status === 406) expect(codeOf(answer)).toBe('not-acceptable');
  });

  it('an Accept for another release was told as a wrong format: it says which release is served', async () => {
    const accept = 'application/fhir+json; fhirVersion=4.0';
    const { text } = await server.send('GET', '/metadata', undefined, { accept });
    expect(text).toContain('answers application/fhir+json of FHIR 5.0 (fhirVersion=5.0), not');
  });

  it('a Binary without Content-Type was told that only FHIR is taken', async () => {
    const answer = await server.raw('POST', '/fhir/Binary', 'x');
    expect([answer.status, codeOf(answer)]).toEqual([415, 'unsupported-media-type']);
    expect(answer.text).toContain('send that of the content, which may be any');
  });

  it('says the order of checks: path, then format, then content', async () => {
    const xml = { 'content-type': 'application/fhir+xml' };
    expect((await server.send('POST', '/Nothing', '<x/>', xml)).status).toBe(404);
    expect((await server.send('PATCH', '/Nothing/1', '<x/>', xml)).status).toBe(404);
    expect((await server.send('PATCH', '/Patient/a_b', '<x/>', xml)).status).toBe(415);
    expect((await server.send('PUT', '/Patient/a_b', '<x/>', xml)).status).toBe(415);
  });
});

describe('limits', () => {
  const server = useToyServer();

  it('a body above 50 MB is 413, also when its length is not told, and the server lives on', async () => {
    const body = Buffer.alloc(51 * 1024 * 1024, ' ');
    const answer = await server.send('POST', '/Patient', body);
    expect([answer.status, codeOf(answer)]).toEqual([413, 'body-too-large']);
    const chunked = await server.send('POST', '/Patient', body, { 'transfer-encoding': 'chunked' });
    expect(chunked.status).toBe(413);
    expect((await server.send('GET', '/metadata')).status).toBe(200);
  });

  it('a form above 1 MB is 413, and the answer says that it is about forms', async () => {
    const form = Buffer.from(`_id=${'a'.repeat(1024 * 1024)}`);
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await server.send('POST', '/Patient/_search', form, type);
    expect([answer.status, codeOf(answer)]).toEqual([413, 'body-too-large']);
    expect(answer.text).toContain('A form may have 1048576 bytes');
  });

  it('a resource above 15 MB is 413', async () => {
    const answer = await server.send('POST', '/Patient', { ...patient, x: 'y'.repeat(15 * 1024 * 1024) });
    expect([answer.status, codeOf(answer)]).toEqual([413, 'resource-too-large']);
  });

  it('a URL above 8 kB is 414', async () => {
    const answer = await server.send('GET', `/metadata?x=${'y'.repeat(8192)}`);
    expect([answer.status, codeOf(answer)]).toEqual([414, 'url-too-long']);
    expect((await server.send('GET', `/Patient?x=${'y'.repeat(8000)}`)).status).toBe(400);
  });

  it('headers above 64 kB are 431', async () => {
    const answer = await server.send('GET', '/metadata', undefined, { 'x-much': 'y'.repeat(70_000) });
    expect([answer.status, codeOf(answer)]).toEqual([431, 'headers-too-large']);
  });

  it('a client that goes away in the middle harms nobody', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => {
        socket.write(
          'POST /fhir/Patient HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
        );
        setTimeout(() => socket.destroy(), 50);
      });
      socket.on('close', () => setTimeout(resolve, 50));
    });
    expect((await server.send('GET', '/metadata')).status).toBe(200);
    expect(server.defects).toEqual([]);
  });

  it.each([
    ['NONSENSE\r\n\r\n', 400, 'request-invalid'],
    ['FOO bar\r\n\r\n', 400, 'request-invalid'],
    // It was told as no HTTP at all.
    ['FOO /fhir/Patient/1 HTTP/1.1\r\nHost: localhost\r\n\r\n', 400, 'method-unknown'],
  ])('%j, which Node cannot read, gets %i and no stack', async (sent, status, code) => {
    const text = await new Promise<string>((resolve) => {
      let received = '';
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(sent));
      socket.on('data', (chunk) => (received += chunk.toString()));
      socket.on('close', () => resolve(received));
    });
    expect(text.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
    expect(text).toContain('"resourceType":"OperationOutcome"');
    expect(text).toContain(`"${code}"`);
  });
});

describe('open mode (decisions.md, Access)', () => {
  const server = useToyServer();

  it.each([
    'localhost',
    'localhost:8080',
    '127.0.0.1',
    '127.9.9.9:1',
    '[::1]',
    '[::1]:8080',
    'LOCALHOST',
    'localhost:',
  ])('serves Host %s', async (host) => {
    expect((await server.send('GET', '/metadata', undefined, { host })).status).toBe(200);
  });

  it.each([
    'example.org',
    'localhost.example.org',
    '127.0.0.1.example.org',
    '10.0.0.1',
    '0.0.0.0',
    '[fe80::1]',
    'x:80',
    '[localhost]',
    '[127.0.0.1]',
    '::1',
    '::1%lo',
    '[::1%lo]',
    '[::1',
    'localhost:99999999',
    'localhost:65536',
    'localhost:80:80',
    'localhost:x',
    'me@localhost',
  ])('answers 403 to Host %s', async (host) => {
    const answer = await server.send('GET', '/metadata', undefined, { host });
    expect([answer.status, codeOf(answer)]).toEqual([403, 'open-mode-host']);
  });

  it('of two Host headers the first alone was judged', async () => {
    for (const second of ['example.org', 'localhost']) {
      const text = await new Promise<string>((resolve) => {
        let received = '';
        const socket = connect(server.port, '127.0.0.1', () =>
          socket.write(
            `GET /fhir/metadata HTTP/1.1\r\nHost: localhost\r\nhOST: ${second}\r\nConnection: close\r\n\r\n`,
          ),
        );
        socket.on('data', (chunk) => (received += chunk.toString()));
        socket.on('close', () => resolve(received));
      });
      expect(text).toMatch(/^HTTP\/1\.1 400 [^]*"header-invalid"/);
    }
  });

  it.each(['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'X-Forwarded-Proto', 'x-forwarded-anything'])(
    'answers 403 to the header %s, before anything else',
    async (name) => {
      const answer = await server.send('GET', '/Nothing', undefined, { [name]: '127.0.0.1' });
      expect([answer.status, codeOf(answer)]).toEqual([403, 'open-mode-proxy']);
    },
  );
});

describe('request ids (http.html#custom)', () => {
  const server = useToyServer();

  it("gives back the client's, or one of its own", async () => {
    const send = (id?: string) =>
      server.send('GET', '/metadata', undefined, id === undefined ? {} : { 'x-request-id': id });
    expect((await send('abc-1')).headers['x-request-id']).toBe('abc-1');
    for (const id of ['Root=1-67891233-abcdef', 'a:b.c_d', 'a"b\\c', 'x'.repeat(200)]) {
      const { headers } = await send(id);
      expect(headers).toMatchObject({ 'x-request-id': id });
      expect(headers['x-correlation-id']).toBeUndefined();
    }
    const own = (await send()).headers['x-request-id'];
    expect(own).toMatch(/^[0-9a-f-]{36}$/);
    expect((await server.raw('GET', '/')).headers['x-request-id']).toBeTruthy();
  });

  it.each([
    ['x y', 'xy'],
    ['ab\u00fcc', 'abc'],
    ['x'.repeat(201), 'x'.repeat(200)],
  ])('R08: %j gets an id of the server, and comes back cleaned in X-Correlation-Id', async (id, cleaned) => {
    for (const [method, path] of [
      ['GET', '/metadata'],
      ['GET', '/Patient/none'],
      ['OPTIONS', '/Patient'],
    ] as const) {
      const { headers } = await server.send(method, path, undefined, { 'x-request-id': id });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers['x-correlation-id']).toBe(cleaned);
    }
  });

  it('R08: an X-Correlation-Id comes back, beside the id of the request', async () => {
    const sent = { 'x-request-id': 'r:1', 'x-correlation-id': 'c:1' };
    expect((await server.send('GET', '/Patient/none', undefined, sent)).headers).toMatchObject(sent);
  });
});
