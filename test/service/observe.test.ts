import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../eventually.js';
import { startKiln, type KilnProcess } from './kiln-process.js';

const JSON_TYPE = 'application/fhir+json';

describe('a server that is watched', () => {
  let kiln: KilnProcess;
  let base: string;
  let metricsUrl: string;

  beforeAll(async () => {
    kiln = startKiln(['serve', '--port', '0', '--store', 'sqlite::memory:', '--metrics-port', '0']);
    base = await kiln.started;
    await vi.waitFor(() => expect(kiln.output.err).toContain('/metrics'), EVENTUALLY);
    metricsUrl = /http:\S+\/metrics/.exec(kiln.output.err)?.[0] ?? '';
  }, 120_000);
  afterAll(async () => {
    kiln.child.kill('SIGKILL');
    await kiln.ended;
  });

  const metrics = () => fetch(metricsUrl).then((answer) => answer.text());
  const logged = () =>
    kiln.output.err
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('answers /health/live and /health/ready', async () => {
    const live = await fetch(new URL('/health/live', base));
    expect([live.status, await live.json()]).toEqual([200, { status: 'ok' }]);
    const ready = await fetch(new URL('/health/ready?x=1', base));
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ok' }]);
    expect((await fetch(new URL('/health/ready', base), { method: 'POST' })).status).toBe(405);
  });

  it('neither logs nor counts anything of what a client sends but names', async () => {
    const body = (id: string, value: string) =>
      `{"resourceType":"Patient","id":"${id}","name":[{"family":"${value}"}]}`;
    const headers = { 'content-type': JSON_TYPE, authorization: 'Bearer SECRET-token', cookie: 'SECRET-cookie' };
    const send = (method: string, path: string, content?: string) =>
      fetch(`${base}${path}`, { method, headers, ...(content === undefined ? {} : { body: content }) });
    await send('PUT', '/Patient/SECRET-id', body('SECRET-id', 'SECRET-name'));
    await send('PUT', '/Patient/SECRET-id', '{"SECRET-broken');
    await send('PUT', '/Patient/SECRET-id', body('SECRET-other', 'x'));
    await send('POST', '/Patient', '{"resourceType":"SECRET-type"}');
    await send('GET', '/Patient/SECRET-id?name=SECRET-value&_format=SECRET-format&SECRET+with+space=1');
    await send('GET', '/Patient/SECRET-id/_history/SECRET-version');
    await send('GET', '/SECRET-unknown/SECRET-id?family=SECRET-value');
    await send('GET', '/Patient/SECRET-id/$SECRET-operation');
    await send('DELETE', '/Patient/SECRET-id?reason=SECRET-reason');
    await send('SEARCH', '/Patient?name=SECRET-value').catch(() => {});
    await vi.waitFor(
      () => expect(logged().filter(({ event }) => event === 'request').length).toBeGreaterThanOrEqual(9),
      EVENTUALLY,
    );
    expect(kiln.output.err).not.toContain('SECRET');
    expect(await metrics()).not.toContain('SECRET');
    const put = logged().find(({ method }) => method === 'PUT');
    expect(put).toMatchObject({ level: 'info', route: '[type]/[id]', interaction: 'update', status: 201 });
    expect(put?.['requestId']).toMatch(/^[0-9a-f-]{36}$/);
    expect(put?.['time']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(logged().some(({ params }) => JSON.stringify(params) === '["name","_format","?"]')).toBe(true);
  });

  it('counts by route, interaction and class of status, with bounded labels', async () => {
    const send = (path: string) => fetch(`${base}${path}`).then((answer) => answer.arrayBuffer());
    for (let i = 0; i < 50; i++) await send(`/Basic/none-${i}`);
    const text = await metrics();
    expect(text).toMatch(
      /kiln_http_request_duration_seconds_count\{method="GET",route="\[type\]\/\[id\]",interaction="read",status="4xx"\} 5\d/,
    );
    expect(text).toMatch(/kiln_store_duration_seconds_count\{method="read",outcome="ok"\} \d+/);
    expect(text).toMatch(/kiln_event_loop_delay_seconds\{quantile="0.99"\} 0?\.?\d+/);
    expect(text).toMatch(/kiln_info\{contract="\d+",fhir="5.0.0",node="v\d+.*"\} 1/);
    expect(Number(/process_resident_memory_bytes (\d+)/.exec(text)?.[1])).toBeGreaterThan(1e7);
    expect(text.split('\n').length).toBeLessThan(400);
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(/^(# (HELP|TYPE) .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)$/);
    }
  });

  it('counts what transactions ask of the store, which look at what they are about to write', async () => {
    const body = JSON.stringify({
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        {
          resource: { resourceType: 'Basic', id: 'seen', code: { text: 'x' } },
          request: { method: 'PUT', url: 'Basic/seen' },
        },
        ...['Basic/seen', 'Basic?_id=seen', 'Basic/seen/_history', 'Basic/seen/_history/1'].map((url) => ({
          request: { method: 'GET', url },
        })),
      ],
    });
    const headers = { 'content-type': 'application/fhir+json' };
    const answer = await fetch(base, { method: 'POST', headers, body });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('searchset')]);
  });

  it('serves metrics on their own port only', async () => {
    expect((await fetch(new URL('/metrics', base))).status).toBe(404);
    expect((await fetch(new URL('/fhir/metadata', metricsUrl))).status).toBe(404);
  });
});

describe('the log', () => {
  it('keeps to its level', async () => {
    const { createLog } = await import('../../runtime/observe/create-log.js');
    const lines: string[] = [];
    const log = createLog({ write: (line) => lines.push(line) }, 'error');
    const record = { requestId: 'r', method: 'GET', duration: 1.26 };
    log.request({ ...record, status: 200 });
    log.info('x');
    log.warn('x');
    log.request({ ...record, status: 503 });
    log.defect('r', new Error('boom', { cause: new Error('inner') }));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'error', event: 'request', status: 503, duration: 1.3 },
      { level: 'error', event: 'defect', requestId: 'r', error: expect.stringMatching(/boom[^]*caused by.*inner/) },
    ]);
  });
});

describe('readiness', () => {
  it('is the store’s, asked in bounded time', async () => {
    const { createHealth } = await import('../../runtime/observe/health.js');
    const { createServer } = await import('node:http');
    let result: () => Promise<{ ok: boolean; detail?: string }> = () =>
      Promise.resolve({ ok: false, detail: 'disk full' });
    let clock = 0;
    const health = createHealth(
      () => result(),
      () => (clock += 1000),
    );
    const server = createServer((req, res) => void health.handle(req, res));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/health/ready`;
    const ask = async () => {
      const answer = await fetch(url);
      return [answer.status, await answer.json()];
    };
    expect(await ask()).toEqual([503, { status: 'unavailable', detail: 'disk full' }]);
    result = () => Promise.reject(new Error('secret path'));
    expect(await ask()).toEqual([503, { status: 'unavailable', detail: 'the store does not work' }]);
    result = () => Promise.resolve({ ok: true });
    expect(await ask()).toEqual([200, { status: 'ok' }]);
    health.drain();
    expect(await ask()).toEqual([503, { status: 'unavailable', detail: 'the server is shutting down' }]);
    server.close();
    server.closeAllConnections();
  });
});
