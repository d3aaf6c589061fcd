import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { FhirError } from '../../fhir/errors.js';
import { checkAborted } from '../../fhir/yield-until.js';
import { extendableTimeout, type ExtendableTimeout } from '../../fhir/with-timeout.js';
import { checkContained } from './check-contained.js';
import { openKeyQueue, type KeyQueue } from '../../store/key-queue.js';
import { countContained } from '../../store/write-contained.js';
import { moreTime, timeOf } from '../../store/write-time.js';
import {
  PreconditionConflict,
  VersionConflict,
  type Change,
  type Precondition,
  type Store,
  type StoredVersion,
} from '../../store/store.js';

/** How long a write waits for those before it on the same keys, in milliseconds. */
const PATIENCE = 4000;

/**
 * After which a client is answered, whatever became of its turn, the reads and the write; with many changes it is longer. In
 * milliseconds.
 */
const ANSWER_TIME = 13_000;

/** What else is known of a write before it is decided. */
export interface CommitOptions {
  /** How many changes there may be, where that is more than keys. */
  readonly changes?: number;
  /** Aborts when nobody waits for it any more. */
  readonly signal?: AbortSignal | undefined;
  /** Called when nothing of it goes on any more, which may be after the client was answered. */
  readonly whenDone?: () => void;
}

/** Writes of one store that wait for each other. */
const queues = new WeakMap<Store, KeyQueue>();

/** Attempts before a client is told to try again. */
const MAX_ATTEMPTS = 100;

/** Conflicts that are answered by another attempt at once: each means that somebody else's write went through. */
const AT_ONCE = 5;

/**
 * Greatest pause after further ones, in milliseconds. A new primary shows reads older versions than transactions, until
 * the others have confirmed what it took over.
 */
const GREATEST_PAUSE = 80;

/** What is to be written, and what of all that was read has to be so still. */
export interface Decision<T> {
  /** Empty: nothing is written, and preconditions do not matter. */
  readonly changes: readonly Change[];
  readonly preconditions?: readonly Precondition[];
  /** What whoever decided wants to know afterwards. */
  readonly result: T;
}

/** A decision that was carried out. */
export interface Committed<T> {
  readonly result: T;
  /** The new versions, in the order of the changes. */
  readonly written: readonly StoredVersion[];
}

/**
 * Has changes decided on what is in the store, and writes them; when somebody else wrote in between, everything is done
 * again. So no version gets lost, and preconditions hold at the moment of the write. Within this process whoever names a
 * common key takes turns, so that only other processes can come in between.
 *
 * @param keys what the decision depends on: `Type/id` of resources, `Type?…` of searches
 * @param decide reads and decides; may run several times, and throw what a client has to be told. When its signal aborts
 * nothing will be written any more
 * @throws FhirError `version-conflict` where others keep winning, `store-busy` where too many are before it,
 * `transaction-too-large` where too much is within what is to be written
 */
export function commit<T>(
  store: Store,
  keys: readonly string[],
  decide: (signal: AbortSignal) => Promise<Decision<T>>,
  { changes = 0, signal, whenDone }: CommitOptions = {},
): Promise<Committed<T>> {
  const queue = queues.get(store) ?? openKeyQueue();
  queues.set(store, queue);
  const time = extendableTimeout(ANSWER_TIME + moreTime(Math.max(keys.length, changes)));
  const end = new AbortController();
  const turn: Turn = { time, signal: signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]) };
  // As many searches as a transaction does side by side listen to it.
  setMaxListeners(0, turn.signal);
  const work = queue.run(keys, PATIENCE, () => commitInTurn(store, decide, turn));
  if (whenDone !== undefined) work.then(whenDone, whenDone);
  return time.race(work, () => {
    const error = turn.isWriting === true ? unanswered() : undecided();
    end.abort(error);
    return error;
  });
}

/** One commit, seen by whoever waits for it. */
interface Turn {
  readonly time: ExtendableTimeout;
  readonly signal: AbortSignal;
  isWriting?: boolean;
}

/** What was not decided in time is not written any more. */
function undecided(): FhirError {
  const text = 'The store did not answer in time, so nothing is written; try again, or ask for less at once';
  return new FhirError('store-unavailable', text, { headers: { 'Retry-After': '2' } });
}

/** A write that takes longer than the client waits goes on all the same, and those behind it wait for it. */
function unanswered(): FhirError {
  const text = 'The store did not say in time whether the write was done; look before trying again';
  return new FhirError('store-unavailable', text, { headers: { 'Retry-After': '2' } });
}

async function commitInTurn<T>(
  store: Store,
  decide: (signal: AbortSignal) => Promise<Decision<T>>,
  turn: Turn,
): Promise<Committed<T>> {
  const { signal, time } = turn;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    checkAborted(signal);
    const { changes, preconditions = [], result } = await decide(signal);
    if (changes.length === 0) return { result, written: [] };
    // Of one alone it is known already.
    if (changes.length > 1) checkContained(countContained(changes));
    time.atLeast(ANSWER_TIME + timeOf(changes));
    checkAborted(signal);
    try {
      turn.isWriting = true;
      return { result, written: await store.write(changes, preconditions) };
    } catch (error) {
      if (!(error instanceof VersionConflict || error instanceof PreconditionConflict)) throw error;
      turn.isWriting = false;
      if (attempt >= AT_ONCE) await sleep(Math.random() * GREATEST_PAUSE);
    }
  }
  throw new FhirError('version-conflict');
}
