import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import express, { type Express } from 'express';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { runToken } from '../../../runtime/cli/auth/token.js';
import { createMountGuard, type MountRequest } from '../../../runtime/http/transport/mount-guard.js';
import { createProxies } from '../../../runtime/http/transport/client-address.js';
import { ConfigError, kiln, type Kiln, type KilnOptions } from '../../../runtime/index.js';
import { EVENTUALLY } from '../../eventually.js';
import { bindingOf, connect } from '../../service/subscriptions/socket-peer.js';
import { FHIR_JSON } from '../server.js';

interface Hosted {
  readonly root: string;
  readonly server: Server;
  close(): Promise<unknown>;
}

/** Has an application listen. */
async function host(app: Express): Promise<Hosted> {
  const server = await new Promise<Server>((resolve) => {
    const made = app.listen(0, '127.0.0.1', () => resolve(made));
  });
  const close = (): Promise<unknown> =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, close };
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': FHIR_JSON, ...headers }, body: JSON.stringify(body) });

const PATIENT = { resourceType: 'Patient', name: [{ family: 'Lovelace' }] };

/** A property of JSON that came. */
type Json = any; // eslint-disable-line @typescript-eslint/no-explicit-any

const codeOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as Json).issue[0].details.coding[0].code as string;

describe('Kiln in an Express application', () => {
  const mounted: Kiln[] = [];
  const hosts: Hosted[] = [];
  const start = async (build: (app: Express) => void): Promise<string> => {
    const app = express();
    build(app);
    const hosted = await host(app);
    hosts.push(hosted);
    return hosted.root;
  };
  const mount = (options: KilnOptions): Kiln => {
    const handler = kiln({ auth: 'open', store: 'sqlite::memory:', ...options });
    mounted.push(handler);
    return handler;
  };
  afterAll(async () => {
    for (const each of hosts) await each.close();
    for (const each of mounted) await each.close();
  });

  it('serves FHIR below its path, and leaves the rest to the application', async () => {
    const fhir = mount({});
    const root = await start((app) => {
      app.use('/fhir', fhir);
      app.get('/own', (_req, res) => void res.send('mine'));
    });
    const made = await post(`${root}/fhir/Patient`, PATIENT);
    expect(made.status).toBe(201);
    const location = made.headers.get('location') ?? '';
    expect(location).toMatch(new RegExp(`^${root}/fhir/Patient/[^/]+/_history/1$`));
    expect((await fetch(location)).status).toBe(200);
    const found = (await (await fetch(`${root}/fhir/Patient?family=lovelace`)).json()) as Json;
    expect([found.total, found.link[0].url.startsWith(`${root}/fhir/Patient?`)]).toEqual([1, true]);
    const entry = [{ request: { method: 'POST', url: 'Patient' }, resource: PATIENT }];
    const done = await post(`${root}/fhir`, { resourceType: 'Bundle', type: 'transaction', entry });
    expect(done.status).toBe(200);
    expect(await (await fetch(`${root}/own`)).text()).toBe('mine');
    expect(await codeOf(await fetch(`${root}/fhir/Nothing`))).toBe('unknown-type');
    expect((await fetch(`${root}/fhir/health/ready`)).status).toBe(200);
    const metadata = (await (await fetch(`${root}/fhir/metadata`)).json()) as Json;
    expect(metadata.resourceType).toBe('CapabilityStatement');
    const openApi = (await (await fetch(`${root}/fhir/openapi/Patient.json`)).json()) as Json;
    expect(openApi.servers).toEqual([{ url: `${root}/fhir` }]);
    const page = await (await fetch(`${root}/fhir`, { headers: { Accept: 'text/html' } })).text();
    expect(page).toContain('href="/fhir/ui/');
    expect((await fetch(`${root}/fhir/ui/assets/kiln.css`)).status).toBe(200);
  });

  it('takes web sockets from the server of the application', async () => {
    const fhir = mount({ path: '/r5', 'subscriptions.websocket': true });
    const root = await start((app) => app.use('/r5', fhir));
    hosts.at(-1)!.server.on('upgrade', fhir.upgrade);
    const trigger = [{ resource: 'Patient' }];
    await post(`${root}/r5/SubscriptionTopic`, { resourceType: 'SubscriptionTopic', url: 'http://x.example/t', status: 'active', resourceTrigger: trigger }); // prettier-ignore
    const told = { resourceType: 'Subscription', status: 'requested', topic: 'http://x.example/t', channelType: { code: 'websocket' }, content: 'empty' }; // prettier-ignore
    const made = await post(`${root}/r5/Subscription`, told);
    expect(made.status).toBe(201);
    const binding = bindingOf(
      (await (await post(`${root}/r5/Subscription/$get-ws-binding-token`, undefined)).json()) as Json,
    );
    expect(binding.url).toBe(`${root.replace('http', 'ws')}/r5/websocket`);
    const peer = await connect(binding.url, binding.token);
    await vi.waitFor(() => expect(peer.statuses()[0]).toMatchObject({ type: 'handshake' }), EVENTUALLY);
    await expect(connect(`${root.replace('http', 'ws')}/websocket`)).rejects.toThrow('404');
    await fhir.close();
    expect(await peer.closed).toBe(1001);
  });

  it('is found under another path, below a router, when the settings name it', async () => {
    const root = await start((app) => {
      const router = express.Router();
      router.use('/r5', mount({ path: '/api/r5' }));
      app.use('/api', router);
    });
    const made = await post(`${root}/api/r5/Patient`, PATIENT);
    expect([made.status, made.headers.get('location')?.startsWith(`${root}/api/r5/Patient/`)]).toEqual([201, true]);
  });

  it('is what references below its path on this machine lead to, by the port that it was first asked on', async () => {
    const root = await start((app) => app.use('/api/r5', mount({ path: '/api/r5' })));
    const { port } = new URL(root);
    const patient = (await (await post(`${root}/api/r5/Patient`, PATIENT)).json()) as Json;
    for (const base of [
      `https://localhost:${port}/api/r5`,
      `http://localhost:${port}/fhir`,
      'http://localhost:9/api/r5',
    ]) {
      const subject = { reference: `${base}/Patient/${patient.id}` };
      const observation = { resourceType: 'Observation', status: 'final', code: { text: base }, subject };
      expect((await post(`${root}/api/r5/Observation`, observation)).status).toBe(201);
    }
    const found = (await (await fetch(`${root}/api/r5/Observation?subject:Patient.family=lovelace`)).json()) as Json;
    expect(found.entry.map(({ resource }: Json) => resource.code.text)).toEqual([`https://localhost:${port}/api/r5`]);
  });

  it('says what is wrong where it is mounted on another path', async () => {
    const root = await start((app) => app.use('/r5', mount({})));
    const refused = await fetch(`${root}/r5/metadata`);
    expect(refused.status).toBe(500);
    const outcome = (await refused.json()) as Json;
    expect(outcome.issue[0].details.text).toBe('Kiln is mounted on "/r5", and its option path says "/fhir"');
  });

  it('says what is wrong where the application has read the body', async () => {
    const root = await start((app) => {
      app.use(express.json({ type: [FHIR_JSON] }));
      app.use('/fhir', mount({ 'log.level': 'silent' }));
    });
    const refused = await post(`${root}/fhir/Patient`, PATIENT);
    expect([refused.status, await codeOf(refused)]).toEqual([500, 'body-consumed']);
    expect((await fetch(`${root}/fhir/metadata`)).status).toBe(200);
  });

  it('has the base URL of the settings in links and answers', async () => {
    const handler = kiln({ store: 'sqlite::memory:', 'base-url': 'https://fhir.example.org', 'audit.sink': 'off' });
    mounted.push(handler);
    const root = await start((app) => app.use('/fhir', handler));
    const discovery = (await (await fetch(`${root}/fhir/.well-known/smart-configuration`)).json()) as Json;
    expect(discovery.token_endpoint).toBe('https://fhir.example.org/fhir/auth/token');
    const metadata = (await (await fetch(`${root}/fhir/metadata`)).json()) as Json;
    expect(metadata.implementation.url).toBe('https://fhir.example.org/fhir');
  });

  it('answers no request that was forwarded, unless the settings have a base URL', async () => {
    const root = await start((app) => app.use('/fhir', mount({})));
    const refused = await fetch(`${root}/fhir/metadata`, { headers: { 'X-Forwarded-For': '192.0.2.1' } });
    expect([refused.status, await codeOf(refused)]).toEqual([403, 'mount-local']);
  });

  it('takes no request once it is closed, and a store that cannot be opened fails `ready` and every request', async () => {
    const closed = mount({});
    await closed.ready;
    const broken = mount({ store: 'sqlite:/dev/null/kiln.db', 'log.level': 'silent' });
    await expect(broken.ready).rejects.toThrow();
    const root = await start((app) => {
      app.use('/a/fhir', mount({ path: '/a/fhir' }));
      app.use('/fhir', closed);
      app.use('/b/fhir', broken);
    });
    expect((await fetch(`${root}/fhir/metadata`)).status).toBe(200);
    expect(await closed.close()).toBe(true);
    expect((await fetch(`${root}/fhir/metadata`)).status).toBe(503);
    // That of a wrong path comes first.
    expect((await fetch(`${root}/b/fhir/metadata`)).status).toBe(500);
  });

  it('closes although a hook does not end', async () => {
    const mounted = mount({ auth: 'open', 'shutdown.drain': '50 ms' });
    let isCalled = false;
    mounted.on.afterWrite('*', () => {
      isCalled = true;
      return new Promise(() => {});
    });
    const root = await start((app) => app.use('/fhir', mounted));
    await post(`${root}/fhir/Patient`, PATIENT);
    await vi.waitFor(() => expect(isCalled).toBe(true));
    await mounted.close();
  });

  it('refuses settings that it does not know, that are of what listens, and values that cannot be', () => {
    // @ts-expect-error No such setting.
    expect(() => kiln({ stroe: 'sqlite::memory:' })).toThrow(
      new ConfigError('stroe: there is no such setting; did you mean store?'),
    );
    // @ts-expect-error The application listens.
    expect(() => kiln({ port: 80 })).toThrow('the application that Kiln is mounted in listens');
    expect(() => kiln({ 'limits.body': 'much' })).toThrow('limits.body "much": has to be a size');
    expect(() => kiln({ path: 'fhir/' })).toThrow('has to be a path');
    expect(() => kiln({ auth: 'open', 'base-url': 'https://fhir.example.org' })).toThrow('without authorization');
  });
});

