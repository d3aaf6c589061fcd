import { Worker } from 'node:worker_threads';

/** What a thread makes anew lives for one request; V8 would let it grow to 48 MB for each thread, and keep that. */
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

/** Starts the worker entry of this name, which lies in this folder. */
export function startWorker(name: `${string}-worker`, workerData: unknown): Worker {
  return new Worker(new URL(`./${name}.js`, import.meta.url), { workerData, resourceLimits });
}
