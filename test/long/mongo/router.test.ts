import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { projectRoot } from '../../../generator/project-root.js';
import { startCluster, type TestCluster } from '../../mongod/router/cluster.js';

const root = projectRoot();

/** Suites that a replica set passes. A run of its own has the router in place of that. */
const SUITES = {
  'the contract of stores': ['test/contract/mongo.test.ts'],
  'black-box searches': [
    ...['filters', 'system', 'words'].map((name) => `test/http/search/search-${name}-mongo.test.ts`),
    ...['includes', 'links', 'graphs', 'members'].map((name) => `test/http/search/links/search-${name}-mongo.test.ts`),
    'test/http/auth/scopes/search-scopes-mongo.test.ts',
    'test/conformance/search/search-matrix-mongo.test.ts',
  ],
};

describe('through a router over three replica sets', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  }, 120_000);
  afterAll(() => cluster.stop());

  it.each(Object.entries(SUITES))('%s: as on one replica set', async (_, files) => {
    const before = new Map(cluster.router.sent);
    const run = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...files], {
      cwd: root,
      env: { ...process.env, KILN_TEST_MONGODB_URL: cluster.router.url, KILN_TEST_SEED: '20' },
    });
    let printed = '';
    for (const stream of [run.stdout, run.stderr]) stream.on('data', (bytes) => (printed += String(bytes)));
    const [code] = (await once(run, 'close')) as [number | null];
    expect(printed.slice(-8000) + `exit ${String(code)}`).toMatch(/exit 0$/);
    // Commands that found documents of several shards, and such as went to one of them.
    const sentSince = (name: string): number => (cluster.router.sent.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(sentSince('find 3')).toBeGreaterThan(100);
    expect(sentSince('find 1')).toBeGreaterThan(100);
  });
});
