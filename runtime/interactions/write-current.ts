import { setTimeout as sleep } from 'node:timers/promises';

import { FhirError } from '../fhir/errors.js';
import { within } from '../fhir/within.js';
import { openKeyQueue, type KeyQueue } from '../store/key-queue.js';
import { VersionConflict, type Change, type Store, type StoredVersion } from '../store/store.js';

/** How long a write waits for those before it on the same resource, in milliseconds. */
const PATIENCE = 4000;

/** After which a client is answered, whatever became of its turn, the read and the write. In milliseconds. */
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

/** What came of a change: the version before it, and the new one, if the decision was to write. */
export interface Written {
  readonly before: StoredVersion | undefined;
  readonly after: StoredVersion | undefined;
}

/**
 * Reads the current version, has a change decided on it, and writes that; when somebody else wrote in between,
 * everything is done again. So no version gets lost, and preconditions hold at the moment of the write. Within this
 * process writes to one resource take turns, so that only those of other processes can come in between.
 *
 * @param decide the change, or undefined: nothing to write. May throw what a client has to be told
 * @throws FhirError `version-conflict` where others keep winning, `store-busy` where too many are before it
 */
export function writeCurrent(
  store: Store,
  type: string,
  id: string,
  decide: (current: StoredVersion | undefined) => Change | undefined,
): Promise<Written> {
  const queue = queues.get(store) ?? openKeyQueue();
  queues.set(store, queue);
  const work = queue.run([`${type}/${id}`], PATIENCE, () => writeInTurn(store, type, id, decide));
  return within(ANSWER_TIME, work, unanswered);
}

/** What takes longer than the client waits goes on all the same, and those behind it wait for it. */
function unanswered(): FhirError {
  const text = 'The store did not say in time whether the write was done; look before trying again';
  return new FhirError('store-unavailable', text, { headers: { 'Retry-After': '2' } });
}

async function writeInTurn(
  store: Store,
  type: string,
  id: string,
  decide: (current: StoredVersion | undefined) => Change | undefined,
): Promise<Written> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const before = await store.read(type, id);
    const change = decide(before);
    if (change === undefined) return { before, after: undefined };
    try {
      const [after] = await store.write([change]);
      return { before, after };
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      if (attempt >= AT_ONCE) await sleep(Math.random() * GREATEST_PAUSE);
    }
  }
  throw new FhirError('version-conflict');
}
