import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { MongoClient } from 'mongodb';

/** Pause between an answer and the next request, in milliseconds. */
const PAUSE = 2;

/**
 * How long a MongoDB rests after many writes before searches are measured, in milliseconds. Until the cluster's time goes on, which it does
 * each ten seconds, and some seconds more, what was written last counts as being written still, so nothing of it is remembered.
 */
export const MONGO_REST = 20_000;

/** One request beside others. */
export interface Wait {
  /** Until its answer was there, in milliseconds. */
  readonly time: number;
  /** What the server's main thread computed meanwhile; undefined: this system does not tell. */
  readonly cpu: number | undefined;
}

/** Asks a server for something small, again and again on one connection, until the work is over. */
export async function waitsDuring(pid: number, url: string, work: () => Promise<unknown>): Promise<Wait[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const waits: Wait[] = [];
  let isOver = false;
  const asking = (async (): Promise<void> => {
    while (!isOver) {
      const [cpu, start] = [mainThreadCpu(pid), performance.now()];
      await get(url, agent);
      const after = mainThreadCpu(pid);
      const used = cpu === undefined || after === undefined ? undefined : after - cpu;
      waits.push({ time: performance.now() - start, cpu: used });
      await sleep(PAUSE);
    }
  })();
  try {
    await Promise.race([work(), asking]);
  } finally {
    isOver = true;
    await asking.finally(() => agent.destroy());
  }
  return waits;
}

function get(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent }, (answer) => {
      answer.resume();
      answer.once('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`${answer.statusCode}`))));
    });
    sent.once('error', reject);
    sent.end();
  });
}

/**
 * What the main thread of a process has computed so far, in milliseconds: unlike the time by the clock it does not grow while
 * other processes have the processor. https://docs.kernel.org/scheduler/sched-stats.html
 */
function mainThreadCpu(pid: number): number | undefined {
  const text = look(`/proc/${pid}/task/${pid}/schedstat`);
  return text === '' ? undefined : Number(text.split(' ')[0]) / 1e6;
}

/** Empty on systems that have nothing there. */
function look(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Memory of a process, in bytes: what it has now, and the most that it had. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = look(`/proc/${pid}/status`);
  const read = (name: string): number => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { now: read('VmRSS'), peak: read('VmHWM') };
}

/** User and system time of a process with all its threads, in milliseconds. */
export function cpuOf(pid: number): number {
  const fields = look(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The process of a database on this machine. */
export async function processOf(url: string): Promise<number> {
  const client = new MongoClient(url);
  const { pid } = (await client.db('admin').command({ serverStatus: 1 })) as unknown as {
    readonly pid: bigint | number;
  };
  await client.close();
  return Number(pid);
}
