import type { Failure, Skipped } from './document.js';
import { withAllFaults } from './faults.js';
import type { LoadItem } from './items.js';
import { isBesideResources, openClashes, packageOf } from './packages.js';
import type { Outcome, Sink } from './sink.js';

/** Counts of a load: how many items had each outcome. */
export interface LoadCounts {
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  /** Files in folders that are no resources. */
  skipped: number;
  /** Bundles among what was stored. */
  bundles: number;
}

/** Tells of something that failed; the load goes on. */
export type OnFailure = (place: string, error: unknown) => void;

/** Resources in one transaction, where one sync of the disk serves them all, and bytes of their files. */
const MAX_BATCH = 200;
const MAX_BATCH_SIZE = 4 * 1024 * 1024;

/** No counts yet. */
export function newCounts(): LoadCounts {
  return { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0, bundles: 0 };
}

/**
 * Loads items into a sink, in batches, in order as far as it matters: a resource that comes twice is taken twice.
 *
 * @param counts counted up as things happen
 * @param packages paths of the packages among what is loaded
 * @throws LoadStopped
 */
export async function loadItems(
  items: AsyncIterable<LoadItem | Failure | Skipped>,
  sink: Sink,
  onFailure: OnFailure,
  counts: LoadCounts = newCounts(),
  packages: readonly string[] = [],
): Promise<LoadCounts> {
  let batch: LoadItem[] = [];
  let keys = new Set<string>();
  let size = 0;
  const clashOf = openClashes(packages, sink.keepsOthers);

  const count = (place: string, outcome: Outcome): void => {
    if (typeof outcome === 'string') counts[outcome]++;
    else {
      counts.failed++;
      onFailure(place, withAllFaults(outcome.error));
    }
  };
  const flush = async (): Promise<void> => {
    const full = batch;
    [batch, keys, size] = [[], new Set(), 0];
    if (full.length === 0) return;
    await sink.take(full, ({ place, resource }, outcome) => {
      count(place, outcome);
      if (typeof outcome === 'string' && resource.resourceType === 'Bundle') counts.bundles++;
    });
  };

  for await (const item of items) {
    if ('skipped' in item || isBesideResources(item, packages)) counts.skipped++;
    else if ('error' in item) {
      counts.failed++;
      onFailure(item.place, withAllFaults(item.error));
    } else if (item.isExecuted === true) {
      await flush();
      await sink.execute(item, ({ place }, outcome) => count(place, outcome));
    } else {
      const clash = clashOf(item);
      if (clash !== undefined) {
        count(item.place, { error: clash });
        continue;
      }
      const from = packageOf(item, packages);
      const key = item.id === undefined ? undefined : `${item.resource.resourceType}/${item.id}`;
      if (key !== undefined && keys.has(key)) await flush();
      if (key !== undefined) keys.add(key);
      batch.push(from === undefined ? item : { ...item, from });
      size += item.size;
      if (batch.length >= MAX_BATCH || size >= MAX_BATCH_SIZE) await flush();
    }
  }
  await flush();
  await sink.end();
  return counts;
}
