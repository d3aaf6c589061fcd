import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { JsonObject } from '../../runtime/fhir/resource.js';
import type { Bench, Measured, Row } from './measuring/row.js';
import { hubs, syntheaBundles } from './data/synthea-bundles.js';
import { cpuOf, memoryOf, waitsDuring, type Wait } from './measuring/waits.js';

const ENTRIES = 5000;

/** Of which memory is measured: it has to be in proportion. */
const SIZES = [1250, 2500, ENTRIES];

/** Bundles of a kind, after one to warm up. */
const ROUNDS = 3;

/** Nobody is to wait longer than this beside them, in milliseconds, but for what one may wait beside nothing. */
const LONGEST = 100;

/** How long others ask the server while it does nothing else, in milliseconds. */
const QUIET = 3000;

const MB = 1024 * 1024;

/** What is sent, and what is asked for in return. */
interface Case {
  readonly name: string;
  readonly type: 'transaction' | 'batch';
  readonly headers: Readonly<Record<string, string>>;
}

const CASES: readonly Case[] = [
  { name: 'transaction', type: 'transaction', headers: {} },
  { name: 'batch', type: 'batch', headers: {} },
  { name: 'transaction, resources in return', type: 'transaction', headers: { prefer: 'return=representation' } },
  {
    name: 'transaction, resources in return as XML',
    type: 'transaction',
    headers: { prefer: 'return=representation', accept: 'application/fhir+xml' },
  },
];

const BUNDLE_ENTRIES = syntheaBundles(8).flatMap(({ text }) => (JSON.parse(text) as { entry: JsonObject[] }).entry);

function bundleText(type: Case['type'], entries: number): string {
  return JSON.stringify({ resourceType: 'Bundle', type, entry: BUNDLE_ENTRIES.slice(0, entries) });
}

/** Where a server runs. */
interface Server {
  readonly pid: number;
  readonly base: string;
}

/**
 * Bundles of 5,000 entries, sent to a server in a process of its own, while somebody else asks it for something small on
 * another connection: how long that one waits, and what memory they take.
 */
export const bench: Bench = async () => {
  const where = process.env['KILN_BENCH_STORE'] === undefined ? 'on SQLite' : 'on MongoDB';
  for (const size of SIZES) await withServer((server) => measureMemory(server, size, where));
  return withServer((server) => measureWaits(server, where));
};

async function withServer<T>(work: (server: Server) => Promise<T>): Promise<T> {
  const url = process.env['KILN_BENCH_STORE'];
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const database = `kiln_bench_${process.pid}`;
  const store =
    url === undefined
      ? `sqlite:${join(folder, 'kiln.db')}`
      : (await import('./bare/bare-search-mongo.js')).withDatabase(url, database);
  const child = fork(new URL('./servers/large-bundle-server.js', import.meta.url), [store], { execArgv: [] });
  try {
    const [line] = (await once(child, 'message')) as [string];
    const base = /http:\S+/.exec(line)?.[0];
    if (base === undefined || child.pid === undefined) throw new Error(line);
    for (const resource of hubs()) await put(base, resource as { resourceType: string; id: string });
    await post(`${base}/`, bundleText('transaction', 500), {});
    return await work({ pid: child.pid, base });
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
    if (url !== undefined) {
      const { MongoClient } = await import('mongodb');
      const client = await MongoClient.connect(url);
      await client.db(database).dropDatabase();
      await client.close();
    }
    rmSync(folder, { recursive: true });
  }
}

/** The greatest memory beside that of a server that has done little. */
async function measureMemory({ pid, base }: Server, size: number, where: string): Promise<void> {
  const text = bundleText('transaction', size);
  await sleep(QUIET);
  const before = memoryOf(pid).now;
  await post(`${base}/`, text, {});
  const more = (memoryOf(pid).peak - before) / MB;
  const times = (more * MB) / text.length;
  process.stdout.write(
    `a transaction of ${size} entries, ${(text.length / MB).toFixed(1)} MB, ${where}: ${more.toFixed(0)} MB more of memory, ` +
      `${times.toFixed(0)} times its size\n`,
  );
}

async function measureWaits({ pid, base }: Server, where: string): Promise<Row[]> {
  const send = (type: Case['type'], headers: Case['headers']): Promise<number> =>
    post(`${base}/`, bundleText(type, ENTRIES), headers);
  const small = `${base}/Practitioner/practitioner-1`;

  await waitsDuring(pid, small, () => sleep(QUIET));
  const before = cpuOf(pid);
  const idle = await waitsDuring(pid, small, () => sleep(QUIET));
  const floor = { name: 'idle', measured: toMeasured(idle, QUIET, cpuOf(pid) - before) };
  process.stdout.write(`waits of others for a small answer, ms: ${describe(idle)} while the server is idle\n`);

  const rows: Row[] = [];
  for (const { name, type, headers } of CASES) {
    await send(type, headers);
    const waits: Wait[] = [];
    let wallMs = 0;
    const cpu = cpuOf(pid);
    const rss = memoryOf(pid).now;
    for (let round = 0; round < ROUNDS; round++) {
      const start = performance.now();
      waits.push(...(await waitsDuring(pid, small, () => send(type, headers))));
      wallMs += performance.now() - start;
    }
    const cpuMs = cpuOf(pid) - cpu;
    const memory = [rss, memoryOf(pid).now].map((bytes) => Math.round(bytes / MB)).join(', ');
    process.stdout.write(`${describe(waits)} beside a ${name} ${where}; MB before and after: ${memory}\n`);
    rows.push({
      name: `${name} ${where}`,
      unit: 'entries',
      measured: toMeasured(waits, wallMs, cpuMs, ENTRIES * ROUNDS),
      floor,
      goal: {
        longest:
          LONGEST +
          quantile(
            idle.map(({ time }) => time),
            1,
          ),
      },
    });
  }
  return rows;
}

function toMeasured(waits: readonly Wait[], wallMs: number, cpuMs: number, count = waits.length): Measured {
  const times = waits.map(({ time }) => time);
  return {
    count,
    wallMs,
    cpuMs,
    times: { p50: quantile(times, 0.5), p99: quantile(times, 0.99), longest: quantile(times, 1) },
  };
}

function describe(waits: readonly Wait[]): string {
  const line = (all: readonly number[]): string => [0.5, 0.99, 1].map((q) => quantile(all, q).toFixed(1)).join(', ');
  const cpu = waits.flatMap((wait) => wait.cpu ?? []);
  return `p50, p99, greatest: ${line(waits.map(({ time }) => time))}; CPU of the main thread: ${line(cpu)}`;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN;
}

/** @returns bytes of the answer */
function post(url: string, body: string, headers: Case['headers']): Promise<number> {
  return new Promise((resolve, reject) => {
    const type = { 'content-type': 'application/fhir+json' };
    const sent = request(url, { method: 'POST', headers: { ...type, ...headers } }, (answer) => {
      let size = 0;
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (answer.statusCode !== 200) chunks.push(chunk);
      });
      answer.once('end', () => {
        if (answer.statusCode === 200) resolve(size);
        else reject(new Error(`${answer.statusCode}: ${Buffer.concat(chunks).toString()}`));
      });
      answer.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

async function put(base: string, resource: { resourceType: string; id: string }): Promise<void> {
  const answer = await fetch(`${base}/${resource.resourceType}/${resource.id}`, {
    method: 'PUT',
    body: JSON.stringify(resource),
    headers: { 'content-type': 'application/fhir+json' },
  });
  if (!answer.ok) throw new Error(await answer.text());
}
