import type { RequestListener } from 'node:http';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import { readAllowList } from '../../../../runtime/auth/jwks/allow-list.js';
import { createExchange, ExchangeError } from '../../../../runtime/auth/jwks/exchange.js';
import {
  FETCH_LIMITS,
  fetchDocument,
  resolveHost,
  type Resolver,
} from '../../../../runtime/auth/jwks/fetch-document.js';
import { CLIENT_SETS, createJwksSource } from '../../../../runtime/auth/jwks/jwks-source.js';
import { generateKey } from '../../../../runtime/auth/keys/jws.js';
import { createWorld, publicHalf } from './server-fixture.js';
import { makeCertificates, serveTls, type Certificates, type LocalServer } from './server-tls.js';

let certificates: Certificates;
let elsewhere: Certificates;
const servers: LocalServer[] = [];

beforeAll(() => {
  certificates = makeCertificates('DNS:keys.test,DNS:localhost,IP:127.0.0.1');
  elsewhere = makeCertificates('DNS:other.test');
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(listener: RequestListener, options: Parameters<typeof serveTls>[2] = {}, by = certificates) {
  const server = await serveTls(by, listener, options);
  servers.push(server);
  return server.port;
}

const loopback: Resolver = async () => ['127.0.0.1'];
const LIMITS = { ...FETCH_LIMITS, connect: 20_000, total: 20_000 };
/** For what is to take too long. */
const HASTY = { ...LIMITS, connect: 500, total: 800 };

/** Fetches from a local server by name. */
async function fetchFrom(
  port: number,
  { host = 'keys.test', ca = certificates.ca, resolve = loopback, limits = LIMITS } = {},
) {
  const allow = readAllowList([`${host}:${port}`]);
  return await fetchDocument(
    `https://${host}:${port}/jwks?x=1`,
    { exchange: createExchange(ca), resolve, allow },
    limits,
  );
}

describe('a document over https', () => {
  it('is fetched from the address that was checked, with nothing in the request that tells of us', async () => {
    let seen: object = {};
    const port = await serve((req, res) => {
      seen = { url: req.url, method: req.method, headers: req.headers };
      res.writeHead(200, { 'Cache-Control': 'max-age=5', 'Set-Cookie': 'a=b' }).end('{"keys":[]}');
    });
    const { status, body, headers } = await fetchFrom(port);
    expect([status, body, headers['cache-control']]).toEqual([200, '{"keys":[]}', 'max-age=5']);
    expect(seen).toEqual({
      url: '/jwks?x=1',
      method: 'GET',
      headers: {
        host: `keys.test:${port}`,
        accept: 'application/json',
        'accept-encoding': 'identity',
        connection: 'close',
      },
    });
    // By address, too.
    expect((await fetchFrom(port, { host: '127.0.0.1' })).status).toBe(200);
  });

  it('may be what a form is answered with', async () => {
    const port = await serve((req, res) => {
      let body = '';
      req.on('data', (part: Buffer) => (body += part.toString()));
      req.on('end', () => res.end(JSON.stringify({ method: req.method, length: req.headers['content-length'], body })));
    });
    const url = new URL(`https://localhost:${port}/`);
    const answer = await createExchange(certificates.ca)({ method: 'POST', url, headers: {}, body: 'a=é' }, LIMITS);
    expect(JSON.parse(answer.body)).toEqual({ method: 'POST', length: '4', body: 'a=é' });
  });

  it('is not fetched from a loopback address that nobody allowed', async () => {
    const port = await serve((_req, res) => res.end('{"keys":[]}'));
    const fetching = { exchange: createExchange(certificates.ca), resolve: resolveHost };
    const fetchWith = (entries: string[]) =>
      fetchDocument(`https://localhost:${port}/`, { ...fetching, allow: readAllowList(entries) }, LIMITS);
    await expect(fetchWith([])).rejects.toThrow(/port/);
    await expect(fetchWith([`other:${port}`, '127.0.0.0/8'])).rejects.toThrow(/port/);
    expect((await fetchWith([`localhost:${port}`])).status).toBe(200);
  });

  it.each<[string, RequestListener, RegExp]>([
    ['a redirect', (_req, res) => res.writeHead(302, { Location: 'https://keys.test/' }).end(), /answered 302/],
    ['an error', (_req, res) => res.writeHead(500).end('secret'), /^answered 500$/],
    ['a large answer', (_req, res) => res.end('x'.repeat(70_000)), /more than 65536 bytes/],
    ['a slow answer', () => {}, /took too long/],
    [
      'an answer that drips',
      (_req, res) => {
        res.writeHead(200);
        const timer = setInterval(() => res.write('x'), 50);
        res.on('close', () => clearInterval(timer));
      },
      /took too long/,
    ],
    [
      'half an answer',
      (_req, res) => {
        res.writeHead(200, { 'Content-Length': '100' }).write('{');
        setTimeout(() => res.destroy(), 20);
      },
      /broke off|could not be reached/,
    ],
    ['no HTTP', (req) => req.socket.end('rubbish\r\n\r\n'), /could not be reached/],
  ])('is not taken from %s', async (_name, listener, message) => {
    const limits = String(message).includes('too long') ? HASTY : LIMITS;
    const failed = await fetchFrom(await serve(listener), { limits }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ExchangeError);
    expect((failed as Error).message).toMatch(message);
  });

  it('is not taken from whoever has no good certificate', async () => {
    const listener: RequestListener = (_req, res) => res.end('{"keys":[]}');
    await expect(fetchFrom(await serve(listener), { ca: elsewhere.ca })).rejects.toThrow(ExchangeError);
    const port = await serve(listener, {}, elsewhere);
    await expect(fetchFrom(port, { ca: elsewhere.ca })).rejects.toThrow(/ERR_TLS_CERT_ALTNAME_INVALID/);
  });

  it('is not taken over TLS 1.1, nor with a cipher that is not good', async () => {
    const listener: RequestListener = (_req, res) => res.end('{"keys":[]}');
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(fetchFrom(await serve(listener, old))).rejects.toThrow(ExchangeError);
    const weak = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256' } as const;
    await expect(fetchFrom(await serve(listener, weak))).rejects.toThrow(ExchangeError);
    const good = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' } as const;
    expect((await fetchFrom(await serve(listener, good))).status).toBe(200);
  });

  it('is not waited for where nobody answers, or a name does not resolve', async () => {
    await expect(fetchFrom(1)).rejects.toThrow(/ECONNREFUSED/);
    const never: Resolver = () => new Promise(() => {});
    await expect(fetchFrom(1, { resolve: never, limits: HASTY })).rejects.toThrow(/too long to resolve/);
    const failing: Resolver = async () => {
      throw new Error('ENOTFOUND');
    };
    await expect(fetchFrom(1, { resolve: failing })).rejects.toThrow(/does not resolve/);
  });
});

describe('a client whose keys are behind a URL', () => {
  it('rotates them there, and gets tokens with the new ones', async () => {
    const [first, second] = await Promise.all([generateKey('ES384'), generateKey('ES384')]);
    let keys = [publicHalf(first)];
    let fetched = 0;
    const port = await serve((_req, res) => {
      fetched += 1;
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ keys }));
    });
    const jwks = createJwksSource(
      {
        exchange: createExchange(certificates.ca),
        resolve: resolveHost,
        allow: readAllowList([`localhost:${port}`]),
      },
      CLIENT_SETS,
    );
    const world = await createWorld({ jwks });
    const registration = JSON.stringify({
      id: 'app',
      scope: 'system/Patient.rs',
      jwksUrl: `https://localhost:${port}/`,
    });
    // The register of this world allows no ports; the reader takes what is in the store.
    const previous = await world.maps.get('auth-clients', 'app');
    const text = JSON.stringify({ ...(JSON.parse(registration) as object), enabled: true });
    await world.maps.swap('auth-clients', 'app', previous, text);
    const status = async (key: typeof first) => (await world.post(await world.form({}, { key }))).status;
    expect(await status(first)).toBe(200);
    expect(await status(second)).toBe(401);
    expect(fetched).toBe(2);
    // Within the floor nothing is fetched for it again.
    keys = [publicHalf(first), publicHalf(second)];
    expect(await status(second)).toBe(401);
    expect(fetched).toBe(2);
    const other = createJwksSource({ exchange: createExchange(certificates.ca), resolve: resolveHost }, CLIENT_SETS);
    expect(await other.find(`https://localhost:${port}/`, second.kid, 'ES384')).toHaveProperty('key');
    await servers.splice(0)[0]!.close();
    // What is fresh is good without the server.
    expect(await status(first)).toBe(200);
  });
});
