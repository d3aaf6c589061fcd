import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';

import { codeOf, FHIR_JSON, useToyServer } from '../http/server.js';

/** Sends pieces over a socket while it is open, with pauses of some milliseconds between them, and gives back all that is answered. */
function converse(port: number, pieces: Iterable<string | number>): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
    void (async () => {
      for (const piece of pieces) {
        if (!socket.writable) return;
        if (typeof piece === 'number') await new Promise((next) => setTimeout(next, piece));
        else socket.write(piece);
      }
    })();
  });
}

const post = `POST /fhir/Patient HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${FHIR_JSON}\r\n`;

describe('bad bodies', () => {
  const server = useToyServer();

  it.each([
    ['truncated JSON', '{"resourceType":"Patient","name":[{', 400, 'json-syntax'],
    ['50,000-deep nesting', `{"resourceType":"Patient","x":${'['.repeat(50_000)}`, 400, 'json-depth'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400, 'json-encoding'],
    ['a duplicate key', '{"resourceType":"Patient","id":"a","id":"b"}', 400, 'json-duplicate-key'],
    ['__proto__', '{"resourceType":"Patient","__proto__":{"a":1}}', 400, 'json-forbidden-key'],
    ['nothing', '', 400, 'body-missing'],
    ['NaN', '{"resourceType":"Patient","x":NaN}', 400, 'json-syntax'],
    ['a type of another kind', '{"resourceType":["Patient"]}', 400, 'not-a-resource'],
  ])('%s', async (_name, body, status, code) => {
    const answer = await server.send('POST', '/Patient', body);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
    expect(answer.json().issue[0].details.text.length).toBeGreaterThan(10);
    expect(server.defects).toEqual([]);
  });

  it('a body of 100 MB is refused before it is sent', async () => {
    const answer = await converse(server.port, [
      `${post}Connection: close\r\nContent-Length: 104857600\r\n\r\n{"resource`,
      200,
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*"body-too-large"/);
  });

  it('who asks with Expect hears 413, and is not told to go on', async () => {
    const ask = (length: number) =>
      `${post}Expect: 100-continue\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;
    const large = await converse(server.port, [ask(104_857_600)]);
    expect(large).toMatch(/^HTTP\/1\.1 413 /);
    const body = '{"resourceType":"Patient"}';
    expect(await converse(server.port, [ask(body.length), 50, body])).toMatch(/^HTTP\/1\.1 100 [^]*HTTP\/1\.1 201 /);
  });
});

describe('bad URLs and methods', () => {
  const server = useToyServer();

  const requests: [string, string, number, string][] = [
    ['PUT', `/Patient/${'a'.repeat(65)}`, 400, 'id-invalid'],
    ['GET', `/Patient/${'a'.repeat(65)}`, 404, 'not-found'],
    ['GET', '/Patient/a%00b', 404, 'not-found'],
    ['PUT', '/Patient/a%2Fb', 400, 'id-invalid'],
    ['GET', '/Patient%2Fa', 404, 'unknown-type'],
    // Templates of routes stood for themselves, and reached interactions without a type.
    ...['GET', 'POST', 'PUT', 'DELETE'].flatMap((method) =>
      ['/[type]', '/[type]/[id]', '/%5Btype%5D/%5Bid%5D', '/[type]%2F[id]', '/[type]/1', '/Patient%2F[id]'].map(
        (path): [string, string, number, string] => [method, path, 404, 'unknown-type'],
      ),
    ),
    ['GET', '/Patient/[id]', 404, 'not-found'],
    ['GET', '/Patient/1/_history%2F[vid]', 404, 'unknown-path'],
    ['GET', '/Patient/1/_history/[vid]', 404, 'not-found'],
    ['GET', '/Patient/1/[type]', 404, 'unknown-path'],
    ['GET', '/%00', 404, 'unknown-type'],
    ['GET', '/Patient/%E0%A4%A', 400, 'url-invalid'],
    ['GET', '/Patient//a', 404, 'unknown-path'],
    ['GET', '//Patient/a', 404, 'unknown-path'],
    ['GET', '/Patient/a/_history//', 404, 'unknown-path'],
    ['GET', '/Patient/../metadata', 404, 'unknown-path'],
    ['GET', '/Patient/__proto__', 404, 'unknown-path'],
    ['GET', '/Nothing/1', 404, 'unknown-type'],
    ['GET', '/patient/1', 404, 'unknown-type'],
    ['TRACE', '/Patient/1', 405, 'method-not-allowed'],
    ['PROPFIND', '/Patient/1', 405, 'method-not-allowed'],
    ['GET', `/Patient/1?${'a=b&'.repeat(3000)}`, 414, 'url-too-long'],
    ['GET', `/Patient/1?${'a=1&'.repeat(1750)}`, 400, 'parameter-unknown'],
    ['GET', '/Patient/1?%zz=%00', 400, 'parameter-invalid'],
    ['GET', '/Patient/1?%25zz=%00', 400, 'parameter-unknown'],
    ['GET', '/Patient/1?_format=json&_format=xml', 404, 'not-found'],
  ];
  const titled = requests.map(([method, path, ...rest]) => [method, path.slice(0, 40), ...rest, path] as const);
  it.each(titled)('%s %s: %i %s', async (method, _title, status, code, path) => {
    const answer = await server.send(method, path, method === 'PUT' ? { resourceType: 'Patient' } : undefined);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  });

  it.each(['', 'localhost@evil.example', 'evil.example:80:80', '127.0.0.1.nip.io', '[::1', 'a'.repeat(300)])(
    'Host %j: 403',
    async (host) => {
      expect(
        await converse(server.port, [`GET /fhir/metadata HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`]),
      ).toMatch(/^HTTP\/1\.1 403 /);
    },
  );

  it('no Host, two lengths, a length and chunks, a bare line feed in a header: 400', async () => {
    const heads = [
      'GET /fhir/metadata HTTP/1.1\r\n\r\n',
      `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'GET /fhir/metadata HTTP/1.1\r\nHost: localhost\r\nX: a\nY\x00: b\r\n\r\n',
    ];
    for (const head of heads) expect(await converse(server.port, [head])).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a page of another site cannot write', async () => {
    const headers = { 'content-type': 'text/plain', 'sec-fetch-site': 'cross-site' };
    const answer = await server.send('POST', '/Binary', 'x', headers);
    expect([answer.status, codeOf(answer)]).toEqual([403, 'open-mode-origin']);
  });

  it('garbage after a good request spoils neither its answer nor the server', async () => {
    const good = 'GET /fhir/metadata HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const answer = await converse(server.port, [`${good}\x00\x01garbage\r\n\r\n`]);
    expect(answer.match(/HTTP\/1\.1 \d+/g)?.at(-1)).toMatch(/400|200/);
    const two = await converse(server.port, [`${good}${good.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`]);
    expect(two.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(server.defects).toEqual([]);
  });
});

describe('slow clients', () => {
  const server = useToyServer({
    limits: { headersTime: 300, requestTime: 1_000, bodyIdleTime: 400, connectionIdleTime: 5_000 },
  });

  it('who never ends the headers gets 408', async () => {
    const drops = Array.from({ length: 20 }, (_, i) => [`X-${i}: y\r\n`, 50]).flat();
    const answer = await converse(server.port, ['GET /fhir/metadata HTTP/1.1\r\nHost: localhost\r\n', ...drops]);
    expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*"request-timeout"/);
  });

  it('who stops in the middle of a body gets 408, and the connection ends', async () => {
    const answer = await converse(server.port, [`${post}Content-Length: 100\r\n\r\n{"resource`]);
    expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*Connection: close[^]*"request-timeout"/i);
  });

  it('who drips a body is cut off when the time of a request is over', async () => {
    function* drops(): Generator<string | number> {
      yield `${post}Content-Length: 1000000\r\n\r\n`;
      for (;;) yield* [' ', 100];
    }
    expect(await converse(server.port, drops())).toMatch(/^HTTP\/1\.1 408 /);
    expect((await server.send('GET', '/metadata')).status).toBe(200);
    expect(server.defects).toEqual([]);
  });
});
