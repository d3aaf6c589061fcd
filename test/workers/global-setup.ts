import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

import { bundleEntries } from './bundle.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

declare module 'vitest' {
  // Merged with vitest's own.
  interface ProvidedContext {
    /** A folder of this run, for what its files do once: `build-dist.ts`. */
    run: string;
  }
}

/** Vitest calls it before a run. It bundles the command and the entries of worker threads, and again before tests are repeated. */
export async function setup(project: TestProject): Promise<() => void> {
  const run = mkdtempSync(join(tmpdir(), 'kiln-run-'));
  const folder = (): string => mkdtempSync(join(run, 'time-'));
  project.provide('run', folder());
  await bundleEntries(ROOT);
  project.onTestsRerun(async () => {
    project.provide('run', folder());
    await bundleEntries(ROOT);
  });
  return () => rmSync(run, { recursive: true, force: true });
}
