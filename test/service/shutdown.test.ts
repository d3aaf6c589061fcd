import { request } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../eventually.js';
import { startKiln, type KilnProcess } from './kiln-process.js';

const MEMORY = ['--port', '0', '--store', 'sqlite::memory:'];

// Each test starts processes, from the sources, which takes seconds where others compete for the processor.
describe('shutdown', { timeout: 120_000 }, () => {
  let kiln: KilnProcess;
  afterEach(async () => {
    kiln.child.kill('SIGKILL');
    await kiln.ended;
  });

  /** A create whose body has begun to arrive. */
  async function beginCreate(base: string) {
    const text = '{"resourceType":"Basic","code":{"text":"x"}}';
    const headers = { 'content-type': 'application/fhir+json', 'content-length': text.length };
    const req = request(`${base}/Basic`, { method: 'POST', headers });
    const status = new Promise<number | string>((resolve) => {
      req.on('response', (res) => resolve(res.resume().statusCode ?? 0));
      req.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    });
    await new Promise<void>((resolve) => req.write(text.slice(0, 5), () => resolve()));
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { status, finish: () => req.end(text.slice(5)) };
  }

  it('is not ready any more, takes no connection, lets a running request end, then ends with 0', async () => {
    kiln = startKiln(['serve', ...MEMORY, '--shutdown-delay', '2s']);
    const base = await kiln.started;
    const ready = async () => {
      const answer = await fetch(new URL('/health/ready', base));
      await answer.arrayBuffer();
      return answer.status;
    };
    expect(await ready()).toBe(200);
    const create = await beginCreate(base);
    kiln.child.kill('SIGTERM');
    await vi.waitFor(async () => expect(await ready()).toBe(503), EVENTUALLY);
    expect((await fetch(new URL('/health/live', base))).headers.get('connection')).toBe('close');
    await vi.waitFor(() => expect(ready()).rejects.toThrow(), EVENTUALLY);
    create.finish();
    expect(await create.status).toBe(201);
    expect(await kiln.ended).toBe(0);
  });

  it('answers at once who waits for changes', async () => {
    kiln = startKiln(['serve', ...MEMORY, '--shutdown-drain', '25s']);
    const base = await kiln.started;
    const { link } = (await (await fetch(`${base}/$changes`)).json()) as { link: { relation: string; url: string }[] };
    const waiting = fetch(`${link.find(({ relation }) => relation === 'next')!.url}&wait=30`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    kiln.child.kill('SIGTERM');
    const answer = await waiting;
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ type: 'history' });
    expect(await kiln.ended).toBe(0);
  });

  it('cuts a request that takes too long, and says so with its exit code', async () => {
    kiln = startKiln(['serve', ...MEMORY, '--shutdown-drain', '500ms']);
    const create = await beginCreate(await kiln.started);
    kiln.child.kill('SIGINT');
    expect(await kiln.ended).toBe(1);
    expect(await create.status).toBe('ECONNRESET');
    expect(kiln.output.err).toContain('some requests took too long and were cut');
  });

  it('ends at once at the second signal', async () => {
    kiln = startKiln(['serve', ...MEMORY, '--shutdown-drain', '60s']);
    await beginCreate(await kiln.started);
    kiln.child.kill('SIGTERM');
    await vi.waitFor(() => expect(kiln.output.err).toContain('SIGTERM'), EVENTUALLY);
    kiln.child.kill('SIGTERM');
    expect(await kiln.ended).toBe(143);
  });
});
