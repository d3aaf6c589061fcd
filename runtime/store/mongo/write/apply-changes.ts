import { setImmediate } from 'node:timers/promises';

import { append } from '../../../fhir/lists.js';
import { cutChanges } from '../../change-pieces.js';
import type { StoredVersion } from '../../store.js';
import type { Raw } from '../bson/bson.js';
import type { Collections, ResourceDocument } from '../bson/documents.js';
import type { CommandOptions } from './command-options.js';
import { replaceContained } from './contained-resources.js';
import { toFound, toStep, type FoundVersion, type PlannedChange, type WriteStep } from './plan-write.js';
import { VERSION_ONLY } from '../bson/stored-version.js';
import type { WriterParts } from './writer-parts.js';

/** Versions that come with one answer of the server. */
const AT_ONCE = 200;

/** The current versions of these resources, by their `_id`, as a transaction sees them. */
export async function findVersions(
  { resource }: Pick<Collections, 'resource'>,
  keys: readonly string[],
  given: CommandOptions,
): Promise<ReadonlyMap<string, FoundVersion>> {
  const options = { ...given(), raw: true, projection: VERSION_ONLY, batchSize: AT_ONCE } as const;
  const found = new Map<string, FoundVersion>();
  for await (const bytes of resource.find<Raw>({ _id: { $in: [...keys] } }, options)) {
    const { key, ...version } = toFound(bytes);
    found.set(key, version);
  }
  return found;
}

/** Writes what was planned, in a transaction. @returns the new versions, in the order of the changes */
export type Apply = (plan: readonly PlannedChange[], given: CommandOptions) => Promise<StoredVersion[]>;

/** Documents are made and sent a few at a time: meanwhile the process serves others, and they are never all in memory. */
export function openApply({
  collections: { resource, history },
  slotOf,
  fault,
}: Pick<WriterParts, 'collections' | 'slotOf' | 'fault'>): Apply {
  async function send({ past, current, left, members }: WriteStep, given: CommandOptions): Promise<void> {
    if (past.length > 0) await history.insertMany([...past], given());
    fault('history');
    if (current.length === 0) return;
    await replaceAll(resource, current, given);
    await replaceContained(resource, left, members, given);
    fault('resource');
  }

  return async (plan, given) => {
    const written: StoredVersion[] = [];
    for (const piece of cutChanges(plan, ({ change }) => change)) {
      if (written.length > 0) await setImmediate();
      const step = toStep(piece, slotOf);
      await send(step, given);
      append(written, step.written);
    }
    return written;
  };
}

/** A document, and the version that it replaces; 0: none. */
interface Current {
  readonly document: ResourceDocument;
  readonly replaced: number;
}

/**
 * Documents with more rows and words are replaced where they are: the server then writes those keys of indexes that differ, and not
 * all of them twice. It takes some 3 ms for each, whatever is in it, as it reads in a transaction what the collection's indexes are
 * for each of them anew; to delete a document and to insert it takes 10 us a key.
 */
const MANY_KEYS = 300;

/**
 * Puts documents in the place of those that a transaction has seen. Small ones are deleted and inserted anew, which takes a tenth
 * of the time.
 */
export async function replaceAll(
  resource: Collections['resource'],
  current: readonly Current[],
  given: CommandOptions,
): Promise<void> {
  const replaced = current.filter((each) => each.replaced > 0);
  const inPlace = new Set(replaced.filter(({ document }) => hasManyKeys(document)));
  if (inPlace.size > 0) {
    const steps = [...inPlace].map(({ document: { _id, ...replacement } }) => ({
      replaceOne: { filter: { _id }, replacement },
    }));
    const { matchedCount } = await resource.bulkWrite(steps, given());
    expectAll(matchedCount, inPlace.size);
  }
  const others = replaced.filter((each) => !inPlace.has(each)).map(({ document }) => document._id);
  if (others.length > 0) {
    const { deletedCount } = await resource.deleteMany({ _id: { $in: others } }, given());
    expectAll(deletedCount, others.length);
  }
  const inserted = current.filter((each) => !inPlace.has(each)).map(({ document }) => document);
  if (inserted.length > 0) await resource.insertMany(inserted, given());
}

/** Checks an invariant: a concurrent change would have been a write conflict. */
function expectAll(found: number, expected: number): void {
  if (found !== expected) throw new Error('a version changed within a transaction');
}

function hasManyKeys(document: ResourceDocument): boolean {
  const { token, string, date, number, reference, uri, words } = document;
  const rows = [token, string, date, number, reference, uri].reduce((sum, each) => sum + (each?.length ?? 0), 0);
  return (words ?? []).reduce((sum, { w }) => sum + (w?.length ?? 0), rows) > MANY_KEYS;
}
