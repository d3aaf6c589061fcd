import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnProcess } from '../service/kiln-process.js';

const root = new URL('../../', import.meta.url).pathname;
const EXAMPLES = join(root, 'test/packages/node_modules/hl7.fhir.r5.examples');
const MB = 1024 * 1024;

const REQUESTS = 200_000;
const TIME = 5 * 60_000;
const CONNECTIONS = 16;

describe('a server over a long time', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-soak-'));
  let kiln: KilnProcess;
  let base: URL;

  beforeAll(async () => {
    spawnSync(process.execPath, [join(root, 'scripts/build.mjs')]);
    const store = `sqlite:${join(folder, 'kiln.db')}`;
    kiln = startKiln(['serve', '--port', '0', '--store', store, '--log-level', 'error'], 'dist');
    base = new URL(await kiln.started);
  });
  afterAll(async () => {
    kiln.child.kill('SIGKILL');
    await kiln.ended;
    rmSync(folder, { recursive: true });
  });

  /** Resident memory of the server, in bytes. */
  const resident = (): number => {
    const status = readFileSync(`/proc/${kiln.child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  };
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const send = (method: string, path: string, body?: object): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/fhir+json' };
      const req = request(
        { agent, host: base.hostname, port: base.port, method, path: `/fhir${path}`, headers },
        (res) => {
          res.resume();
          res.on('end', () => resolve(res.statusCode ?? 0));
        },
      );
      req.on('error', reject);
      req.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const patient = (id: string, i: number) => ({
    resourceType: 'Patient',
    id,
    name: [{ family: `Family ${i}`, given: ['Ada'] }],
    identifier: [{ system: 'urn:soak', value: String(i) }],
    birthDate: '1980-01-01',
  });

  /** One of a mix of requests. */
  function step(i: number): Promise<number> {
    const id = `s${(i * 7919) % 2000}`;
    const kind = i % 20;
    if (kind < 11) return send('GET', `/Patient/${id}`);
    if (kind < 14) return send('GET', `/Patient/${id}/_history/1`);
    if (kind < 16) return send('POST', '/Observation', { resourceType: 'Observation', status: 'final', code: {} });
    if (kind < 19) return send('PUT', `/Patient/${id}`, patient(id, i));
    return send('DELETE', `/Patient/${id}`);
  }

  it.skipIf(process.platform !== 'linux')('needs at most 120 MB after its start', async () => {
    expect(await send('GET', '/metadata')).toBe(200);
    console.log(`after start: ${Math.round(resident() / MB)} MB`);
    expect(resident()).toBeLessThan(120 * MB);
  });

  it.skipIf(process.platform !== 'linux')('keeps its memory within 10 % over 200,000 mixed requests', async () => {
    const end = Date.now() + TIME;
    const counts = new Map<number, number>();
    const samples: number[] = [];
    let next = 0;
    const client = async (): Promise<void> => {
      while (next < REQUESTS && Date.now() < end) {
        const i = next++;
        const status = await step(i);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        if (i % (REQUESTS / 100) === 0) samples.push(resident());
      }
    };
    const start = Date.now();
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
    const seconds = (Date.now() - start) / 1000;
    // The first fifth fills caches and the heap's young generation; the highest of each part evens out collections.
    const peak = (from: number, to: number): number =>
      Math.max(...samples.slice(Math.floor(samples.length * from), Math.floor(samples.length * to)));
    const [early, late] = [peak(0.2, 0.6), peak(0.6, 1)];
    console.log(
      `${next} requests in ${Math.round(seconds)} s (${Math.round(next / seconds)} a second), ${JSON.stringify([...counts])}; ` +
        `${Math.round(early / MB)} MB, later ${Math.round(late / MB)} MB`,
    );
    expect([...counts.keys()].filter((status) => status >= 500)).toEqual([]);
    expect(late).toBeLessThan(early * 1.1);
  });

  it.skipIf(process.platform !== 'linux')('needs at most 250 MB after the examples were loaded beside it', async () => {
    const load = startKiln(['load', EXAMPLES, '--url', base.href], 'dist');
    await load.ended;
    console.log(load.output.out.trim(), `server: ${Math.round(resident() / MB)} MB`);
    expect(load.output.out).toMatch(/^282\d resources/);
    expect(resident()).toBeLessThan(250 * MB);
  });
});
