import { setTimeout as sleep } from 'node:timers/promises';

import { FhirError } from '../fhir/errors.js';
import { growingTime, type GrowingTime } from '../fhir/within.js';
import { openKeyQueue, type KeyQueue } from '../store/key-queue.js';
import { moreTime } from '../store/write-time.js';
import {
  GuardConflict,
  VersionConflict,
  type Change,
  type Guard,
  type Store,
  type StoredVersion,
} from '../store/store.js';

/** How long a write waits for those before it on the same keys, in milliseconds. */
const PATIENCE = 4000;

/**
 * After which a client is answered, whatever became of its turn, the reads and the write; with many changes it is longer. In
 * milliseconds.
 */
const ANSWER_TIME = 13_000;

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
  /** Empty: nothing is written, and guards do not matter. */
  readonly changes: readonly Change[];
  readonly guards?: readonly Guard[];
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
 * @param decide reads and decides; may run several times, and throw what a client has to be told
 * @throws FhirError `version-conflict` where others keep winning, `store-busy` where too many are before it
 */
export function commit<T>(
  store: Store,
  keys: readonly string[],
  decide: () => Promise<Decision<T>>,
): Promise<Committed<T>> {
  const queue = queues.get(store) ?? openKeyQueue();
  queues.set(store, queue);
  const time = growingTime(ANSWER_TIME + moreTime(keys.length));
  const work = queue.run(keys, PATIENCE, () => commitInTurn(store, decide, time));
  return time.race(work, unanswered);
}

/** What takes longer than the client waits goes on all the same, and those behind it wait for it. */
function unanswered(): FhirError {
  const text = 'The store did not say in time whether the write was done; look before trying again';
  return new FhirError('store-unavailable', text, { headers: { 'Retry-After': '2' } });
}

async function commitInTurn<T>(
  store: Store,
  decide: () => Promise<Decision<T>>,
  time: GrowingTime,
): Promise<Committed<T>> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { changes, guards = [], result } = await decide();
    if (changes.length === 0) return { result, written: [] };
    time.atLeast(ANSWER_TIME + moreTime(changes.length));
    try {
      return { result, written: await store.write(changes, guards) };
    } catch (error) {
      if (!(error instanceof VersionConflict || error instanceof GuardConflict)) throw error;
      if (attempt >= AT_ONCE) await sleep(Math.random() * GREATEST_PAUSE);
    }
  }
  throw new FhirError('version-conflict');
}
