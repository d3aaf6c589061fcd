import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { generateKey } from '../../../runtime/auth/keys/jws.js';
import { httpSink } from '../../../runtime/cli/load/http-sink.js';
import type { LoadItem } from '../../../runtime/cli/load/items.js';
import { clientTokens, oneToken } from '../../../runtime/cli/load/load-tokens.js';
import { loadItems } from '../../../runtime/cli/load/load-items.js';
import { describeProgress } from '../../../runtime/cli/load/progress.js';
import { LoadStopped } from '../../../runtime/cli/load/sink.js';

describe('kiln load --url', () => {
  let server: Server;
  const failures: string[] = [];
  const waits: number[] = [];
  afterEach(() => {
    failures.length = 0;
    waits.length = 0;
    server.close();
    server.closeAllConnections();
  });

  const serve = (answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> => {
    server = createServer((req, res) => {
      req.resume();
      req.on('end', () => answer(req, res));
    });
    return new Promise((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/fhir/`)),
    );
  };
  async function* items(count: number): AsyncGenerator<LoadItem> {
    for (let i = 0; i < count; i++) {
      const id = i === 0 ? undefined : `p${i}`;
      yield { place: `f${i}`, resource: { resourceType: 'Patient' }, id, size: 10 };
    }
  }
  const load = (url: string, count: number, token?: string) => {
    const sleep = async (time: number): Promise<void> => void waits.push(time);
    const sink = httpSink({ url, sleep, ...(token === undefined ? {} : { tokens: oneToken(token) }) });
    return loadItems(items(count), sink, (place, error) => failures.push(`${place}: ${(error as Error).message}`));
  };
  const none = { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0, bundles: 0 };
  const outcome = (text: string) =>
    JSON.stringify({ resourceType: 'OperationOutcome', issue: [{ details: { text } }] });

  it('of a package is put under another id where the server has another canonical under its own', async () => {
    const stored = new Map<string, string>([['/fhir/CodeSystem/a', 'http://other.example/a']]);
    const url = await serve((req, res) => {
      const [path = ''] = (req.url ?? '').split('?');
      const present = stored.get(path);
      if (req.method === 'PUT') stored.set(path, 'http://x.example/a');
      res.writeHead(req.method === 'PUT' ? 201 : present === undefined ? 404 : 200);
      res.end(JSON.stringify({ resourceType: 'CodeSystem', url: present }));
    });
    async function* systems(): AsyncGenerator<LoadItem> {
      for (const id of ['a', 'b']) {
        const resource = { resourceType: 'CodeSystem', id, url: 'http://x.example/a' };
        yield { place: `x.tgz/${id}`, resource, id, size: 10 };
      }
    }
    const counts = await loadItems(systems(), httpSink({ url }), (...failed) => failures.push(String(failed)), undefined, ['x.tgz']); // prettier-ignore
    expect([counts.created, ...failures]).toEqual([2]);
    expect([...stored.keys()]).toEqual(
      expect.arrayContaining([expect.stringMatching(/^\/fhir\/CodeSystem\/a-[0-9a-f]{16}$/), '/fhir/CodeSystem/b']),
    );
    expect(stored.get('/fhir/CodeSystem/a')).toBe('http://other.example/a');
  });

  describe('of a package, where the id that it goes under', () => {
    const canonical = 'http://x.example/a';
    const moved = '/fhir/CodeSystem/a-0e49ee4088a40719';
    it.each([
      ['is free after another had its own', { [moved]: canonical }, canonical, [moved], []],
      ['has another canonical too', { '/fhir/CodeSystem/a': 'http://y.example', [moved]: 'http://z.example' }, canonical, [], ['http://z.example; the package has http://x.example/a']], // prettier-ignore
      ['is that of a canonical, and it has none', { '/fhir/CodeSystem/a': 'http://y.example' }, undefined, [], ['http://y.example; the package has one without url']], // prettier-ignore
    ])('%s', async (_, given, canonicalOfIts, expected, faults) => {
      const stored = new Map<string, string>(Object.entries(given));
      const put: string[] = [];
      const url = await serve((req, res) => {
        const [path = ''] = (req.url ?? '').split('?');
        if (req.method === 'PUT') put.push(path);
        const present = stored.get(path);
        res.writeHead(req.method === 'PUT' || present !== undefined ? 200 : 404);
        res.end(JSON.stringify({ resourceType: 'CodeSystem', url: present }));
      });
      async function* one(): AsyncGenerator<LoadItem> {
        const resource = { resourceType: 'CodeSystem', id: 'a', ...(canonicalOfIts && { url: canonicalOfIts }) };
        yield { place: 'x.tgz/a', resource, id: 'a', size: 10 };
      }
      await loadItems(one(), httpSink({ url }), (...failed) => failures.push(String(failed)), undefined, ['x.tgz']);
      expect(put).toEqual(expected);
      expect(failures).toEqual(faults.map((fault) => expect.stringContaining(fault)));
    });
  });

  it('of a package is not put where the server does not say whose its id is', async () => {
    const methods: string[] = [];
    const url = await serve((req, res) => {
      methods.push(req.method!);
      res.writeHead(503).end();
    });
    async function* one(): AsyncGenerator<LoadItem> {
      yield {
        place: 'x.tgz/a',
        resource: { resourceType: 'CodeSystem', id: 'a', url: 'http://x.example/a' },
        id: 'a',
        size: 10,
      };
    }
    const sleep = () => Promise.resolve();
    const counts = await loadItems(one(), httpSink({ url, sleep }), (...failed) => failures.push(String(failed)), undefined, ['x.tgz']); // prettier-ignore
    expect([counts.created, counts.failed, new Set(methods)]).toEqual([0, 1, new Set(['GET'])]);
  });

  it('puts what has an id and posts what has none, over few connections', async () => {
    const seen: string[] = [];
    const sockets = new Set<unknown>();
    const url = await serve((req, res) => {
      seen.push(`${req.method} ${req.url} ${req.headers.authorization}`);
      sockets.add(req.socket);
      const old = 'Mon, 01 Jan 2024 00:00:00 GMT';
      if (req.url === '/fhir/Patient/p2') res.writeHead(200, { 'Last-Modified': old });
      else if (req.url === '/fhir/Patient/p3') res.writeHead(200, { 'Last-Modified': new Date().toUTCString() });
      else if (req.url === '/fhir/Patient/p4') res.writeHead(422);
      else res.writeHead(201);
      res.end(req.url === '/fhir/Patient/p4' ? outcome('bad birth date') : '');
    });
    expect(await load(url, 300, 'tok')).toEqual({ ...none, created: 297, updated: 1, unchanged: 1, failed: 1 });
    expect(failures).toEqual(['f4: 422: bad birth date']);
    expect(seen[0]).toBe('POST /fhir/Patient Bearer tok');
    expect(seen).toContain('PUT /fhir/Patient/p1 Bearer tok');
    expect(sockets.size).toBeLessThanOrEqual(16);
  });

  it('tries again when the server is busy, as long as that asks for', async () => {
    let count = 0;
    const url = await serve((_req, res) => {
      count++;
      if (count === 1) res.writeHead(503, { 'Retry-After': '2' });
      else if (count === 2) res.writeHead(429);
      else res.writeHead(201);
      res.end();
    });
    expect(await load(url, 1)).toEqual({ ...none, created: 1 });
    expect(waits[0]).toBe(2000);
    expect(waits.length).toBe(2);
  });

  it('gives up on one that stays busy', async () => {
    const url = await serve((_req, res) => res.writeHead(503).end());
    expect(await load(url, 2)).toEqual({ ...none, failed: 2 });
    expect(failures[0]).toMatch(/503: no reason given/);
  });

  it.each([
    [401, undefined, 'wants a token (401); give one with --token'],
    [401, 'old', 'does not take the token (401)'],
    [403, 'weak', 'forbids this (403): no scope'],
  ])('stops at %i', async (status, token, message) => {
    let count = 0;
    const url = await serve((_req, res) => {
      count++;
      res.writeHead(status).end(outcome('no scope'));
    });
    const loading = load(url, 300, token);
    await expect(loading).rejects.toThrow(LoadStopped);
    await expect(loading).rejects.toThrow(message);
    expect(count).toBeLessThanOrEqual(8);
  });

  it('posts batches and transactions to the base, once, and counts their entries', async () => {
    const seen: string[] = [];
    const url = await serve((req, res) => {
      seen.push(`${req.method} ${req.url} ${req.headers.prefer}`);
      if (seen.length === 2) return void res.writeHead(412).end(outcome('no match'));
      const now = new Date().toISOString();
      const answers = ['201 Created', '200 OK', '200 OK', '404 Not Found'].map((status, n) => ({
        response: { status, lastModified: n === 2 ? '2020-01-01T00:00:00Z' : now },
      }));
      res.end(JSON.stringify({ resourceType: 'Bundle', type: 'batch-response', entry: answers }));
    });
    const methods = ['POST', 'PUT', 'PUT', 'PUT'];
    const entry = methods.map((method) => ({ request: { method, url: 'Patient/x' } }));
    const bundle = { resourceType: 'Bundle', type: 'batch', entry };
    async function* bundles(): AsyncGenerator<LoadItem> {
      for (const place of ['a', 'b']) yield { place, resource: bundle, id: undefined, size: 10, isExecuted: true };
    }
    const tell = (place: string, error: unknown) => void failures.push(`${place}: ${(error as Error).message}`);
    const counts = await loadItems(bundles(), httpSink({ url }), tell);
    expect(counts).toEqual({ ...none, created: 1, updated: 1, unchanged: 1, failed: 2 });
    expect(failures).toEqual(['a entry[3]: 404 Not Found', 'b: 412: no match']);
    expect(seen).toEqual(['POST /fhir/ return=minimal', 'POST /fhir/ return=minimal']);
  });

  it('tells faults in Bundles as they are told without a server: the first five, each with its place once', async () => {
    const issue = Array.from({ length: 7 }, (_, i) => ({
      details: { text: i === 0 ? 'Of all' : `Patient.name[${i}]: no name` },
      ...(i > 0 && { expression: [`Bundle.entry[3].resource.name[${i}]`] }),
    }));
    const url = await serve((_req, res) => void res.writeHead(400).end(JSON.stringify({ issue })));
    await expect(load(url, 1)).resolves.toMatchObject({ failed: 1 });
    const places = [1, 2, 3, 4].map((i) => `Bundle.entry[3].resource.name[${i}]: no name`);
    expect(failures).toEqual([`f0: 400: ${['Of all', ...places, 'and 2 more'].join('; ')}`]);
  });

  describe('as a client that asks for tokens', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-load-'));
    const file = join(folder, 'lab.jwk');
    beforeAll(async () => writeFileSync(file, JSON.stringify(await generateKey('ES384'))));
    afterAll(() => rmSync(folder, { recursive: true }));

    /** A server whose tokens are good for so many requests. @returns the tokens that it gave */
    const serveTokens = async (uses: number, given: string[]): Promise<string> => {
      const used = new Map<string, number>();
      const url = await serve((req, res) => {
        if (req.url === '/fhir/.well-known/smart-configuration') {
          return void res.end(JSON.stringify({ token_endpoint: url.replace('/fhir/', '/auth/token') }));
        }
        if (req.url === '/auth/token' && uses === 0) {
          return void res.writeHead(401).end(JSON.stringify({ error: 'invalid_client' }));
        }
        if (req.url === '/auth/token') {
          given.push(`t${given.length}`);
          return void res.end(JSON.stringify({ access_token: given.at(-1) }));
        }
        const token = String(req.headers.authorization).replace('Bearer ', '');
        const count = (used.get(token) ?? 0) + 1;
        used.set(token, count);
        res.writeHead(given.includes(token) && count <= uses ? 201 : 401).end();
      });
      return url;
    };
    const loadAs = async (url: string, count: number) => {
      const sink = httpSink({ url, tokens: await clientTokens(url, 'lab', file) });
      return loadItems(items(count), sink, () => {});
    };

    it('gets another one whenever one has run out, and one for all', async () => {
      const given: string[] = [];
      expect(await loadAs(await serveTokens(40, given), 100)).toEqual({ ...none, created: 100 });
      expect(given).toEqual(['t0', 't1', 't2']);
    });

    it('stops where it gets none, or none that is taken', async () => {
      await expect(loadAs(await serveTokens(0, []), 10)).rejects.toThrow(
        /^no token for lab: invalid_client.*kiln client list/,
      );
      server.close();
      const given: string[] = [];
      await expect(loadAs(await serveTokens(-1, given), 10)).rejects.toThrow('does not take the token (401)');
      expect(given.length).toBeLessThanOrEqual(9);
    });
  });

  it('follows no redirect, so that the token stays with its server', async () => {
    const url = await serve((_req, res) => res.writeHead(307, { Location: 'http://127.0.0.1:1/' }).end());
    await expect(load(url, 1, 't')).rejects.toThrow(LoadStopped);
  });

  it('says what cannot be reached', async () => {
    const url = await serve(() => {});
    server.close();
    server.closeAllConnections();
    await expect(load(url, 1)).rejects.toThrow('ECONNREFUSED');
  });
});

describe('progress of kiln load', () => {
  it('shows part, rate and time left', () => {
    expect(describeProgress({ read: 50, total: 200, resources: 500 }, 10)).toBe(
      '[======>                 ]  25 %  500 resources, 50 a second, 30 s left',
    );
    expect(describeProgress({ read: 200, total: 200, resources: 9 }, 3)).toContain('[========================] 100 %');
    expect(describeProgress({ read: 5, total: 0, resources: 500 }, 10)).toBe('500 resources, 50 a second');
  });
});
