import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const START_MS = 30_000;
const LOOK_MS = 20;

/** One mongod of a replica set, which a test may end and start again. */
export interface Member {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** Process id; undefined while it is down. */
  readonly pid: number | undefined;
  /** Ends it without warning (SIGKILL); resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it (again), on its port and its data; resolves when it takes connections. */
  start(): Promise<void>;
  /** The same without its data: it gets them from the others. */
  startEmpty(): Promise<void>;
  /** Stops it in its tracks (SIGSTOP): its connections stay open and nothing answers. */
  pause(): void;
  /** Lets it go on. */
  resume(): void;
}

/**
 * A member that is not started yet.
 *
 * @param folder where its data and its log go
 * @param cache size of its cache, in GB
 * @param changed is called when a process of it was started or has ended
 */
export function createMember(mongod: string, folder: string, port: number, cache: number, changed: () => void): Member {
  const data = join(folder, String(port));
  const log = `${data}.log`;
  mkdirSync(data);
  let child: ChildProcess | undefined;
  const args = ['--replSet', 'kiln', '--bind_ip', '127.0.0.1', '--port', String(port), '--nounixsocket'];
  args.push('--dbpath', data, '--logpath', log, '--logappend', '--wiredTigerCacheSizeGB', String(cache));
  args.push('--setParameter', 'diagnosticDataCollectionEnabled=false');

  async function start(): Promise<void> {
    const started = spawn(mongod, args, { stdio: 'ignore' });
    let failed: Error | undefined;
    started.once('error', (error) => (failed = error));
    started.once('exit', () => {
      failed ??= new Error('it ended');
      if (child === started) child = undefined;
      changed();
    });
    child = started;
    changed();
    for (const end = Date.now() + START_MS; !(await answers(port)); await sleep(LOOK_MS)) {
      if (failed === undefined && Date.now() < end) continue;
      started.kill('SIGKILL');
      throw new Error(`mongod on port ${port} did not start: ${failed?.message ?? 'too late'}\n${await tail(log)}`);
    }
  }

  return {
    host: `127.0.0.1:${port}`,
    get pid() {
      return child?.pid;
    },
    start,
    async startEmpty() {
      rmSync(data, { recursive: true });
      mkdirSync(data);
      await start();
    },
    async kill() {
      if (child === undefined) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    pause() {
      if (child?.kill('SIGSTOP') === true) waitForStop(child.pid!);
    },
    resume: () => void child?.kill('SIGCONT'),
  };
}

/** Until none of its threads goes on: where the processor is busy, some do for a while after the signal. */
function waitForStop(pid: number): void {
  const tasks = `/proc/${pid}/task`;
  // Where there is no such file system, it is not waited for.
  if (!existsSync(tasks)) return;
  const isStopped = (task: string): boolean => {
    try {
      return /^\d+ \(.*\) [TtZX] /.test(readFileSync(join(tasks, task, 'stat'), 'utf8'));
    } catch {
      // It has ended meanwhile.
      return true;
    }
  };
  for (let left = 5000; left > 0 && !readdirSync(tasks).every(isStopped); left--) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** The last lines of its log. */
async function tail(log: string): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '');
  return text.split('\n').slice(-6).join('\n');
}
