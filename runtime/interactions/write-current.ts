import { FhirError } from '../fhir/errors.js';
import { openKeyQueue, type KeyQueue } from '../store/key-queue.js';
import { VersionConflict, type Change, type Store, type StoredVersion } from '../store/store.js';

/** How long a write waits for those before it on the same resource, in milliseconds. */
const PATIENCE = 10_000;

/** Writes of one store that wait for each other. */
const queues = new WeakMap<Store, KeyQueue>();

/** Attempts before a client is told to try again. Each failed one means that somebody else's write went through. */
const MAX_ATTEMPTS = 100;

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
  return queue.run([`${type}/${id}`], PATIENCE, () => writeInTurn(store, type, id, decide));
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
    }
  }
  throw new FhirError('version-conflict');
}
