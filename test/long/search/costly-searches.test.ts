import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { atMost } from '../../at-most.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { buildDist } from '../../workers/build-dist.js';
import { createClient } from '../http-client.js';

const [PATIENTS, TOGETHER, NAMES] = [2500, 250, 20];

/** What a search may take, in milliseconds. It is less than the default, so that the test is short. */
const BUDGET = 1500;

/** How long others are measured, in milliseconds: longer than a search may take. */
const TIME = BUDGET + 2000;

/** What one of a hundred others waits longer than it would alone, at most, in milliseconds: beside one. */
const MOST = 100;

/** The same beside a dozen: a database on the same cores has several under way. */
const [MOST_SQLITE, MOST_MONGO] = [250, 500];

/** Runs that may be needed until one is not held up by other programs; none comes after one within the bound. */
const TRIES = 3;

/** Requests of others at a time, and the pause after each, in milliseconds. */
const [CONNECTIONS, PAUSE] = [4, 20];

/** A part of each name, and no other: every name has to be looked through for each. */
const CRITERIA = Array.from({ length: 3000 }, (_, n) => `q${n}x`).join(',');

const folder = mkdtempSync(join(tmpdir(), 'kiln-costly-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ONE_AND_MANY = [1, 12];
describe('costly searches on SQLite', () => {
  beside(() => `sqlite:${join(folder, 'kiln.db')}`, ONE_AND_MANY, MOST_SQLITE);
});
describe('costly searches on SQLite in memory', () => beside(() => 'sqlite::memory:', [12], MOST_SQLITE));
describeOnMongod('costly searches on MongoDB', () => beside(newDatabase, ONE_AND_MANY, MOST_MONGO));

/** @param counts how many costly searches run at a time, by case */
function beside(store: () => string, counts: readonly number[], mostBesideMany: number): void {
  const client = createClient(CONNECTIONS, 60_000);
  let kiln: KilnProcess;
  let base: string;

  beforeAll(async () => {
    await buildDist();
    const limits = ['--validation', 'structure', '--limits-query-time', `${BUDGET}ms`];
    kiln = startKiln(['serve', '--port', '0', ...limits, '--store', store(), '--log-level', 'silent'], 'dist');
    base = await kiln.started;
    for (let at = 0; at < PATIENTS; at += TOGETHER) {
      const entry = Array.from({ length: TOGETHER }, (_, n) => entryOf(at + n));
      const { status } = await client(base, 'POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
      expect(status).toBe(200);
    }
    await others(1500);
  });
  afterAll(async () => {
    client.close();
    kiln.child.kill('SIGKILL');
    await kiln.ended;
  });

  it.each(counts)('leave the server to others: %i at a time', async (together) => {
    let [longest, bound] = [Infinity, 0];
    for (let time = 0; time < TRIES && longest >= bound; time++) {
      const quiet = await others(TIME / 2);
      const busy = await besideCostly(together);
      console.log(`alone ${describeWaits(quiet)}; beside ${together} costly searches ${describeWaits(busy)}`);
      longest = percentile(busy, 0.99);
      bound = atMost(together === 1 ? MOST : mostBesideMany) + percentile(quiet, 0.99);
    }
    expect(longest).toBeLessThan(bound);
  });

  /** How long others wait while so many costly searches run, each of which is refused in time. */
  async function besideCostly(together: number): Promise<number[]> {
    const over = new AbortController();
    setMaxListeners(2 * together, over.signal);
    const answers: { status: number; time: number }[] = [];
    const sending = Array.from({ length: together }, async (_, n) => {
      await sleep(n * 40);
      while (!over.signal.aborted) {
        const answer = await costly(base, over.signal);
        if (answer !== undefined) answers.push(answer);
      }
    });
    const busy = await others(TIME);
    over.abort();
    await Promise.all(sending);
    expect(answers.length).toBeGreaterThanOrEqual(together);
    const longer = atMost(2000);
    for (const { status, time } of answers) {
      expect(status).toBe(503);
      expect(time).toBeLessThan(BUDGET + longer);
    }
    return busy;
  }

  /** How long each of some small requests waits for its answer, in milliseconds. */
  async function others(time: number): Promise<number[]> {
    const end = performance.now() + time;
    const waits: number[] = [];
    const each = Array.from({ length: CONNECTIONS }, async (_, n) => {
      for (let i = n; performance.now() < end; i += CONNECTIONS + 1) {
        const [method, path, body] = REQUESTS[i % REQUESTS.length]!(i % PATIENTS);
        const begun = performance.now();
        const { status } = await client(base, method, path, body);
        expect(status).toBeLessThan(300);
        waits.push(performance.now() - begun);
        await sleep(PAUSE);
      }
    });
    await Promise.all(each);
    return waits;
  }
}

const REQUESTS: readonly ((n: number) => readonly [method: string, path: string, body?: object])[] = [
  (n) => ['GET', `/Patient/p${n}`],
  (n) => ['POST', '/Observation', observation(n)],
  (n) => ['GET', `/Patient?identifier=urn:costly|${n}`],
  (n) => ['GET', `/Observation?subject=Patient/p${n}`],
  (n) => ['GET', `/Patient?birthdate=19${10 + (n % 90)}-01-1${n % 9}`],
  () => ['GET', '/Patient?gender=female&_count=5'],
];

function observation(n: number): object {
  return { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject: { reference: `Patient/p${n}` } };
}

function entryOf(n: number): object {
  const resource = {
    resourceType: 'Patient',
    id: `p${n}`,
    identifier: [{ system: 'urn:costly', value: `${n}` }],
    gender: n % 2 === 0 ? 'female' : 'male',
    birthDate: `19${10 + (n % 90)}-01-1${n % 9}`,
    name: Array.from({ length: NAMES }, (_, i) => ({ family: `Lorem ipsum dolor sit amet ${n} ${i}` })),
  };
  return { resource, request: { method: 'PUT', url: `Patient/p${n}` } };
}

/** One that finds nothing, on a connection of its own. @returns undefined: it was not waited for to its end */
function costly(base: string, over: AbortSignal): Promise<{ status: number; time: number } | undefined> {
  const begun = performance.now();
  const body = new URLSearchParams({ 'name:contains': CRITERIA, _total: 'accurate' }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => (over.aborted ? resolve(undefined) : reject(error));
    const options = { method: 'POST', agent: false, headers, signal: over };
    const sent = request(`${base}/Patient/_search`, options, (answer) => {
      answer.resume();
      answer.once('error', failed);
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, time: performance.now() - begun }));
    });
    sent.once('error', failed);
    sent.end(body);
  });
}

function percentile(waits: readonly number[], share: number): number {
  return waits.toSorted((a, b) => a - b)[Math.floor(waits.length * share)]!;
}

function describeWaits(waits: readonly number[]): string {
  const [middle, most, longest] = [0.5, 0.99, 0.99999].map((share) => percentile(waits, share).toFixed(0));
  return `p50 ${middle} ms, p99 ${most} ms, longest ${longest} ms`;
}
