import { startFor } from '../../assembly/reindex-on-change.js';
import { ownerOf } from '../../auth/access/owner.js';
import { newId } from '../../fhir/id.js';
import { openJobRows } from '../../jobs/engine/job-rows.js';
import type { Terminal } from '../terminal.js';
import type { OpenPackages } from './open-packages.js';

/**
 * Leaves a job in the store that makes index entries anew where search parameters changed: a server that runs takes it up, or the next one
 * that starts.
 */
export async function startReindexing({ core, config }: OpenPackages, terminal: Pick<Terminal, 'out'>): Promise<void> {
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
