import type { ChildProcess } from 'node:child_process';

import { FhirError } from '../../fhir/errors.js';
import { startProcess } from './start-process.js';

/** Queries that run at a time, and that wait for a turn; and how long, in milliseconds. */
const MOST = { running: 2, waiting: 20, wait: 10_000 };

/** How long a process is kept that no query has taken, in milliseconds. */
const KEPT = 60_000;

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
  signal?.addEventListener('abort', kill, { once: true });
  try {
    yield child;
  } finally {
    signal?.removeEventListener('abort', kill);
    kill();
    running--;
    waiting.shift()?.();
  }
}

/** Waits until fewer queries run. */
async function turn(signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (running >= MOST.running) {
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
  running++;
}

/** Takes the process that is ready, or a new one, and lets the next one start. */
function take(): ChildProcess {
  const ready = spare?.child;
  if (spare !== undefined) clearTimeout(spare.timer);
  const child = ready?.connected === true ? ready : start();
  child.ref();
  child.channel?.ref();
  const next = start();
  const timer = setTimeout(() => {
    if (spare?.child === next) spare = undefined;
    next.kill('SIGKILL');
  }, KEPT);
  spare = { child: next, timer: timer.unref() };
  return child;
}

/** Starts a process that keeps nothing from ending. */
function start(): ChildProcess {
  const child = startProcess();
  child.on('error', () => {});
  child.unref();
  child.channel?.unref();
  return child;
}
