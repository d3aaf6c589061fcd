import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { clinic } from '../../bench/data/clinic.js';
import { load } from '../../bench/data/load-clinic.js';
import { openStore } from '../../contract/open-store.js';
import { replacementParameters } from '../../http/operations/replacement-support.js';
import { middleOf } from '../../middle-of.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { createClient, type Send } from '../http-client.js';
import { Servers } from '../servers.js';

/** How much longer 99 of 100 requests may take beside a job. */
const TIMES = 2;

/** What 99 of 100 requests of an idle server may take, in milliseconds: below it the noise of the machine decides. */
const FLOOR = 10;

/** Rounds of two measurements, one without and one beside a job. More are done where it is too slow: what is slow by itself stays so. */
const ROUNDS = { least: 1, most: 13 };

/** Requests of one measurement, and of what comes before the first of a kind of job. */
const [REQUESTS, FIRST] = [400, 60];

/** Clients, each with one request at a time, and their pause between two, in milliseconds. */
const CLIENTS = 3;
const PAUSE = 5;

const RESOURCES = 6000;
const LINES = 3000;
const REFERRERS = 1500;

const JOB = { prefer: 'respond-async', 'cache-control': 'no-cache' };

/** A job that was started. */
interface Started {
  /** Whether it is at work, or has ended. */
  look(): Promise<'waits' | 'works' | 'ended'>;
  cancel?(): Promise<unknown>;
}

