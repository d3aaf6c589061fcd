import { Worker } from 'node:worker_threads';

import type { BodyWorkerSettings } from './messages.js';

/** Tests run on the sources, which Node cannot read in a thread without help. */
const FROM_SOURCE = import.meta.url.endsWith('.ts');
const LOADER = '../../test/contract/run-typescript.mjs';

/** Starts a thread that takes in bodies, and may use so many megabytes for that. */
export function startBodyWorker(workerData: BodyWorkerSettings, memory: number): Worker {
  const options = { workerData, resourceLimits: { maxOldGenerationSizeMb: memory, maxYoungGenerationSizeMb: 12 } };
  if (!FROM_SOURCE) return new Worker(new URL('./body-worker.js', import.meta.url), options);
  const execArgv = ['--import', new URL(LOADER, import.meta.url).href];
  return new Worker(new URL('./body-worker.ts', import.meta.url), { ...options, execArgv });
}