describe('Kiln in an Express application, with authorization, as it is without settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-mount-'));
  const store = `sqlite:${join(folder, 'kiln.db')}`;
  const fhir = kiln({ store });
  let hosted: Hosted;
  beforeAll(async () => {
    hosted = await host(express().use('/fhir', fhir));
  });
  afterAll(async () => {
    await hosted.close();
    await fhir.close();
    rmSync(folder, { recursive: true });
  });

  it('asks for a token, says how one is had on this machine, and takes it', async () => {
    const base = `${hosted.root}/fhir`;
    const refused = await fetch(`${base}/Patient`);
    expect(refused.status).toBe(401);
    expect(((await refused.json()) as Json).issue[0].details.text).toContain(`npx kiln token --url ${base}`);
    const out: string[] = [];
    const terminal = {
      out: (line: string) => void out.push(line),
      err: (line: string) => void out.push(line),
      env: {},
    };
    expect(await runToken({ url: base }, { store }, terminal)).toBe(0);
    const headers = { Authorization: `Bearer ${out[0]}` };
    expect((await post(`${base}/Patient`, PATIENT, headers)).status).toBe(201);
    expect((await fetch(`${base}/Patient`, { headers })).status).toBe(200);
    expect((await fetch(`${base}/auth/jwks.json`)).status).toBe(200);
    expect((await fetch(`${base}/.well-known/oauth-authorization-server`)).status).toBe(200);
  });
});

