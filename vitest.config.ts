import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

import { LongestFirst } from './test/longest-first.js';

const away = ['**/node_modules/**', 'dist/**', '.cache/**'];

export default defineConfig({
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
    maxWorkers: 2,
    // Offers a MongoDB, which is started when the first test file asks for it.
    globalSetup: 'test/mongod/global-setup.ts',
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [...away, 'test/long/**'],
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          exclude: away,
          testTimeout: 15 * 60_000,
          hookTimeout: 5 * 60_000,
          // One file at a time: they kill servers and measure, and want both cores for it.
          fileParallelism: false,
        },
      },
    ],
  },
});
