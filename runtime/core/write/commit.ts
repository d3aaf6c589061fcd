import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { FhirError } from '../../fhir/errors.js';
import { checkAborted } from '../../fhir/yield-until.js';
import { extendableTimeout, type ExtendableTimeout } from '../../fhir/with-timeout.js';
import { checkContained } from './check-contained.js';
import { openKeyQueue, type KeyQueue } from '../../store/key-queue.js';
import { countContained } from '../../store/write-contained.js';
import { moreTime, timeOf } from '../../store/write-time.js';
import { StillReferred } from '../../store/references.js';
import {
  PreconditionConflict,
  VersionConflict,
  type Change,
  type MapStep,
  type Precondition,
  type Store,
  type StoredVersion,
} from '../../store/store.js';

/** How long a write waits in the queue for earlier writes on the same keys, in milliseconds. */
const QUEUE_TIME = 4000;

/** Default time limit for the answer to a client, in milliseconds: queueing, reads and write. Extended for many changes. */
const ANSWER_TIME = 13_000;

/** Options of `commit`. */
export interface CommitOptions<T = unknown> {
  /** Greatest number of changes, if that exceeds the number of keys. */
  readonly changes?: number;
  /** Time limit for the answer, in milliseconds (`Limits.answerTime`); `Infinity`: the queue is waited for without limit too. */
  readonly answerTime?: number | undefined;
  /** Aborts when the client no longer waits for the answer. */
  readonly signal?: AbortSignal | undefined;
  /** Makes of a decision what is noted in maps with its changes, or not at all. */
  readonly steps?: ((decision: Decision<T>) => readonly MapStep[]) | undefined;
  /** Called when all work has ended, which may be after the client was answered. */
  readonly whenDone?: () => void;
}

/** The queue of the writes of each store. */
const queues = new WeakMap<Store, KeyQueue>();

/** Attempts before the client gets an error for all the conflicts. */
export const MAX_ATTEMPTS = 100;

/** Conflicts that are retried without a pause: each means that another client's write succeeded. */
const RETRIES_WITHOUT_PAUSE = 5;

/**
 * Greatest pause before later retries, in milliseconds. On a new MongoDB primary, reads return older versions than
 * transactions do, until the secondaries have confirmed the writes that it took over.
 */
const GREATEST_PAUSE = 80;

/** The changes to write, and the preconditions that must still hold when they are written. */
export interface Decision<T> {
  /** Empty: nothing is written, and preconditions do not matter. */
  readonly changes: readonly Change[];
  readonly preconditions?: readonly Precondition[];
  /** Returned to the caller of `commit`. */
  readonly result: T;
}

/** A committed decision. */
export interface Committed<T> {
  readonly result: T;
  /** The new versions, in the order of the changes. */
  readonly written: readonly StoredVersion[];
}

/**
 * Decides on changes from the content of the store and writes them. Repeats both when another write came in between, so
 * that no version gets lost and preconditions hold at the moment of the write. Within this process, commits that share a
 * key run one after the other, so that only other processes can cause a conflict.
 *
 * @param keys what the decision depends on: `Type/id` of resources, `Type?…` of searches
 * @param decide reads and decides. May run several times; its errors are those of `commit`. Once its signal has aborted,
 * nothing is written any more
 * @throws FhirError `version-conflict` after too many conflicts, `store-busy` if earlier writes take too long,
 * `transaction-too-large` for too many contained resources
 */
export function commit<T>(
  store: Store,
  keys: readonly string[],
  decide: (signal: AbortSignal) => Promise<Decision<T>>,
  { changes = 0, answerTime = ANSWER_TIME, signal, steps, whenDone }: CommitOptions<T> = {},
): Promise<Committed<T>> {
  const queue = queues.get(store) ?? openKeyQueue();
  queues.set(store, queue);
  const time = extendableTimeout(answerTime + moreTime(Math.max(keys.length, changes)));
  const end = new AbortController();
  const turn: Turn<T> = {
    steps,
    time,
    answerTime,
    signal: signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]),
  };
  // Each of the concurrent searches of a transaction adds a listener.
  setMaxListeners(0, turn.signal);
  const patience = answerTime === Infinity ? Infinity : QUEUE_TIME;
  const work = queue.run(keys, patience, () => commitInTurn(store, decide, turn));
  if (whenDone !== undefined) work.then(whenDone, whenDone);
  return time.race(work, () => {
    const error = turn.isWriting === true ? unanswered() : undecided();
    end.abort(error);
    return error;
  });
}

/** State of one commit, which its time limit needs. */
interface Turn<T> {
  readonly steps: CommitOptions<T>['steps'];
  readonly time: ExtendableTimeout;
  readonly answerTime: number;
  readonly signal: AbortSignal;
  isWriting?: boolean;
}

/** The error when the time limit passes before the write begins, which is then cancelled. */
function undecided(): FhirError {
  const text = 'The store did not answer in time, so nothing is written; try again, or ask for less at once';
  return new FhirError('store-unavailable', text, { headers: { 'Retry-After': '2' } });
}

/** The error when the time limit passes during the write. The write continues, and later writes on its keys wait for it. */
function unanswered(): FhirError {
  const text = 'The store did not say in time whether the write was done; look before trying again';
  return new FhirError('store-unavailable', text, { headers: { 'Retry-After': '2' } });
}

async function commitInTurn<T>(
  store: Store,
  decide: (signal: AbortSignal) => Promise<Decision<T>>,
  turn: Turn<T>,
): Promise<Committed<T>> {
  const { signal, time, answerTime } = turn;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    checkAborted(signal);
    const decision = await decide(signal);
    const { changes, preconditions = [], result } = decision;
    if (changes.length === 0) return { result, written: [] };
    // A single resource was checked when its change was composed.
    if (changes.length > 1) checkContained(countContained(changes));
    time.atLeast(answerTime + timeOf(changes));
    checkAborted(signal);
    try {
      turn.isWriting = true;
      const { steps } = turn;
      const written = steps === undefined ? store.write(changes, preconditions) : store.write(changes, preconditions, steps(decision)); // prettier-ignore
      return { result, written: await written };
    } catch (error) {
      if (!isConflict(error)) throw error;
      const refuse = error instanceof StillReferred ? error.deletion.refuse : undefined;
      if (refuse !== undefined) throw refuse(new Set(changes.map(({ type, id }) => `${type}/${id}`)));
      turn.isWriting = false;
      await pauseAfter(attempt);
    }
  }
  throw new FhirError('version-conflict');
}

/** Whether a write was not done because of what others have written, so that it is to be decided anew. */
function isConflict(error: unknown): boolean {
  return error instanceof VersionConflict || error instanceof PreconditionConflict || error instanceof StillReferred;
}

/** Waits after a conflict, where there were several already. @param attempt the number of the attempt that failed, from 0 */
export async function pauseAfter(attempt: number): Promise<void> {
  if (attempt >= RETRIES_WITHOUT_PAUSE) await sleep(Math.random() * GREATEST_PAUSE);
}