describe('the guard of Kiln in another application', () => {
  const request = (remoteAddress: string, isEncrypted = false): MountRequest => ({
    headers: {},
    baseUrl: '/fhir',
    socket: { remoteAddress, ...(isEncrypted && { encrypted: true }) } as unknown as MountRequest['socket'],
  });
  const codeFor = (isNamed: boolean, req: MountRequest): string | undefined =>
    createMountGuard({ path: '/fhir', isNamed, proxies: createProxies(['10.0.0.0/24']) })(req)?.code;

  it('serves this machine alone where no base URL is known', () => {
    expect(codeFor(false, request('127.0.0.1'))).toBeUndefined();
    expect(codeFor(false, request('::ffff:127.0.0.1'))).toBeUndefined();
    expect(codeFor(false, request('192.0.2.1'))).toBe('mount-local');
    expect(codeFor(false, request('192.0.2.1', true))).toBe('mount-local');
    expect(codeFor(false, request('10.0.0.7'))).toBe('mount-local');
  });

  it('serves others over TLS, or through a trusted proxy', () => {
    expect(codeFor(true, request('192.0.2.1'))).toBe('mount-insecure');
    expect(codeFor(true, request('192.0.2.1', true))).toBeUndefined();
    expect(codeFor(true, request('10.0.0.7'))).toBeUndefined();
    expect(codeFor(true, request('127.0.0.1'))).toBeUndefined();
  });
});
