import { FhirError } from '../fhir/errors.js';
import { isId, newId } from '../fhir/id.js';
import type { Resource } from '../fhir/resource.js';
import { composePut } from '../interactions/compose-change.js';
import type { Services } from '../interactions/services.js';
import { writeCurrent } from '../interactions/write-current.js';
import { VersionConflict, type Change } from '../store/store.js';
import { readResourceFile, type SourceFile } from './load-files.js';

/** What came of a load. */
export interface LoadCounts {
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  /** Files in folders that are no resources. */
  skipped: number;
}

/** Tells of a file that failed, and goes on. */
export type OnFailure = (path: string, reason: string) => void;

/** Resources in one transaction, where one sync of the disk serves them all, and bytes of their files. */
const MAX_BATCH = 200;
const MAX_BATCH_SIZE = 8 * 1024 * 1024;

interface Item {
  readonly path: string;
  readonly resource: Resource;
  readonly id: string;
}

/**
 * Loads files into a store: PUT by id, a new id where there is none, nothing where the content is there already. Other
 * processes may write meanwhile.
 */
export async function loadFiles(
  files: AsyncIterable<SourceFile>,
  core: Pick<Services, 'tables' | 'store' | 'extract'>,
  onFailure: OnFailure,
): Promise<LoadCounts> {
  const counts: LoadCounts = { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0 };
  const types = new Set(core.tables.resourceTypes);
  let batch = new Map<string, Item>();
  let batchSize = 0;

  const flush = async (): Promise<void> => {
    const items = [...batch.values()];
    batch = new Map();
    batchSize = 0;
    if (items.length > 0 && !(await writeBatch(items, core, counts))) {
      for (const item of items) await writeOne(item, core, counts, onFailure);
    }
  };

  for await (const file of files) {
    try {
      const source = await readResourceFile(file);
      if (source === undefined) {
        counts.skipped++;
        continue;
      }
      const { resource, size } = source;
      const item = toItem(file.path, resource, types);
      const key = `${resource.resourceType}/${item.id}`;
      // The same resource again has to build on what the batch is about to write.
      if (batch.has(key)) await flush();
      batch.set(key, item);
      batchSize += size;
    } catch (error) {
      counts.failed++;
      onFailure(file.path, reasonOf(error));
    }
    if (batch.size >= MAX_BATCH || batchSize >= MAX_BATCH_SIZE) await flush();
  }
  await flush();
  return counts;
}

function toItem(path: string, resource: Resource, types: ReadonlySet<string>): Item {
  const { resourceType } = resource;
  if (!types.has(resourceType)) {
    throw new FhirError('unknown-type', `unknown resource type ${JSON.stringify(resourceType.slice(0, 64))}`);
  }
  const id = resource['id'] ?? newId();
  if (typeof id !== 'string' || !isId(id)) throw new FhirError('id-invalid');
  return { path, resource, id };
}

/** @returns false where nothing was written: a resource of the batch is at fault, or somebody else wrote it */
async function writeBatch(items: readonly Item[], core: Pick<Services, 'store' | 'extract'>, counts: LoadCounts) {
  try {
    const keys = items.map(({ resource, id }) => ({ type: resource.resourceType, id }));
    const current = await core.store.readMany(keys);
    const changes: Change[] = [];
    let created = 0;
    for (const [i, { resource, id }] of items.entries()) {
      const before = current[i];
      const change = composePut(resource, id, before, core);
      if (change === undefined) continue;
      if (before?.json === undefined) created++;
      changes.push(change);
    }
    if (changes.length > 0) await core.store.write(changes);
    counts.created += created;
    counts.updated += changes.length - created;
    counts.unchanged += items.length - changes.length;
    return true;
  } catch (error) {
    if (error instanceof FhirError || error instanceof VersionConflict) return false;
    throw error;
  }
}

async function writeOne(
  { path, resource, id }: Item,
  core: Pick<Services, 'store' | 'extract'>,
  counts: LoadCounts,
  onFailure: OnFailure,
): Promise<void> {
  try {
    const { before, after } = await writeCurrent(core.store, resource.resourceType, id, (current) =>
      composePut(resource, id, current, core),
    );
    if (after === undefined) counts.unchanged++;
    else if (before?.json === undefined) counts.created++;
    else counts.updated++;
  } catch (error) {
    counts.failed++;
    onFailure(path, reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
