import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { Reply } from '../../../runtime/core/call.js';
import { createCodecs } from '../../../runtime/http/response/codecs.js';
import { PLAIN, sendReply } from '../../../runtime/http/response/respond.js';
import { Phase, type Entry } from '../../../runtime/interactions/bundle/entry.js';
import { writeEntry } from '../../../runtime/interactions/bundle/response.js';

let server: Server;
let reply: Reply;
let base: string;

beforeAll(async () => {
  const writing = { codecs: createCodecs(100, {}), resourceLimit: 1000 };
  const look = { ...PLAIN, pretty: false, requestId: 'r', isPersonal: true };
  server = createServer((req, res) => void sendReply(req, res, reply, look, base, writing).catch(() => res.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

it('headers of a reply go out beside those of the server', async () => {
  reply = { status: 202, headers: { 'Content-Location': `${base}/job/1`, 'Retry-After': '1' } };
  const answer = await fetch(base);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([202, '1']);
  expect(answer.headers.get('content-location')).toBe(`${base}/job/1`);
});

it('a text goes out with its type, is not sniffed, runs nothing, and is compressed on demand', async () => {
  const content = 'a,b\r\n'.repeat(1000);
  reply = { status: 200, body: { contentType: 'text/csv; charset=utf-8', content } };
  for (const encoding of ['identity', 'gzip', 'br']) {
    const answer = await fetch(base, { headers: { 'Accept-Encoding': encoding } });
    expect(await answer.text()).toBe(content);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('vary')).toBe('Authorization, Accept, Accept-Encoding');
  }
});

it('pieces are streamed, compressed too; a failure in the middle never looks like an end', async () => {
  const pieces = async function* (fails: boolean): AsyncGenerator<string> {
    for (let i = 0; i < 2000; i++) {
      await Promise.resolve();
      yield `{"n":${i}}\n`;
    }
    if (fails) throw new Error('broken');
  };
  for (const encoding of ['identity', 'br']) {
    reply = { status: 200, body: { contentType: 'application/fhir+ndjson', content: pieces(false) } };
    const text = await (await fetch(base, { headers: { 'Accept-Encoding': encoding } })).text();
    expect(text.trim().split('\n')).toHaveLength(2000);
    reply = { status: 200, body: { contentType: 'application/fhir+ndjson', content: pieces(true) } };
    const cut = fetch(base, { headers: { 'Accept-Encoding': encoding } }).then((answer) => answer.text());
    await expect(cut).rejects.toThrow();
  }
});

it('HEAD gets the headers, and the source is released', async () => {
  const source = (async function* (): AsyncGenerator<string> {
    await Promise.resolve();
    yield 'x';
  })();
  reply = { status: 200, body: { contentType: 'text/plain', content: source } };
  const answer = await fetch(base, { method: 'HEAD' });
  expect(answer.headers.get('content-type')).toBe('text/plain');
  expect(await source.next()).toEqual({ done: true, value: undefined });
});

it('as an entry of a Bundle it is a Binary, up to a size', async () => {
  const entry = { method: 'GET', phase: Phase.Read } as Entry;
  const body = { contentType: 'text/csv', content: 'a,b' };
  const written = JSON.parse(await writeEntry(entry, { status: 200, body }, 100)) as object;
  expect(written).toEqual({
    resource: { resourceType: 'Binary', contentType: 'text/csv', data: Buffer.from('a,b').toString('base64') },
    response: { status: '200 OK' },
  });
  await expect(writeEntry(entry, { status: 200, body }, 2)).rejects.toMatchObject({ code: 'not-acceptable' });
});
