import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { MongoClient } from 'mongodb';

import type { Resource } from '../../../runtime/fhir/resource.js';
import { withDatabase } from '../bare/bare-search-mongo.js';

/** What a build has for `npx kiln`. */
const COMMAND = 'dist/runtime/cli/main.js';

// The address is the bench's: a setting that there is not would be refused.
const { KILN_BENCH_STORE: MONGODB, KILN_BENCH_BUILD: _build, ...ENV } = process.env;

export interface KilnServer {
  /** The FHIR base. */
  readonly base: string;
  readonly pid: number;
  /** A token of the development client, for everything; it is good for five minutes. */
  token(): string;
  /** Ends it, and removes its data. */
  stop(): Promise<void>;
}

/** The name of the store that is measured. */
export const STORE = MONGODB === undefined ? 'SQLite' : 'MongoDB';

/**
 * A server in a process of its own, with these resources in a store of its own: a file, or a database where the bench was given
 * `--store=mongodb://…`.
 *
 * @param build the folder of a checkout that was built
 * @param isOpen whether it asks for no token, and keeps no audit
 * @param more options of the command
 */
export async function startKiln(
  build: string,
  isOpen: boolean,
  resources: readonly Resource[],
  more: readonly string[] = [],
): Promise<KilnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const name = `kiln_bench_${process.pid}_${folder.slice(-6)}`;
  const store = MONGODB === undefined ? `sqlite:${join(folder, 'kiln.db')}` : withDatabase(MONGODB, name);
  const kiln = join(build, COMMAND);
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [kiln, ...args], {
      env: ENV,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const file = join(folder, 'records.ndjson');
  writeFileSync(file, resources.map((each) => `${JSON.stringify(each)}\n`).join(''));
  run('load', '--store', store, file);
  const open = isOpen ? ['--auth', 'open', '--audit-sink', 'off'] : [];
  const server = spawn(process.execPath, [kiln, 'serve', '--port', '0', ...open, ...more, '--store', store], {
    env: ENV,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const base = await baseOf(server.stdout);
  const { port } = new URL(base);
  return {
    base,
    pid: server.pid!,
    token: () => run('token', '--port', port, '--store', store).trim(),
    async stop() {
      await end(server);
      if (MONGODB !== undefined) await drop(MONGODB, name);
      rmSync(folder, { recursive: true });
    },
  };
}

/** In place of a build: a server of a few lines that does the same by hand. */
export const BY_HAND = 'by-hand';

/** What it can do. */
const BY_HAND_KINDS: readonly string[] = ['read', 'create', 'update', 'transaction of 20', '_include', 'chain of two'];

/** Whether it can do a kind of request. */
export function isByHand(name: string): boolean {
  return BY_HAND_KINDS.includes(name);
}

/** That server (`by-hand-server.ts`), with so many resources of the clinic. */
export async function startByHand(count: number): Promise<KilnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const name = `by_hand_${process.pid}_${folder.slice(-6)}`;
  const place = MONGODB === undefined ? join(folder, 'by-hand.db') : withDatabase(MONGODB, name);
  const entry = fileURLToPath(new URL('by-hand-server.js', import.meta.url));
  const server = spawn(process.execPath, [entry, place, String(count)], { env: ENV, stdio: ['ignore', 'pipe', 'inherit'] }); // prettier-ignore
  return {
    base: await baseOf(server.stdout),
    pid: server.pid!,
    token: () => 'none',
    async stop() {
      await end(server);
      rmSync(folder, { recursive: true });
    },
  };
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

async function end(server: ChildProcess): Promise<void> {
  server.kill('SIGTERM');
  await once(server, 'exit');
}

async function drop(url: string, name: string): Promise<void> {
  const client = new MongoClient(url);
  await client.db(name).dropDatabase();
  await client.close();
}
