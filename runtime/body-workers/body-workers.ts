import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';

import { openAdmission, type Admission } from '../fhir/admission.js';
import { FhirError } from '../fhir/errors.js';
import type { JsonValue, Resource } from '../fhir/resource.js';
import type { LargeBodies } from '../core/write/large-bodies.js';
import { takeBody } from './collect.js';
import type { Job } from './messages.js';
import { packPatch } from './patch-text.js';
import { openBodyWorker, type BodyWorker } from './thread.js';

/** How large bodies are taken in. */
export interface BodyWorkerOptions {
  /** Threads; absent: two, or one where there are no more than two processors. */
  readonly threads?: number;
  /** How long a thread is kept that is not needed, in milliseconds. */
  readonly idle?: number;
  /** Greatest size of a body, in bytes: as much as two of them is at work at a time, as much as four waits. */
  readonly body: number;
}

/** Takes in large bodies, until it is closed. */
export interface BodyWorkers extends LargeBodies {
  close(): Promise<void>;
}

/** A thread takes half a second to start, and up to a hundred megabytes while it is there. In milliseconds. */
const IDLE = 3000;

/** Never: the queue is for threads alone. */
const NEVER = new AbortController().signal;

/** @param start starts a thread */
export function openBodyWorkers(start: () => Worker, options: BodyWorkerOptions): BodyWorkers {
  const { threads = availableParallelism() > 2 ? 2 : 1, idle = IDLE, body } = options;
  const bodies = admit(2 * body, 'Too many large bodies wait to be read; try again');
  const patched = admit(body, 'Too many large resources are being patched; try again');
  const turns = openAdmission({ inside: threads });
  const free = Array.from({ length: threads }, () => openBodyWorker(start));
  const all = [...free];
  let timer: NodeJS.Timeout | undefined;

  /** The one that was busy last is taken first, so that the others may end. */
  async function onThread<T>(work: (thread: BodyWorker) => Promise<T>): Promise<T> {
    const leave = await turns.enter();
    clearTimeout(timer);
    const thread = free.pop()!;
    try {
      return await work(thread);
    } finally {
      free.push(thread);
      leave();
      if (free.length === threads) timer = setTimeout(() => void endAll(), idle).unref();
    }
  }

  async function endAll(): Promise<void> {
    await Promise.all(all.map((thread) => thread.end()));
  }

  return {
    async read(bytes, how, signal) {
      const release = await bodies.enter(bytes.length, { signal });
      try {
        return { body: await onThread((thread) => readOn(thread, { bytes, ...how }, signal)), release };
      } catch (error) {
        release();
        throw error;
      }
    },
    enter: (size, signal) => patched.enter(size, { signal }),
    parse: (json, depth, purpose) =>
      onThread((thread) => readOn(thread, { bytes: Buffer.from(json), format: 'json', purpose, depth }, NEVER)),
    take: (bytes, format) => onThread((thread) => readOn(thread, { bytes, format, purpose: 'create' }, NEVER)),
    write: (json, depth, form) =>
      onThread(async (thread) => {
        const job: Job = { bytes: Buffer.from(json), format: 'json', purpose: 'parse', depth, form };
        return ((await thread.read(job, NEVER)) as string[]).join('');
      }),
    async patch(json, patch) {
      const job: Job = { bytes: Buffer.from(json), format: 'json', purpose: 'parse', patch: packPatch(patch) };
      return (await onThread((thread) => readOn(thread, job, NEVER))) as Resource;
    },
    async close() {
      clearTimeout(timer);
      await endAll();
    },
  };
}

/** Admits so many bytes at a time, and lets twice as many wait. */
function admit(inside: number, text: string): Admission {
  return openAdmission(
    { inside, waiting: 2 * inside },
    {
      refused: () => new FhirError('server-busy', text, { headers: { 'Retry-After': '5' } }),
      left: () => new FhirError('body-incomplete', 'The client left'),
    },
  );
}

async function readOn(thread: BodyWorker, job: Job, signal: AbortSignal): Promise<JsonValue> {
  return takeBody(await thread.read(job, signal));
}
