import { Worker } from 'node:worker_threads';

import type { BodyWorkerSettings } from './messages.js';

/** Starts a thread that takes in bodies, and may use so many megabytes for that. */
export function startBodyWorker(workerData: BodyWorkerSettings, memory: number): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: memory, maxYoungGenerationSizeMb: 12 };
  return new Worker(new URL('./body-worker.js', import.meta.url), { workerData, resourceLimits });
}
