import { spawn } from 'node:child_process';

// Each line is the list of processes that live now. At the end of input (the parent closed it, or died in whatever
// way) they are killed and their folder goes. A shell, because it starts in a millisecond.
const SCRIPT = 'while read -r line; do pids=$line; done; [ -z "$pids" ] || kill -9 $pids; rm -rf "$0"';

/** Sees to it that processes and their folder are gone when this process is, however it ends. */
export interface Undertaker {
  /** Names the processes to kill, instead of those named before. */
  watch(pids: readonly number[]): void;
  /** Kills and removes now; resolves when it is done. */
  bury(): Promise<void>;
}

/** Starts one; it removes the folder at the end. */
export function hireUndertaker(folder: string): Undertaker {
  // A group of its own: Ctrl-C in a terminal is not for it.
  const shell = spawn('/bin/sh', ['-c', SCRIPT, folder], { detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = new Promise<void>((resolve, reject) => {
    shell.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the undertaker ended with ${code}`))));
    shell.once('error', reject);
  });
  ended.catch(() => {}); // told by bury
  shell.stdin.on('error', () => {}); // it ended before us; so says bury
  shell.unref();
  (shell.stdin as typeof shell.stdin & { unref(): void }).unref();
  return {
    watch(pids) {
      // Once it buries, those that it kills are told here too.
      if (shell.stdin.writable) shell.stdin.write(`${pids.join(' ')}\n`);
    },
    bury() {
      shell.ref();
      shell.stdin.end();
      return ended;
    },
  };
}
