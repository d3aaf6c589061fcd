import type { Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import type { IndexEntry } from '../../search/entry.js';
import type { RestoredVersion, ScannedVersion, Store } from '../../store/store.js';
import type { CopyRecord } from './copy-record.js';

/** Versions that are restored in one step, where they are small. */
const PIECE = 500;

/** Deeper than any configuration lets a body be. */
const DEPTH = 1000;

/** What copying versions needs. */
export interface CopyVersions {
  readonly source: Store;
  readonly target: Store;
  /** Reads the index entries off a resource. */
  readonly extract: (resource: Resource) => readonly IndexEntry[];
  /** Types that have search parameters. */
  readonly knownTypes: ReadonlySet<string>;
  readonly record: CopyRecord;
  /** Stops between two steps. */
  readonly signal: AbortSignal;
  /** Told of each step: how many versions it restored. */
  readonly onStep: (versions: number) => void;
  /** Told of a current resource that is copied but cannot be found by searches. */
  readonly onUnindexed: (version: ScannedVersion, reason: string) => void;
}

/**
 * Copies all versions from where the record is. While one piece is written, the next is read and made ready.
 *
 * @throws the signal's reason where it was stopped; Error naming the version that the target does not take
 */
export async function copyVersions(job: CopyVersions): Promise<void> {
  const { source, target, record, signal } = job;
  let writing: Promise<void> = Promise.resolve();
  let reading = source.scan(record.cursor, PIECE);
  try {
    for (;;) {
      const { versions, next } = await reading;
      if (next === undefined) break;
      reading = source.scan(next, PIECE);
      reading.catch(() => {}); // thrown by the next turn
      const restored = versions.map((version) => toRestored(version, job));
      await writing;
      signal.throwIfAborted();
      writing = write(restored, next);
      writing.catch(() => {}); // thrown by the next turn, or the end
    }
  } finally {
    await Promise.allSettled([reading, writing]);
  }
  await writing;

  async function write(restored: readonly RestoredVersion[], next: string): Promise<void> {
    await target.restore(restored);
    await record.advance(next, restored.at(-1)!);
    job.onStep(restored.length);
  }
}

function toRestored(scanned: ScannedVersion, job: CopyVersions): RestoredVersion {
  const { isCurrent, ...version } = scanned;
  if (version.json === undefined) return version;
  const content = readJson(version.json, DEPTH) as Resource;
  return isCurrent ? { ...version, content, entries: entriesOf(content, scanned, job) } : { ...version, content };
}

/** What today's tables cannot index is copied all the same. */
function entriesOf(
  content: Resource,
  scanned: ScannedVersion,
  { extract, knownTypes, onUnindexed }: CopyVersions,
): readonly IndexEntry[] {
  if (!knownTypes.has(scanned.type)) {
    onUnindexed(scanned, `${scanned.type} is no resource type`);
    return [];
  }
  try {
    return extract(content);
  } catch (error) {
    onUnindexed(scanned, error instanceof Error ? error.message : String(error));
    return [];
  }
}
