import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

import { EVENTUALLY } from './test/eventually.js';
import { LongestFirst } from './test/longest-first.js';
import { ramFolder } from './test/ram/ram-folder.js';
import { withBundledEntries, withPooledThreads } from './test/workers/entries.mjs';

const away = ['**/node_modules/**', 'dist/**', '.cache/**'];

/** Files that want a process of their own: they replace modules or what the process writes to, or measure its memory or fill it. */
const alone = [
  'test/generator/check.test.ts',
  'test/unit/**/{import-rules,kept-texts,load-command,load-time,sqlite-clean-up,terminology-limits}.test.ts',
];

/**
 * Twins: they run the suite of another file again, on MongoDB. The name is the rule: every `*-mongo.test.ts` runs in `test:long`. `npm test`
 * has the contract of the stores on MongoDB (`contract/mongo*.test.ts`) and a smoke test (`http/mongo-smoke.test.ts`).
 */
const twins = 'test/!(long)/**/*-mongo.test.ts';

/**
 * Files that take long and guard what seldom changes: rules against changed examples, what all examples are found by, what the generator
 * makes (`npm run check` compares it), commands of the documentation, details of MongoDB. They run in `test:long`.
 */
const seldom = [
  'test/conformance/*/{extraction-entries,extraction-robust,patch-round-trip,rule-mutations}.test.ts',
  'test/generator/{errata,output}.test.ts',
  'test/unit/repository/pages.test.ts',
  'test/contract/{mongo-history-totals,mongo-only,mongo-open,mongo-restamp,mongo-updates}.test.ts',
  'test/docs/commands.test.ts',
];

/**
 * Long files that run one at a time: they measure how long something takes, or fill the machine. Of the others some may share the cores: they
 * compare what is found with what is right, count, kill processes of their own, or look at the memory or the processor time of these; or
 * what they wait for comes much sooner than it has to.
 */
const oneAtATime = [
  'test/long/definitions/{example,extraction-speed}.test.ts',
  'test/long/jobs/{expunge-at-length,expunge-at-length-mongo,job-latency}.test.ts',
  'test/long/mongo/{mongo-large-rewrites,mongo-links-cost,mongo-run-search}.test.ts',
  'test/long/process/{container,stall,two-processes}.test.ts',
  'test/long/search/{costly-searches,search-contained-stall,search-words-stall}.test.ts',
  'test/long/sqlite/sqlite-threads.test.ts',
];

/** One run tries what the last did; other random input is for the long ones. */
const seeded = { KILN_TEST_SEED: process.env['KILN_TEST_SEED'] ?? '20' };
/** Where nothing is measured, files are in memory. */
const ram = ramFolder();
const inMemory = ram === undefined ? {} : { TMPDIR: ram };

/** Where hardly a test is about threads, those of a store are used again by the next one. */
const pooled = [
  {
    name: 'pooled-threads',
    enforce: 'pre',
    transform: (text: string, path: string) => withPooledThreads(path, text),
  } as const,
];

/** Room for what is new in the heaps of processes that run many files: it is collected less often. In megabytes. */
const roomy = ['--max-semi-space-size=64'];

const fast = { testTimeout: 60_000, hookTimeout: 120_000, env: { ...seeded, ...inMemory } };
const long = { testTimeout: 15 * 60_000, hookTimeout: 5 * 60_000 };

export default defineConfig({
  plugins: [
    { name: 'bundled-worker-entries', enforce: 'pre', transform: (text, path) => withBundledEntries(path, text) },
  ],
  resolve: {
    alias: [
      // Its package export points into dist/; tests run on the sources.
      { find: /^kiln\/contract$/, replacement: fileURLToPath(new URL('runtime/contract/index.ts', import.meta.url)) },
    ],
  },
  test: {
    environment: 'node',
    // Processes, because native modules and process-wide settings (TZ, cwd) are under test.
    pool: 'forks',
    // One more than the cores of a small machine: about a fifth of the time a test waits, for timers, threads, other processes and MongoDB.
    maxWorkers: 3,
    // What has to come at some time comes late on a busy machine.
    expect: { poll: EVENTUALLY },
    // What is set up first goes last. The second offers a MongoDB, which is started when the first test file asks for it.
    globalSetup: ['test/ram/global-setup.ts', 'test/mongod/global-setup.ts', 'test/workers/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        plugins: pooled,
        test: {
          ...fast,
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [...away, 'test/long/**', twins, ...seldom, ...alone],
          // Few processes for all files: to start one for each, and load the tables there, takes longer than most files do.
          isolate: false,
          execArgv: roomy,
        },
      },
      { extends: true, test: { ...fast, name: 'fast-alone', include: alone, exclude: away } },
      {
        extends: true,
        plugins: pooled,
        test: {
          ...long,
          name: 'long-side-by-side',
          env: inMemory,
          include: [twins, ...seldom, 'test/long/**/*.test.ts'],
          exclude: [...away, ...oneAtATime],
          isolate: false,
          execArgv: roomy,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...long,
          name: 'long',
          include: oneAtATime,
          exclude: away,
          sequence: { groupOrder: 1 },
          fileParallelism: false,
        },
      },
    ],
  },
});