/** Times of the requests of clients beside each kind of job, and without one. */
function latency(makeStore: (folder: string) => string): void {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-latency-'));
  const client = createClient(CLIENTS, 60_000);
  let servers: Servers;
  let patients: readonly string[];
  let upload: string;

  beforeAll(async () => {
    const url = makeStore(folder);
    const store = await openStore(url);
    const records = clinic(RESOURCES);
    await load(store, records.resources);
    patients = records.patients;
    await load(store, [
      ...['a', 'b'].map((id) => ({ resourceType: 'Patient', id })),
      ...Array.from({ length: REFERRERS }, (_, n) => basic(`r${n}`, 'a')),
    ]);
    await store.close();
    servers = new Servers(url);
    await servers.start();
    // A replacement needs to know that index entries are current.
    const reindexing = await kickOff('POST', '/$reindex');
    // Seldom asked, as each question is a request that it makes room for.
    while ((await reindexing.look()) !== 'ended') await sleep(1000);
    const lines = Array.from({ length: LINES }, (_, n) => JSON.stringify(basic(undefined, patients[0]!, n)));
    const headers = { 'content-type': 'application/fhir+ndjson' };
    const answer = await fetch(`${servers.base}/Binary`, { method: 'POST', headers, body: lines.join('\n') });
    expect(answer.status).toBe(201);
    upload = /Binary\/[^/]+/.exec(answer.headers.get('location') ?? '')![0];
    await idle();
  }, 300_000);
  afterAll(async () => {
    client.close();
    await servers.end();
    rmSync(folder, { recursive: true });
  });

  const send = (...[method, path, body]: SendBelow) => client(servers.base, method, path, body);

  /** One of a mix of requests. */
  function request(n: number): ReturnType<Send> {
    const patient = patients[(n * 31) % patients.length]!;
    if (n % 10 < 6) return send('GET', `/Patient/${patient}`);
    if (n % 10 < 9) return send('GET', `/Observation?patient=${patient}&_count=10`);
    const subject = { reference: `Patient/${patient}` };
    const flag = { resourceType: 'Flag', id: `f${n % 100}`, status: 'active', code: { text: `${n}` }, subject };
    return send('PUT', `/Flag/${flag.id}`, flag);
  }

  let asked = 0;
  /** Sends requests until there are so many of them, or it is over. @param times takes how long each took */
  async function measure(times: number[], requests: number, isOver = () => false): Promise<void> {
    const one = async (): Promise<void> => {
      while (times.length < requests && !isOver()) {
        const begun = performance.now();
        const answer = await request(asked++);
        times.push(performance.now() - begun);
        expect(answer.status, answer.text).toBeLessThan(300);
        await sleep(PAUSE);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, one));
  }

  async function idle(): Promise<readonly number[]> {
    const times: number[] = [];
    await measure(times, REQUESTS);
    return times;
  }

  /** The same while jobs are at work, one after the other. */
  async function beside(start: () => Promise<Started>, requests = REQUESTS): Promise<readonly number[]> {
    const times: number[] = [];
    while (times.length < requests) {
      const job = await start();
      while ((await job.look()) === 'waits') await sleep(20);
      let isOver = false;
      const watch = (async () => {
        while (!isOver && (await job.look()) === 'works') await sleep(100);
        isOver = true;
      })();
      await Promise.all([watch, measure(times, requests, () => isOver).finally(() => (isOver = true))]);
      await job.cancel?.();
      // Seldom asked, for the same reason.
      while ((await job.look()) === 'works') await sleep(500);
    }
    return times;
  }

  async function kickOff(method: string, path: string, body?: object): Promise<Started> {
    const init = { method, headers: { 'content-type': 'application/fhir+json', ...JOB } };
    const answer = await fetch(`${servers.base}${path}`, body === undefined ? init : { ...init, body: JSON.stringify(body) }); // prettier-ignore
    const text = await answer.text();
    expect(answer.status, text).toBe(202);
    const status = answer.headers.get('content-location')!;
    return {
      async look() {
        const now = await fetch(status);
        await now.arrayBuffer();
        if (now.status !== 202) return 'ended';
        return /, [1-9]/.test(now.headers.get('x-progress') ?? '') ? 'works' : 'waits';
      },
      cancel: () => fetch(status, { method: 'DELETE' }),
    };
  }

  let [from, to] = ['a', 'b'];
  async function replace(): Promise<Started> {
    const body = replacementParameters(`Patient/${from}`, `Patient/${to}`);
    [from, to] = [to, from];
    const headers = { 'content-type': 'application/fhir+json', ...JOB };
    const answer = await fetch(`${servers.base}/$svc.fhir.replace-references`, { method: 'POST', headers, body: JSON.stringify(body) }); // prettier-ignore
    expect(answer.status).toBe(202);
    const task = answer.headers.get('content-location')!;
    return {
      async look() {
        const { status } = (await (await fetch(task)).json()) as { status: string };
        return status === 'in-progress' ? 'works' : 'ended';
      },
    };
  }

  const importOf = () => ({
    resourceType: 'Parameters',
    parameter: [{ name: 'input', part: [{ name: 'url', valueUri: upload }] }],
  });
  const kinds: Readonly<Record<string, () => Promise<Started>>> = {
    export: () => kickOff('GET', '/$export'),
    import: () => kickOff('POST', '/$import', importOf()),
    reindex: () => kickOff('POST', `/$reindex?url=${encodeURIComponent('Observation?')}`),
    'replacement of references': replace,
  };

  it.each(Object.keys(kinds))('99 of 100 requests take twice as long at most beside a job: %s', async (kind) => {
    const rounds: Round[] = [];
    // The first of a kind compiles what it runs.
    await beside(kinds[kind]!, FIRST);
    while (rounds.length < ROUNDS.least || (rounds.length < ROUNDS.most && timesOf(rounds) >= TIMES)) {
      rounds.push({ without: await idle(), within: await beside(kinds[kind]!) });
    }
    const [without, within] = [rounds.map((each) => p99(each.without)), rounds.map((each) => p99(each.within))];
    const text = `${timesOf(rounds).toFixed(2)} times; by round ${within.map(Math.round)} ms beside it, ${without.map(Math.round)} ms without`;
    console.log(`${kind}: ${text}`);
    expect(timesOf(rounds), text).toBeLessThan(TIMES);
  });
}

type SendBelow = [method: string, path: string, body?: object];

function basic(id: string | undefined, patient: string, n = 0): { resourceType: string; id: string } {
  const subject = { reference: `Patient/${patient}` };
  return { resourceType: 'Basic', ...(id !== undefined && { id }), code: { text: `line ${n}` }, subject } as never;
}

/** Times of requests without and beside a job, in milliseconds. */
interface Round {
  readonly without: readonly number[];
  readonly within: readonly number[];
}

/**
 * How many times as long requests take beside a job: the middle of the rounds, or all taken together, whichever is less. What other programs
 * take of the machine falls on one measurement or the other, now on one round, now on many.
 */
function timesOf(rounds: readonly Round[]): number {
  const compare = ({ without, within }: Round): number => p99(within) / Math.max(FLOOR, p99(without));
  const all = { without: rounds.flatMap((each) => each.without), within: rounds.flatMap((each) => each.within) };
  return Math.min(middleOf(rounds.map(compare)), compare(all));
}

/** What 99 of 100 take at most. */
function p99(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}

describe('latency beside jobs on SQLite', () => latency((folder) => `sqlite:${join(folder, 'kiln.db')}`));
describeOnMongod('latency beside jobs on MongoDB', () =>
  latency(() => (mongodUrl() === undefined ? '' : newDatabase())),
);
