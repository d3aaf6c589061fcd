import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import type { guardRoles } from './child-guards.js';

/** A child process of a test. */
export interface Child {
  readonly process: ChildProcess;
  /** All that it said, but that it is ready. */
  readonly said: unknown[];
  /** Lets it begin. */
  begin(): void;
  /** Settles when it has ended, with its exit code or the signal. */
  readonly ended: Promise<number | string>;
}

/** Starts a role of `child.ts`; resolves when it is ready to begin. */
export async function startChild(
  url: string,
  role:
    | 'race'
    | 'update'
    | 'load'
    | 'fault'
    | 'updateFault'
    | 'updatesFault'
    | 'piecesFault'
    | keyof ReturnType<typeof guardRoles>,
  name: string,
  count = 0,
): Promise<Child> {
  const child = fork(new URL('./child.ts', import.meta.url), [url, role, name, String(count)], {
    execArgv: ['--import', new URL('./run-typescript.mjs', import.meta.url).href],
  });
  const said: unknown[] = [];
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => {
      child.on('message', (message) => said.push(message));
      resolve();
    });
    child.once('exit', (code) => reject(new Error(`a child process ended with ${code}`)));
  });
  return { process: child, said, begin: () => child.send('go'), ended };
}
