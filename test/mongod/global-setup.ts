import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import type { TestProject } from 'vitest/node';

import { ramFolderOf } from '../ram/global-setup.js';
import { findMongod, MongodNotFound } from './find-mongod.js';
import { startReplicaSet } from './replica-set.js';

/** What test files are told, so that the first of them that wants a MongoDB has it started. */
export interface MongodOffer {
  /** Answers a MongodAnswer as JSON. */
  readonly ask: string;
  /** Each database of this run has a name that begins so. */
  readonly prefix: string;
  /** A suite that is not run for want of a MongoDB appends its name as a line. */
  readonly missedFile: string;
}

/** A connection string, or why there is none; `failed`: though one was to be expected. */
export type MongodAnswer = { readonly url: string } | { readonly missing: string } | { readonly failed: string };

declare module 'vitest' {
  // Merged with vitest's own.
  interface ProvidedContext {
    mongod: MongodOffer;
  }
}

interface Started {
  readonly answer: MongodAnswer;
  stop(): Promise<void>;
}

const HOW_TO_GET_ONE =
  'Set KILN_TEST_MONGODB_URL to a replica set that tests may use, or MONGOMS_SYSTEM_BINARY to a mongod 6.0 or newer, or ' +
  'install one on PATH; see test/README.md.';

/** Vitest calls it once a run. Nothing is started before a test file asks for it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-test-'));
  const missedFile = join(folder, 'missed');
  const prefix = `kiln_test_${randomBytes(4).toString('hex')}_`;
  let started: Promise<Started> | undefined;
  const server = createServer((_, res) => {
    started ??= start(prefix, ramFolderOf(project));
    void started.then(({ answer }) => res.end(JSON.stringify(answer)));
  });
  const ask = await listen(server);
  project.provide('mongod', { ask, prefix, missedFile });

  return async () => {
    server.close();
    server.closeAllConnections();
    const { answer, stop } = (await started) ?? {};
    await stop?.();
    if (answer !== undefined && 'missing' in answer) tellMissed(linesOf(missedFile), answer.missing);
    rmSync(folder, { recursive: true, force: true });
  };
}

/** The server that is named, or one of our own, with its data in a place for temporary files. Never rejects. */
async function start(prefix: string, place: string | undefined): Promise<Started> {
  const stop = async (): Promise<void> => {};
  const external = process.env['KILN_TEST_MONGODB_URL'];
  try {
    if (external === 'none') return { answer: { missing: 'KILN_TEST_MONGODB_URL is "none"' }, stop };
    if (external !== undefined) return await useExternal(external, prefix);
    const { path, version, from, passedOver } = await findMongod();
    console.info(`MongoDB for tests: ${version} from ${from} (${[path, ...passedOver].join('; ')})`);
    const { url, stop: stopSet } = await startReplicaSet(path, 1, { place });
    return { answer: { url }, stop: stopSet };
  } catch (error) {
    const { message } = error as Error;
    return { answer: error instanceof MongodNotFound ? { missing: message } : { failed: message }, stop };
  }
}

async function useExternal(url: string, prefix: string): Promise<Started> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5000 });
  try {
    const { version } = await client.db('admin').command({ buildInfo: 1 });
    console.info(`MongoDB for tests: ${version} at KILN_TEST_MONGODB_URL`);
  } catch (error) {
    await client.close();
    throw new Error(`KILN_TEST_MONGODB_URL: ${(error as Error).message}`, { cause: error });
  }
  const stop = async (): Promise<void> => {
    const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (name.startsWith(prefix)) await client.db(name).dropDatabase();
    await client.close();
  };
  return { answer: { url }, stop };
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    // It does not keep a run alive that ends otherwise.
    server.unref();
  });
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/** What nobody may miss: with `CI=true` it is a failure. */
function tellMissed(suites: readonly string[], why: string): void {
  if (suites.length === 0) return;
  const list = [...new Set(suites)].map((suite) => `  ${suite}\n`).join('');
  const isFailure = process.env['CI'] === 'true';
  process.stderr.write(
    `\n${isFailure ? 'FAILED' : 'WARNING'}: no MongoDB, so these suites did NOT run:\n${list}(${why})\n${HOW_TO_GET_ONE}\n`,
  );
  if (isFailure) process.exitCode = 1;
}
