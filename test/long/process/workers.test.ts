import { Agent, request } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';

import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { startKiln, type KilnProcess } from '../../service/kiln-process.js';

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Over a connection of its own, so that the next process gets it. */
function ask(url: string, method = 'GET', body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = body === '' ? {} : { 'content-type': 'application/fhir+json' };
    const req = request(url, { method, headers, agent: new Agent() }, (res) => {
      let text = '';
      res.on('data', (chunk) => (text += String(chunk)));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text }));
      res.once('error', reject);
    });
    req.once('error', reject);
    req.end(body);
  });
}

// Each test starts processes, from the sources, which takes seconds where others compete for the processor.
describeOnMongod('kiln serve --workers', () => {
  const started: KilnProcess[] = [];
  afterEach(async () => {
    for (const { child, ended } of started.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
  });

  function serve(...args: string[]): KilnProcess {
    const kiln = startKiln([
      'serve',
      '--port',
      '0',
      '--validation',
      'structure',
      '--store',
      newDatabase(),
      '--workers',
      '2',
      ...args,
    ]);
    started.push(kiln);
    return kiln;
  }

  /** Processes that answered so far. */
  function pidsOf({ output }: KilnProcess): number[] {
    const lines = output.err.split('\n').filter((line) => line.includes('"event":"request"'));
    return [...new Set(lines.map((line) => (JSON.parse(line) as { pid: number }).pid))];
  }

  /** Asks until each of the two has answered. */
  async function findWorkers(kiln: KilnProcess, base: string, except: readonly number[] = []): Promise<number[]> {
    let found: number[] = [];
    await vi.waitFor(
      async () => {
        expect((await ask(`${base}/metadata`)).status).toBe(200);
        found = pidsOf(kiln).filter((pid) => !except.includes(pid));
        expect(found).toHaveLength(2);
      },
      { timeout: 30_000, interval: 20 },
    );
    return found;
  }

  function isAlive(pid: number): boolean {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  }

  it(
    'is several processes on one port that see what any of them wrote, each with its metrics',
    { timeout: 120_000 },
    async () => {
      // Below the ports that the system gives to those who ask for any.
      const metrics = 20_000 + Math.floor(Math.random() * 10_000);
      const kiln = serve('--metrics-port', String(metrics));
      const base = await kiln.started;
      const workers = await findWorkers(kiln, base);
      expect(workers).not.toContain(kiln.child.pid);
      for (let n = 1; n <= 6; n++) {
        const body = JSON.stringify({ resourceType: 'Basic', id: 'a', code: { text: `${n}` } });
        expect((await ask(`${base}/Basic/a`, 'PUT', body)).status).toBe(n === 1 ? 201 : 200);
        const read = await ask(`${base}/Basic/a`);
        expect(JSON.parse(read.text)).toMatchObject({ meta: { versionId: `${n}` }, code: { text: `${n}` } });
      }
      for (const port of [metrics, metrics + 1]) {
        const { status, text } = await ask(`http://127.0.0.1:${port}/metrics`);
        expect(status).toBe(200);
        expect(text).toMatch(/^kiln_http_request_duration_seconds_count\{.*interaction="capabilities".*\} [1-9]/m);
      }
      kiln.child.kill('SIGTERM');
      expect(await kiln.ended).toBe(0);
      expect(kiln.output.out).toMatch(/^Kiln serves FHIR R5 at http:\S+\/fhir with 2 processes\n$/);
      expect(workers.filter(isAlive)).toEqual([]);
    },
  );

  it('starts those again that die, all at once too', { timeout: 120_000 }, async () => {
    const kiln = serve();
    const base = await kiln.started;
    const first = await findWorkers(kiln, base);
    process.kill(first[0]!, 'SIGTERM');
    const second = await findWorkers(kiln, base, first.slice(0, 1));
    expect(second).toContain(first[1]);
    expect(kiln.output.err).toMatch(/worker [0-9]+ ended with 0; another is started in 500 ms/);
    for (const pid of second) process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(second.filter(isAlive)).toEqual([]), 10_000);
    await vi.waitFor(() => ask(`${base}/metadata`), { timeout: 60_000, interval: 100 });
    await findWorkers(kiln, base, [...first, ...second]);
    expect(kiln.output.err).toMatch(/worker [0-9]+ ended with SIGKILL; another is started in [0-9]+ ms/);
    kiln.child.kill('SIGINT');
    expect(await kiln.ended).toBe(0);
  });

  it('ends the connection that was on its way to one that died', { timeout: 120_000 }, async () => {
    const kiln = serve();
    const base = await kiln.started;
    const [first] = await findWorkers(kiln, base);
    process.kill(first!, 'SIGSTOP');
    const asked = Array.from({ length: 4 }, () =>
      ask(`${base}/metadata`).then(
        ({ status }) => String(status),
        (error: NodeJS.ErrnoException) => error.code,
      ),
    );
    // The one that stands still was handed one of them; the other three are answered.
    await sleep(1000);
    process.kill(first!, 'SIGKILL');
    expect((await Promise.all(asked)).sort()).toEqual(['200', '200', '200', 'ECONNRESET']);
  });

  it('lets requests in progress end, though the signal reaches everyone', { timeout: 120_000 }, async () => {
    const kiln = serve();
    const base = await kiln.started;
    const workers = await findWorkers(kiln, base);
    const text = '{"resourceType":"Basic","code":{"text":"x"}}';
    const creates = Array.from({ length: 6 }, () => {
      const headers = { 'content-type': 'application/fhir+json', 'content-length': text.length };
      const req = request(`${base}/Basic`, { method: 'POST', headers, agent: new Agent() });
      const status = new Promise((resolve) => {
        req.on('response', (res) => resolve(res.resume().statusCode));
        req.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      });
      req.write(text.slice(0, 5));
      return { req, status };
    });
    await sleep(300);
    for (const pid of [kiln.child.pid!, ...workers]) process.kill(pid, 'SIGINT');
    await sleep(300);
    for (const { req } of creates) req.end(text.slice(5));
    expect(await Promise.all(creates.map(({ status }) => status))).toEqual(creates.map(() => 201));
    expect(await kiln.ended).toBe(0);
  });

  it('ends at once at a second signal', { timeout: 120_000 }, async () => {
    const kiln = serve('--shutdown-delay', '60s');
    const workers = await findWorkers(kiln, await kiln.started);
    kiln.child.kill('SIGTERM');
    await vi.waitFor(() => expect(kiln.output.err).toContain('the workers may end'), 10_000);
    kiln.child.kill('SIGTERM');
    expect(await kiln.ended).toBe(143);
    await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), 10_000);
  });

  it('leaves no worker behind when it is killed', { timeout: 120_000 }, async () => {
    const kiln = serve();
    const workers = await findWorkers(kiln, await kiln.started);
    kiln.child.kill('SIGKILL');
    await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), 10_000);
  });

  it('gives up where they cannot start', { timeout: 120_000 }, async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const kiln = serve('--port', String(port));
    expect(await kiln.ended).toBe(1);
    expect(kiln.output.out).toBe('');
    expect(kiln.output.err).toBe(
      `kiln: port ${port} of 127.0.0.1 is in use; choose another with --port\nkiln: a worker ended before it served\n`,
    );
    taken.close();
  });

  it('gives up where none can be started again', { timeout: 120_000 }, async () => {
    const kiln = serve();
    const base = await kiln.started;
    for (const pid of await findWorkers(kiln, base)) process.kill(pid, 'SIGKILL');
    // Their port is free until they are started again.
    const taken = createServer();
    await vi.waitFor(
      () =>
        new Promise<void>((resolve, reject) => {
          taken.once('error', reject).listen(Number(new URL(base).port), '127.0.0.1', resolve);
        }),
      { timeout: 10_000, interval: 10 },
    );
    expect(await kiln.ended).toBe(1);
    expect(kiln.output.err).toMatch(/^kiln: workers keep dying before they serve$/m);
    taken.close();
  });
});
