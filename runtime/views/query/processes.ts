import type { ChildProcess } from 'node:child_process';

import { FhirError } from '../../fhir/errors.js';
import { startProcess } from './start-process.js';

/** Queries that run at a time, and that wait for a turn; and how long, in milliseconds. */
const MOST = { running: 2, waiting: 20, wait: 10_000 };

/** How long a process is kept that no query has taken, in milliseconds. */
const KEPT = 60_000;

/** How long after a query the next process is started, in milliseconds. */
const SOON = 50;

let running = 0;
const waiting: (() => void)[] = [];
let spare: { readonly child: ChildProcess; readonly timer: NodeJS.Timeout } | undefined;

/**
 * A process for one query, which is killed after it. The next one is started before it is wanted: a start takes about a tenth of a second.
 *
 * @throws FhirError `server-busy`
 */
export async function* withProcess(signal: AbortSignal | undefined): AsyncGenerator<ChildProcess> {
  await turn(signal);
  const child = take();
  const kill = (): void => void child.kill('SIGKILL');
  let isHeld = true;
  // When the process has ended, too: who asked for rows may never come back.
  const leave = (): void => {
    if (!isHeld) return;
    isHeld = false;
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
    setTimeout(prepare, SOON).unref();
  };
  signal?.addEventListener('abort', kill, { once: true });
  child.once('exit', leave);
  try {
    yield child;
  } finally {
    signal?.removeEventListener('abort', kill);
    kill();
    leave();
  }
}

/** Waits until fewer queries run; one that ends gives its turn to the next. */
async function turn(signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (running < MOST.running) running++;
  else {
    if (waiting.length >= MOST.waiting) throw new FhirError('server-busy', 'Too many queries run at the moment; try again'); // prettier-ignore
    await new Promise<void>((resolve, reject) => {
      const leave = (error: unknown): void => {
        waiting.splice(waiting.indexOf(go), 1);
        end();
        reject(error as Error);
      };
      const onAbort = (): void => leave(signal?.reason);
      const timer = setTimeout(() => leave(new FhirError('server-busy', 'Other queries run for long; try again')), MOST.wait); // prettier-ignore
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const go = (): void => {
        end();
        resolve();
      };
      waiting.push(go);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}

/** Takes the process that is ready, or a new one. */
function take(): ChildProcess {
  const ready = spare?.child;
  if (spare !== undefined) clearTimeout(spare.timer);
  spare = undefined;
  const child = ready?.connected === true ? ready : start();
  child.ref();
  child.channel?.ref();
  return child;
}

/** Starts the next process, where none is ready. To start one holds this thread up for some milliseconds, which a query need not wait for. */
function prepare(): void {
  if (spare !== undefined) return;
  const child = start();
  const timer = setTimeout(() => {
    if (spare?.child === child) spare = undefined;
    child.kill('SIGKILL');
  }, KEPT);
  spare = { child, timer: timer.unref() };
}

/** Starts a process that keeps nothing from ending. */
function start(): ChildProcess {
  const child = startProcess();
  child.on('error', () => {});
  child.unref();
  child.channel?.unref();
  return child;
}
