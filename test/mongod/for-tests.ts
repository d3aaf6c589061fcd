import { MongoClient } from 'mongodb';
import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { afterAll, describe, expect, inject } from 'vitest';

import { withDatabase } from './connection-string.js';
import type { MongodAnswer } from './global-setup.js';

// The first file of a run that imports this has the replica set started, and waits for it.
const offer = inject('mongod');
const answer = (await (await fetch(offer.ask)).json()) as MongodAnswer;
if ('failed' in answer) throw new Error(answer.failed);

const server = 'url' in answer ? answer.url : undefined;
const databases: string[] = [];

/** Connection string of the MongoDB for tests, without a database; undefined: there is none. */
export function mongodUrl(): string | undefined {
  return server;
}

/**
 * Connection string of a database that nobody has used; it is dropped after the test file's suites.
 *
 * @throws Error outside of describeOnMongod where there is no MongoDB
 */
export function newDatabase(): string {
  if (server === undefined) throw new Error('there is no MongoDB for tests; put this into describeOnMongod');
  const name = `${offer.prefix}${randomBytes(6).toString('hex')}`;
  databases.push(name);
  return withDatabase(server, name);
}

/** A suite that needs a MongoDB. Where there is none it is skipped, and the end of the run says so; in CI that is a failure. */
export function describeOnMongod(name: string, body: () => void): void {
  if (server === undefined) {
    appendFileSync(offer.missedFile, `${expect.getState().testPath ?? ''}: ${name}\n`);
    describe.skip(name, body);
    return;
  }
  describe(name, () => {
    afterAll(dropDatabases);
    body();
  });
}

async function dropDatabases(): Promise<void> {
  if (server === undefined || databases.length === 0) return;
  const client = new MongoClient(server);
  try {
    for (const name of databases.splice(0)) await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}
