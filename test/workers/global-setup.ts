import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

import { bundleEntries } from './bundle.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Vitest calls it before a run. It bundles the command and the entries of worker threads, and again before tests are repeated. */
export async function setup(project: TestProject): Promise<void> {
  await bundleEntries(ROOT);
  project.onTestsRerun(() => bundleEntries(ROOT));
}
