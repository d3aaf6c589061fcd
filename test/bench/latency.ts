import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { MongoClient } from 'mongodb';

import type { Resource } from '../../runtime/fhir/resource.js';
import { withDatabase } from './bare/bare-search-mongo.js';
import { clinic, createRandom, pick, type Clinic } from './data/clinic.js';
import { CASES } from './data/search-cases.js';
import { cpuOf } from './measuring/waits.js';
import type { Bench, Row } from './measuring/row.js';

const RESOURCES = 12_000;
/** Connections, each with one request at a time. */
const CLIENTS = 8;
/** How long a kind of request runs before it is measured, and then, in milliseconds. */
const [WARM_UP, RUN] = [1000, 3000];
/** Entries of a transaction. */
const ENTRIES = 20;

const KILN = 'dist/runtime/cli/main.js';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

/**
 * How long requests wait for their answers where eight clients keep a server busy that is a process of its own; the client and, with
 * `--store=mongodb://…`, the database share the cores with it. It runs `dist/`.
 */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  // A setting that there is not would be refused.
  const { KILN_BENCH_STORE: url, ...env } = process.env;
  const name = `kiln_bench_latency_${process.pid}`;
  const store = url === undefined ? `sqlite:${join(folder, 'kiln.db')}` : withDatabase(url, name);
  const records = clinic(RESOURCES);
  const resources = [...records.resources];
  const file = join(folder, 'clinic.ndjson');
  writeFileSync(file, resources.map((each) => `${JSON.stringify(each)}\n`).join(''));
  execFileSync(process.execPath, [KILN, 'load', '--store', store, file], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const settings = ['--port', '0', '--auth', 'open', '--audit-sink', 'off', '--store', store];
  const server = spawn(process.execPath, [KILN, 'serve', ...settings], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  try {
    const base = await baseOf(server.stdout);
    const rows: Row[] = [];
    for (const [kind, draw] of kindsOf(resources, records)) {
      const send = () => answerTo(base, draw(), agent);
      await timesOf(send, WARM_UP);
      const before = cpuOf(server.pid!);
      const times = await timesOf(send, RUN);
      const at = (share: number): number => times[Math.floor(times.length * share)]!;
      rows.push({
        name: `${url === undefined ? 'SQLite' : 'MongoDB'}, 8 clients: ${kind}`,
        unit: 'requests',
        measured: {
          count: times.length,
          wallMs: RUN,
          cpuMs: cpuOf(server.pid!) - before,
          times: { p50: at(0.5), p99: at(0.99), longest: times.at(-1)! },
        },
      });
    }
    return rows;
  } finally {
    agent.destroy();
    server.kill('SIGTERM');
    await once(server, 'exit');
    if (url !== undefined) await drop(url, name);
    rmSync(folder, { recursive: true });
  }
};

/** What is asked for, by kind. */
function kindsOf(resources: readonly Resource[], records: Clinic): readonly (readonly [string, () => Sent])[] {
  const random = createRandom(3);
  const observations = resources.filter(({ resourceType }) => resourceType === 'Observation');
  const any = () => pick(random, observations);
  let serial = 0;
  const changed = (): Resource => ({ ...any(), note: [{ text: `Changed ${++serial}` }] });
  const created = (): Resource => ({ ...any(), id: undefined }) as unknown as Resource;
  const searches = CASES.map(({ name, draw }): readonly [string, () => Sent] => [
    name,
    () => {
      const { type, query, sort } = draw(random, records);
      const params = new URLSearchParams(query.map(([key, value]): [string, string] => [key, value]));
      if (sort !== undefined) params.append('_sort', sort);
      return get(`/${type}?${params.toString()}`);
    },
  ]);
  const entry = () => ({ resource: created(), request: { method: 'POST', url: 'Observation' } });
  return [
    ['read', () => get(`/Observation/${String(any()['id'])}`)],
    ['create', () => ({ method: 'POST', path: '/Observation', body: JSON.stringify(created()) })],
    [
      'update',
      () => {
        const resource = changed();
        return { method: 'PUT', path: `/Observation/${String(resource['id'])}`, body: JSON.stringify(resource) };
      },
    ],
    [
      `transaction of ${ENTRIES}`,
      () => {
        const entries = Array.from({ length: ENTRIES }, entry);
        const bundle = { resourceType: 'Bundle', type: 'transaction', entry: entries };
        return { method: 'POST', path: '', body: JSON.stringify(bundle) };
      },
    ],
    ['history of a type', () => get('/Observation/_history?_count=20')],
    ['history of the system', () => get('/_history?_count=20')],
    ['_include', () => get(`/Observation?code=${pick(random, records.codes)}&_include=Observation:subject&_count=20`)],
    ['_summary=count', () => get(`/Observation?code=${pick(random, records.codes)}&_summary=count`)],
    ...searches,
  ];
}

function get(path: string): Sent {
  return { method: 'GET', path };
}

/** How long each request took, the shortest first, in milliseconds. */
async function timesOf(send: () => Promise<void>, milliseconds: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + milliseconds;
  const client = async (): Promise<void> => {
    for (let now = performance.now(); now < end;) {
      await send();
      const then = performance.now();
      times.push(then - now);
      now = then;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return times.sort((a, b) => a - b);
}

/** @throws Error where the request fails */
function answerTo(base: string, { method, path, body }: Sent, agent: Agent): Promise<void> {
  const headers = { accept: 'application/fhir+json', 'content-type': 'application/fhir+json' };
  return new Promise((resolve, reject) => {
    const sent = request(base + path, { method, agent, headers }, (answer) => {
      answer.resume();
      const { statusCode = 0 } = answer;
      answer.once('end', () => (statusCode < 300 ? resolve() : reject(new Error(`${method} ${path}: ${statusCode}`))));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** The FHIR base that the start line names. */
function baseOf(output: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    output.on('data', (chunk) => {
      text += String(chunk);
      const found = /http:\S+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
    output.once('end', () => reject(new Error('the server ended before it served')));
  });
}

async function drop(url: string, name: string): Promise<void> {
  const client = new MongoClient(url);
  await client.db(name).dropDatabase();
  await client.close();
}
