import { spawnSync } from 'node:child_process';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { describeOnMongod, newDatabase } from '../mongod/for-tests.js';
import { startKiln, type KilnProcess } from '../service/kiln-process.js';
import { createClient } from './http-client.js';

const root = new URL('../../', import.meta.url).pathname;

const PATIENTS = 5000;
const NAMES = 20;
const TOGETHER = 250;

/** Searches that take longer than they may, at a time; each is sent again some time after its answer. */
const COSTLY = 12;

/** How long others are measured, in milliseconds: longer than a search may take. */
const TIME = 24_000;

/** What others wait at most, in milliseconds, beside what they wait anyway. */
const MOST = 100;

/** Between two requests of the others, in milliseconds. */
const PAUSE = 25;

/** A part of each name, and no other: every name has to be looked through for each. */
const CRITERIA = Array.from({ length: 700 }, (_, n) => `q${n}x`).join(',');

describeOnMongod('costly searches on MongoDB leave the server to others', () => beside(newDatabase));

function beside(store: () => string): void {
  const client = createClient(20, 60_000);
  let kiln: KilnProcess;
  let base: string;

  beforeAll(async () => {
    spawnSync(process.execPath, [join(root, 'scripts/build.mjs')]);
    kiln = startKiln(['serve', '--port', '0', '--store', store(), '--log-level', 'error'], 'dist');
    base = await kiln.started;
    for (let at = 0; at < PATIENTS; at += TOGETHER) {
      const entry = Array.from({ length: TOGETHER }, (_, n) => entryOf(at + n));
      const { status } = await client(base, 'POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
      expect(status).toBe(200);
    }
  });
  afterAll(async () => {
    client.close();
    kiln.child.kill('SIGKILL');
    await kiln.ended;
  });

  it('which read and search within a tenth of a second, as without them', async () => {
    await others(3000);
    const quiet = await others(TIME / 2);
    let isOver = false;
    const answers: { status: number; time: number }[] = [];
    const sending = Array.from({ length: COSTLY }, async (_, n) => {
      while (!isOver) {
        await sleep(n * 150);
        answers.push(await costly(base));
      }
    });
    // The first are under way.
    await sleep(5);
    const busy = await others(TIME);
    isOver = true;
    await Promise.all(sending);
    console.log(`alone ${describeWaits(quiet)}; beside ${answers.length} costly searches ${describeWaits(busy)}`);
    for (const { status, time } of answers) {
      expect(status).toBe(503);
      expect(time).toBeLessThan(13_000);
    }
    expect(answers.length).toBeGreaterThanOrEqual(2 * COSTLY);
    expect(percentile(busy, 0.99)).toBeLessThan(MOST + percentile(quiet, 0.99));
  });

  /** How long each of some small requests waits for its answer, in milliseconds. */
  async function others(time: number): Promise<number[]> {
    const end = performance.now() + time;
    const waits: Promise<number>[] = [];
    for (let n = 0; performance.now() < end; n++) {
      const path = PATHS[n % PATHS.length]!(n % PATIENTS);
      const begun = performance.now();
      const answer = client(base, 'GET', path).then(({ status }) => {
        expect(status).toBe(200);
        return performance.now() - begun;
      });
      waits.push(answer);
      await sleep(PAUSE);
    }
    return Promise.all(waits);
  }
}

const PATHS: readonly ((n: number) => string)[] = [
  (n) => `/Patient/p${n}`,
  (n) => `/Patient?identifier=urn:costly|${n}`,
  (n) => `/Patient?_id=p${n},p${n + 1}&_total=accurate`,
  () => '/Patient?gender=female&_count=5',
];

function entryOf(n: number): object {
  const name = Array.from({ length: NAMES }, (_, i) => ({ family: `Lorem ipsum dolor sit amet ${n} ${i}` }));
  const id = `p${n}`;
  const gender = n % 2 === 0 ? 'female' : 'male';
  const resource = { resourceType: 'Patient', id, identifier: [{ system: 'urn:costly', value: `${n}` }], gender, name };
  return { resource, request: { method: 'PUT', url: `Patient/${id}` } };
}

/** One that finds nothing, on a connection of its own. */
function costly(base: string): Promise<{ status: number; time: number }> {
  const begun = performance.now();
  const body = new URLSearchParams({ 'name:contains': CRITERIA, _total: 'accurate' }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const sent = request(`${base}/Patient/_search`, { method: 'POST', agent: false, headers }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, time: performance.now() - begun }));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

function percentile(waits: readonly number[], share: number): number {
  return waits.toSorted((a, b) => a - b)[Math.floor(waits.length * share)]!;
}

function describeWaits(waits: readonly number[]): string {
  const [middle, most, longest] = [0.5, 0.99, 0.9999].map((share) => percentile(waits, share).toFixed(0));
  return `p50 ${middle} ms, p99 ${most} ms, longest ${longest} ms`;
}
