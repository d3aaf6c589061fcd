import { Worker } from 'node:worker_threads';

/** Tests run on the sources, which Node cannot read in a thread without help. */
const FROM_SOURCE = import.meta.url.endsWith('.ts');
const LOADER = '../../../../test/contract/run-typescript.mjs';

/** What a thread makes anew lives for one request; V8 would let it grow to 48 MB for each thread, and keep that. */
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

/** Starts the worker entry of this name, which lies in this folder. */
export function startWorker(name: `${string}-worker`, workerData: unknown): Worker {
  if (!FROM_SOURCE) return new Worker(new URL(`./${name}.js`, import.meta.url), { workerData, resourceLimits });
  const execArgv = ['--import', new URL(LOADER, import.meta.url).href];
  return new Worker(new URL(`./${name}.ts`, import.meta.url), { workerData, resourceLimits, execArgv });
}
