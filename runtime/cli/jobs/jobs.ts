import { setTimeout as sleep } from 'node:timers/promises';

import { least } from '../../fhir/lists.js';
import { ConfigError } from '../../config/config-error.js';
import { isMongoUrl } from '../../config/mongo-url.js';
import { readConfig, type Flags } from '../../config/read-config.js';
import { ENDED, JOBS_PER_CLIENT, type Job, type Jobs } from '../../core/jobs.js';
import { formatInstant } from '../../fhir/instant.js';
import { describeProgress } from '../load/progress.js';
import { stopOnSignal } from '../stop-on-signal.js';
import { EXIT, failed, printable, type Terminal } from '../terminal.js';

/** Options of `kiln jobs` besides the settings. */
export interface JobsFlags {
  /** Goes on until no job runs. */
  readonly watch?: boolean;
  /** Id of a job to cancel. */
  readonly cancel?: string;
}

/** Between two looks, in milliseconds. */
const PAUSE = 1000;

/**
 * `kiln jobs`: lists the jobs of a store, watches them until all have ended, or cancels one.
 *
 * @returns the exit code
 * @throws ConfigError
 */
export async function runJobs({ watch, cancel }: JobsFlags, flags: Flags, terminal: Terminal): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  if (config.store === 'sqlite::memory:') throw new ConfigError('a memory store has no jobs of others');
  const stop = stopOnSignal();
  let close = (): Promise<void> => Promise.resolve();
  try {
    const { openCore, storeExists } = await import('../../server.js');
    if (!isMongoUrl(config.store) && !storeExists(config.store))
      throw new Error(`there is no store at ${config.store}`);
    const core = await openCore(config, { existing: true });
    close = () => core.store.close();
    const [{ openJobs }, { createServing }, { SILENT }] = await Promise.all([
      import('../../assembly/jobs.js'),
      import('../../http/create-services.js'),
      import('../../observe/log.js'),
    ]);
    const settings = {
      ...{ isBusy: () => false, atOnce: 0, perClient: JOBS_PER_CLIENT },
      principalOf: () => Promise.reject(new Error('this process works on no job')),
    };
    const jobs = openJobs(core.store, () => createServing(core, core.definitions.current), settings, SILENT);
    if (cancel !== undefined) return await cancelOne(cancel, jobs, terminal);
    if (watch === true) await watchAll(jobs, stop.signal, terminal);
    else for (const line of linesOf(await jobs.list())) terminal.out(line);
    return EXIT.done;
  } catch (error) {
    return failed(error, terminal);
  } finally {
    stop.forget();
    await close();
  }
}

async function cancelOne(id: string, jobs: Jobs, terminal: Terminal): Promise<number> {
  if (await jobs.cancel(id)) {
    terminal.out(`job ${printable(id)} is cancelled`);
    return EXIT.done;
  }
  terminal.err(`kiln: there is no job ${printable(id)} that has not ended`);
  return EXIT.failed;
}

/** A line for each change of state, and a bar while jobs run; on no terminal a line for each job. */
async function watchAll(jobs: Jobs, signal: AbortSignal, terminal: Terminal): Promise<void> {
  const states = new Map<string, string>();
  for (;;) {
    const all = await jobs.list();
    for (const job of all) {
      if (states.get(job.id) === job.state) continue;
      states.set(job.id, job.state);
      terminal.draw?.('');
      terminal.out(lineOf(job));
    }
    const running = all.filter(({ state }) => !ENDED.has(state));
    if (running.length === 0 || signal.aborted) break;
    terminal.draw?.(barOf(running));
    await sleep(PAUSE, undefined, { signal }).catch(() => {});
  }
  terminal.draw?.('');
}

function barOf(running: readonly Job[]): string {
  const [first] = running;
  const done = running.reduce((sum, { progress }) => sum + progress.done, 0);
  const total = running.reduce((sum, { progress }) => sum + (progress.total ?? progress.done), 0);
  const started = least(running.map((job) => job.started ?? job.created));
  const unit = first?.progress.unit ?? '';
  const seconds = (Date.now() - started) / 1000;
  return `${running.length} ${running.length === 1 ? 'job' : 'jobs'}  ${describeProgress({ read: done, total, resources: done, unit }, seconds)}`;
}

function linesOf(all: readonly Job[]): readonly string[] {
  return all.length === 0 ? ['There are no jobs'] : all.map(lineOf);
}

/** `0199…  export  in-progress  1200 of 5000 resources  2026-…  client "x"` */
function lineOf({ id, type, state, progress, created, owner, failure }: Job): string {
  const { done, total, unit } = progress;
  const share = total === undefined ? `${done} ${unit}` : `${done} of ${total} ${unit}`;
  const who = owner.clientId === '' ? 'the server' : `client "${printable(owner.clientId)}"`;
  const why = failure === undefined ? '' : `  ${printable(failure)}`;
  return [id, type.padEnd(8), state.padEnd(11), share, formatInstant(created), who].join('  ') + why;
}
