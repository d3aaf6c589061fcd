import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { hostname } from 'node:os';

import type { ResumePrincipal } from '../auth/clients/resume-principal.js';
import { ENDED, type Job, type JobsPerClient } from '../core/jobs.js';
import type { Services } from '../core/services.js';
import { newId } from '../fhir/id.js';
import { FhirError } from '../fhir/errors.js';
import { createJobEngine, type JobEngine } from '../jobs/engine/engine.js';
import { JOB_KINDS } from '../jobs/kinds.js';
import type { Log } from '../observe/log.js';
import type { Store } from '../store/store.js';

/** Requests that are in progress, so that jobs make room for them. */
export interface Traffic {
  /** Counts what a listener answers. */
  watch(listener: RequestListener): RequestListener;
  isBusy(): boolean;
}

/** So long after a request others are expected, in milliseconds. */
const WAKE = 100;

/** Counts requests. */
export function createTraffic(): Traffic {
  let open = 0;
  let last = -Infinity;
  // One function for all requests; a response emits `close` once.
  const closed = (): void => void open--;
  return {
    watch: (listener) => (req, res) => {
      open++;
      last = performance.now();
      res.on('close', closed);
      listener(req, res);
    },
    isBusy: () => open > 0 || performance.now() - last < WAKE,
  };
}

/** Settings of the jobs of a server. */
export interface JobSettings extends Pick<Traffic, 'isBusy'> {
  readonly atOnce: number;
  /** Whether those that change resources wait for another process. */
  readonly isReadOnly?: boolean;
  readonly perClient: JobsPerClient;
  readonly principalOf: ResumePrincipal;
}

/**
 * The jobs of a server: they start when `open` is called, and their beginning and end are in its log.
 *
 * @param createServing called when the first job runs: what it returns gives the services of the moment
 */
export function openJobs(
  store: Pick<Store, 'maps'>,
  createServing: () => () => { readonly services: Services },
  { isBusy, atOnce, isReadOnly = false, perClient, principalOf }: JobSettings,
  log: Log,
  onEnd: (job: Job) => void = () => {},
): JobEngine {
  let serving: (() => { readonly services: Services }) | undefined;
  return createJobEngine({
    store,
    services: () => (serving ??= createServing())().services,
    isBusy,
    atOnce,
    perClient,
    principalOf,
    kinds: JOB_KINDS,
    isReadOnly,
    holder: `${hostname()} ${process.pid} ${randomUUID()}`,
    newId,
    isGone,
    onEvent(event, job) {
      log.info(`job ${job.id} (${job.type}): ${event}${detailOf(job)}`);
      if (ENDED.has(job.state)) onEnd(job);
    },
    onError(error, job) {
      if (error instanceof FhirError) log.warn(`job ${job?.id ?? ''}: ${error.message}`);
      else log.defect(job?.id ?? 'none', error);
    },
  });
}

function detailOf({ state, started, ended, failure }: Job): string {
  if (state === 'failed') return `: ${failure ?? ''}`;
  return ended === undefined || started === undefined ? '' : ` after ${((ended - started) / 1000).toFixed(1)} s`;
}

/**
 * Whether a process of this machine is dead, so that its jobs can be taken up before its lease is over. Processes that only seem to
 * be of this machine do no harm: a process that loses a job to another one notices when it saves the next checkpoint.
 */
export function isGone(holder: string): boolean {
  const [host, pid = ''] = holder.split(' ');
  if (host !== hostname() || !/^[1-9][0-9]*$/.test(pid)) return false;
  // Its name is another: an earlier process had the same number.
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
