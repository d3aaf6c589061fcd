import type { Access } from '../../../auth/scopes/access.js';
import { OPEN_ACCESS } from '../../../auth/scopes/principal.js';
import { FhirError } from '../../../fhir/errors.js';
import { stampBody } from '../../../store/body.js';
import type { Change, Store, StoredVersion } from '../../../store/store.js';
import type { Call } from '../../../core/call.js';
import type { IndexStatus } from '../../../core/definitions/index-status.js';
import { isJudged } from '../../../core/access/visibility.js';
import type { Services } from '../../../core/services.js';
import { callOf } from '../entry-call.js';
import { inEntry, throwFaults } from '../entry-error.js';
import type { Entry } from '../entry.js';
import type { Yield } from '../../../fhir/yield-to-event-loop.js';
import { inParallel } from '../in-parallel.js';

/** Number of reads executed concurrently. */
const WIDTH = 8;

/**
 * Executes the entries that read before anything is written: reads on the store with the pending changes; of searches and
 * histories, only the parameters are checked. If one fails, the transaction is rejected.
 * https://hl7.org/fhir/R5/http.html#transaction-response
 *
 * @param changes what the transaction is about to write
 * @throws FhirError with the faults of all entries that read
 */
export async function dryRunReads(
  reads: readonly Entry[],
  changes: readonly Change[],
  bundle: Call,
  services: Services,
  yieldIfDue: Yield,
): Promise<void> {
  if (reads.length === 0) return;
  const store = storeAhead(services.store, changes, bundle.principal.access);
  const ahead = { ...services, store, indexStatus: NOTHING_INDEXED };
  const faults = new Map<number, FhirError>();
  await inParallel(reads, WIDTH, async (entry) => {
    await yieldIfDue();
    try {
      await services.entries.handle(
        callOf(entry, bundle),
        entry.route.interaction === 'capabilities' ? services : ahead,
      );
    } catch (error) {
      if (!(error instanceof FhirError) || error.status >= 500) throw error;
      faults.set(entry.index, inEntry(entry.index, error));
    }
  });
  throwFaults(faults);
}

/** Pending changes are not in any index yet, so their visibility has to be decided by content. */
const NOTHING_INDEXED: IndexStatus = { notCurrent: () => Promise.resolve(['']) };

/** The store with the pending changes, with as much content as reads need to succeed. Searches and histories are empty. */
function storeAhead(store: Store, changes: readonly Change[], access: Access): Store {
  const now = Date.now();
  const written = new Map(changes.map((change) => [`${change.type}/${change.id}`, versionOf(change, now, access)]));
  const ahead: Pick<Store, 'read' | 'readVersion' | 'find' | 'findMultiType' | 'countBy' | 'history'> = {
    read: async (type, id) => written.get(`${type}/${id}`) ?? store.read(type, id),
    async readVersion(type, id, version) {
      const own = written.get(`${type}/${id}`);
      return own?.version === version ? own : store.readVersion(type, id, version);
    },
    find: () => Promise.resolve({ versions: [], complete: now }),
    findMultiType: () => Promise.resolve({ versions: [], complete: now }),
    countBy: () => Promise.resolve([]),
    history: () => Promise.resolve({ versions: [], total: 0, complete: now }),
  };
  return new Proxy(store, {
    get(target, name) {
      if (name in ahead) return ahead[name as keyof typeof ahead];
      const own: unknown = Reflect.get(target, name);
      return typeof own === 'function' ? (own.bind(target) as unknown) : own;
    },
  });
}

function versionOf({ type, id, expected, body }: Change, now: number, access: Access): StoredVersion {
  const head = { type, id, version: expected + 1, lastUpdated: now };
  if (body === undefined) return head;
  // Visibility may depend on its content.
  const isWhole = access !== OPEN_ACCESS && isJudged(type, access.on(type, 'r'));
  return { ...head, json: isWhole ? stampBody(body, head.version, now) : JSON.stringify({ resourceType: type, id }) };
}
