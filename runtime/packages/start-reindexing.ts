import { startFor } from '../assembly/reindex-on-change.js';
import { ownerOf } from '../auth/access/owner.js';
import { newId } from '../fhir/id.js';
import { openJobRows } from '../jobs/engine/job-rows.js';
import { openReindexRecord } from '../jobs/reindex/reindex-record.js';
import type { Terminal } from '../cli/terminal.js';
import type { OpenPackages } from './open-packages.js';

/** How long it is waited for servers to go over to other definitions, in milliseconds. */
const PATIENCE = 3000;

/**
 * Leaves a job in the store that makes index entries anew where search parameters changed: a server that runs takes it up, or the next one
 * that starts. Of types without resources there is nothing to be made.
 */
export async function startReindexing(open: OpenPackages, terminal: Pick<Terminal, 'out'>): Promise<void> {
  const { core, config } = open;
  await settleEmptyTypes(open);
  if (!config['reindex.automatic']) return;
  const { store, tables } = core;
  const now = Date.now();
  await startFor(core.definitions.current(), {
    store,
    resourceTypes: tables.resourceTypes,
    log: { info: (text) => terminal.out(text) },
    jobs: {
      async start(type, input, principal, uses) {
        const progress = { done: 0, unit: 'resources' };
        const row = { id: newId(now), type, owner: ownerOf(principal, uses, tables), input, state: 'queued' } as const;
        return (await openJobRows(store).add({ ...row, created: now, progress, failures: 0, run: 0 })).job;
      },
    },
  });
}

/** Has the index remember that of types without resources nothing was made by other definitions. */
export async function settleEmptyTypes({ core: { store, tables, definitions } }: OpenPackages): Promise<void> {
  const set = definitions.current();
  const stale = await set.indexStatus.notCurrent('now');
  const owners = [...new Set(stale.map((name) => name.slice(0, name.indexOf('.'))))];
  const look = async () => {
    const stored = [...(await store.counts()).keys()];
    return { stored, empty: owners.filter((type) => tables.resourceTypes.includes(type) && !stored.includes(type)) };
  };
  if (owners.length === 0 || (await look()).empty.length === 0) return;
  // What others write from then on is by these. Where they take longer the job comes to it.
  if (!(await definitions.agreed(AbortSignal.timeout(PATIENCE), set).catch(() => false))) return;
  const { stored, empty } = await look();
  if (empty.length > 0) await (await openReindexRecord(store, set.maker)).settle(empty, stored);
}
