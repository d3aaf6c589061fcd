import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

import { slowness } from '../../processor-time.js';
import { memoryOf, waitsDuring } from '../measuring/waits.js';
import { put, type HostileRequest, type StallCase } from './stall-case.js';

/** A server in a process of its own. */
export interface StallServer {
  readonly pid: number;
  /** The FHIR base. */
  readonly base: string;
  stop(): Promise<void>;
}

/** What others noticed of the requests of one row. */
export interface Stall {
  readonly name: string;
  /** How many small requests of another client were answered meanwhile. */
  readonly reads: number;
  /** The longest that one of these took, in milliseconds. */
  readonly longest: number;
  /** The most that the main thread computed while one of these waited, in milliseconds; undefined: this system does not tell. */
  readonly computed: number | undefined;
  /** How many times as long as usual the processor took for a loop before or after. */
  readonly slowness: number;
  /** How far the memory of the process rose, in bytes. */
  readonly risen: number;
  /** Until the last of the requests was answered, in milliseconds. */
  readonly took: number;
  /** The statuses that are not as the row says, each with the beginning of its answer. */
  readonly unexpected: readonly string[];
  /** The server ended, or was ended because it did not answer. */
  readonly isDead: boolean;
  /** Why the row may take longer than others. */
  readonly known: string | undefined;
}

/** What another client reads. */
const SMALL = { resourceType: 'Basic', id: 'small', code: { text: 'small' } };

/** What one may wait after the answer, in milliseconds: what is freed then, and what goes on without anybody waiting for it. */
const AFTERWARDS = 100;

/** Who does not answer within this time is taken for dead, in milliseconds. */
const PATIENCE = 600_000;

/** Sends the requests of each row to a server, while another client reads. @param start starts one with the same store again and again */
export async function* runStalls(
  cases: readonly StallCase[],
  start: () => Promise<StallServer>,
): AsyncGenerator<Stall> {
  let server: StallServer | undefined;
  try {
    for (const each of cases) {
      if (server === undefined) await prepare((server = await start()));
      const refused: string[] = [];
      for (const first of each.before?.() ?? []) {
        const { status, text } = await answerTo(server.base, first);
        if (status >= 300) refused.push(`${status} to ${first.method} ${first.path.slice(0, 100)} before: ${text}`);
      }
      if (each.isFresh) {
        await server.stop();
        await prepare((server = await start()));
      }
      const stall = await runStall(each, server);
      yield { ...stall, unexpected: [...refused, ...stall.unexpected] };
      if (each.isFresh || stall.isDead) {
        await server.stop();
        server = undefined;
      }
    }
  } finally {
    await server?.stop();
  }
}

/** Stores what is read, and has the code loaded that a read needs. */
async function prepare({ base, pid }: StallServer): Promise<void> {
  const { status, text } = await answerTo(base, put(SMALL));
  if (status >= 300) throw new Error(`${status}: ${text}`);
  await waitsDuring(pid, `${base}/Basic/small`, () => sleep(200));
}

async function runStall(
  { name, requests, status, orStatus = 503, known }: StallCase,
  { pid, base }: StallServer,
): Promise<Stall> {
  const sent = requests().map((each) => ({
    ...each,
    body: each.body === undefined ? undefined : Buffer.from(each.body),
  }));
  const slownessBefore = slowness();
  forgetPeak(pid);
  const before = memoryOf(pid).now;
  const began = performance.now();
  let took = 0;
  const unexpected: string[] = [];
  let isDead = false;
  const impatience = setTimeout(() => process.kill(pid, 'SIGKILL'), PATIENCE);
  const waits = await waitsDuring(pid, `${base}/Basic/small`, async () => {
    const answers = await Promise.all(sent.map((each) => answerTo(base, each)));
    took = performance.now() - began;
    for (const answer of answers)
      if (![status, orStatus, 503].includes(answer.status)) unexpected.push(`${answer.status} ${answer.text}`);
    await sleep(AFTERWARDS);
  }).catch(() => {
    isDead = true;
    return [{ time: performance.now() - began, cpu: undefined }];
  });
  clearTimeout(impatience);
  const computed = waits.flatMap(({ cpu }) => cpu ?? []);
  return {
    name,
    reads: waits.length,
    longest: Math.max(...waits.map(({ time }) => time)),
    computed: computed.length === 0 ? undefined : Math.max(...computed),
    slowness: Math.max(slownessBefore, slowness()),
    risen: Math.max(0, memoryOf(pid).peak - before),
    took,
    unexpected: isDead ? ['nothing: the server ended'] : unexpected,
    isDead,
    known,
  };
}

/** Lets the kernel forget the greatest memory that a process had. https://docs.kernel.org/filesystems/proc.html */
function forgetPeak(pid: number): void {
  const file = `/proc/${pid}/clear_refs`;
  try {
    readFileSync(`/proc/${pid}/status`);
    writeFileSync(file, '5');
  } catch {
    // Systems without /proc tell nothing of memory.
  }
}

/** Status, and how the answer begins. On a connection of its own. */
function answerTo(
  base: string,
  { method, path, headers = {}, body }: HostileRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve) => {
    const agent = new Agent();
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const sent = request(`${base}${path}`, { method, headers: { ...headers, ...length }, agent }, (answer) => {
      let text = '';
      const end = (): void => resolve({ status: answer.statusCode ?? 0, text });
      answer.on('data', (piece: Buffer) => {
        if (text.length < 500) text += piece.toString().slice(0, 500);
      });
      answer.once('end', end).once('error', end);
    });
    sent.once('error', (error) => resolve({ status: 0, text: error.message }));
    sent.end(body);
  });
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
