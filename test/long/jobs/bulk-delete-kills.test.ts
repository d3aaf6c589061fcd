import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';

import type { Resource } from '../../../runtime/fhir/resource.js';
import { load } from '../../bench/data/load-clinic.js';
import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { createClient } from '../http-client.js';
import { Servers } from '../servers.js';
import { soak } from '../soak.js';

/** Resources that the criteria find; there is one more that they do not for each four. On MongoDB each is a transaction of its own. */
const MATCHES = { sqlite: soak(3000), mongo: soak(1000) };
const othersOf = (matches: number): number => Math.ceil(matches / 4);

const KILLS = 2;
const CLIENTS = 8;

/** Requests of a measurement without the job, and of those that warm a process. */
const [REQUESTS, WARM] = [800, 400];

/** What 99 of 100 requests of an idle server may take, in milliseconds: below it the noise of the machine decides. */
const FLOOR = 10;

/** What a process may grow by, in MB, while it deletes; what is kept of each resource would be more at length. */
const GROWTH = 60;

const PARAMETERS = { 'content-type': 'application/fhir+json', prefer: 'respond-async' };

function* resources(matches: number): Generator<Resource> {
  const text = 'x'.repeat(500);
  const basic = (id: string, code: string): Resource => {
    return { resourceType: 'Basic', id, code: { coding: [{ system: 'urn:deed', code }], text } };
  };
  for (let n = 0; n < matches; n++) yield basic(`drop-${n}`, 'drop');
  for (let n = 0; n < othersOf(matches); n++) yield basic(`keep-${n}`, 'keep');
}

/** A deletion by criteria whose process is killed twice while clients read: exactly the matches are gone, memory and times stay. */
async function deletes(url: string, processes: number, matches: number): Promise<void> {
  const others = othersOf(matches);
  const servers = new Servers(url);
  // Notes for an empty store that its index entries are of today, so that they need not be made anew.
  await servers.start();
  await servers.kill();
  const store = await openStore(url);
  await load(store, resources(matches));
  await store.close();
  const client = createClient(CLIENTS, 60_000);
  const read = (n: number) =>
    n % 2 === 0
      ? client(servers.base, 'GET', `/Basic/keep-${n % others}`)
      : client(servers.base, 'GET', '/Basic?code=urn:deed|keep&_count=10');
  let asked = 0;
  const measure = async (isOver: (count: number) => boolean): Promise<number[]> => {
    const times: number[] = [];
    const one = async (): Promise<void> => {
      while (!isOver(times.length)) {
        const begun = performance.now();
        const { status, text } = await read(asked++);
        times.push(performance.now() - begun);
        expect(status, text).toBe(200);
        await sleep(5);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, one));
    return times;
  };
  const total = async (code: string): Promise<number> => {
    const answer = await fetch(`${servers.base}/Basic?code=urn:deed%7C${code}&_summary=count`);
    return ((await answer.json()) as { total: number }).total;
  };
  try {
    for (let n = 0; n < processes; n++) await servers.start();
    await measure((count) => count >= WARM);
    const without = p99(await measure((count) => count >= REQUESTS));
    const parameter = [{ name: 'url', valueString: 'Basic?code=urn:deed|drop' }];
    const started = await fetch(`${servers.base}/$bulk-delete`, {
      ...{ method: 'POST', headers: PARAMETERS, body: JSON.stringify({ resourceType: 'Parameters', parameter }) },
    });
    expect(started.status, await started.text()).toBe(202);
    // What comes to match afterwards is none of it.
    const late = { resourceType: 'Basic', id: 'late', code: { coding: [{ system: 'urn:deed', code: 'drop' }] } };
    const put = await client(servers.base, 'PUT', '/Basic/late', late);
    expect(put.status, put.text).toBe(201);
    const id = /_jobId=(.*)$/.exec(started.headers.get('content-location') ?? '')?.[1] ?? '';
    const status = () => fetch(`${servers.base}/$async-poll-status?_jobId=${id}`);
    const memory: number[] = [];
    const reaches = async (wanted: number): Promise<void> => {
      for (;;) {
        const answer = await status();
        await answer.arrayBuffer();
        memory.push(servers.memory());
        const done = Number(/, (\d+)/.exec(answer.headers.get('x-progress') ?? '')?.[1] ?? 0);
        if (answer.status !== 202 || done >= wanted) return;
        await sleep(250);
      }
    };
    const begun = performance.now();
    const within: number[] = [];
    for (let n = 1; n <= KILLS + 1; n++) {
      let isOver = false;
      await measure((count) => count >= WARM);
      const watch = reaches((matches * n) / (KILLS + 1)).finally(() => (isOver = true));
      const [times] = await Promise.all([
        // Some of the time, so that the job ends soon.
        measure((count) => isOver || count >= REQUESTS),
        watch,
      ]);
      if (times.length >= WARM) within.push(p99(times));
      if (n > KILLS) break;
      await servers.kill();
      await servers.start();
      memory.length = 0;
    }
    let answer = await status();
    for (; answer.status === 202; answer = await status()) await sleep(200);
    const text = await answer.text();
    expect(text).toContain(`"deleted"`);
    expect(await total('drop')).toBe(1);
    expect(await total('keep')).toBe(others);
    const seconds = (performance.now() - begun) / 1000;
    const early = Math.max(...memory.slice(0, Math.ceil(memory.length / 3)));
    const grown = Math.max(...memory) - early;
    const times = Math.min(...within) / Math.max(FLOOR, without);
    console.log(`${matches} deleted in ${seconds.toFixed(0)} s; p99 ${without.toFixed(1)} ms without, ${within.map((each) => each.toFixed(1)).join(', ')} ms beside; memory ${early.toFixed(0)} MB, then ${grown.toFixed(0)} MB more`); // prettier-ignore
    // Each was deleted once: a second deletion would be no version, but a first one that was lost would leave its resource.
    for (const n of [0, 1, matches - 1]) {
      const history = await client(servers.base, 'GET', `/Basic/drop-${n}/_history`);
      expect((JSON.parse(history.text) as { total: number }).total).toBe(2);
    }
    expect(grown).toBeLessThan(GROWTH);
    if (within.length > 0) expect(times, 'times as long beside the job').toBeLessThan(2);
  } finally {
    client.close();
    await servers.end();
  }
}

/** What 99 of 100 take at most. */
function p99(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}

describe('a deletion by criteria whose process is killed twice', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bulk-delete-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('deletes exactly the matches on SQLite', () => deletes(`sqlite:${join(folder, 'kiln.db')}`, 1, MATCHES.sqlite));
});

describeOnMongod('a deletion by criteria of two processes, of which one is killed twice', () => {
  it('deletes exactly the matches on MongoDB', () =>
    deletes(mongodUrl() === undefined ? '' : newDatabase(), 2, MATCHES.mongo));
});
