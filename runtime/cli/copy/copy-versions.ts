import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import { CUT_ENTRY, CUT_REASON, extractContained } from '../../indexing/contained.js';
import type { IndexEntry } from '../../indexing/entry.js';
import { fitWords } from '../../indexing/text/fit-words.js';
import type { RestoredVersion, ScannedVersion, Store } from '../../store/store.js';
import type { CopyRecord } from './copy-record.js';
import { cutVersions } from './cut-versions.js';
import { persist } from './persist.js';

/** Versions that are restored in one step, where they are small. */
const PIECE = 500;

/** Deeper than any configuration lets a body be. */
const DEPTH = 1000;

/** Parts that copying versions works with. */
export interface CopyVersions {
  readonly source: Pick<Store, 'scan'>;
  readonly target: Pick<Store, 'restore'>;
  /** Reads the index entries off a resource. */
  readonly extract: (resource: Resource) => readonly IndexEntry[];
  /** Types that have search parameters. */
  readonly knownTypes: ReadonlySet<string>;
  readonly record: Pick<CopyRecord, 'cursor' | 'advance'>;
  /**
   * The instant before which nothing new can appear in the source, milliseconds since the epoch. What is later is copied,
   * but looked at again by the next run: something may come before it.
   */
  readonly complete: number;
  /** Stops between two steps. */
  readonly signal: AbortSignal;
  /** Called after each step: how many versions it restored that were not there. */
  readonly onStep: (versions: number) => void;
  /** Bytes that entries of contained resources may have together in one. */
  readonly room: number;
  /** Called for a current resource that is copied but cannot be found by searches, or some of those that it contains. */
  readonly onUnindexed: (version: ScannedVersion, reason: string, what: 'itself' | 'contained') => void;
}

/**
 * Copies all versions from where the record is. While one piece is written, the next is read and made ready.
 *
 * @throws the signal's reason where it was stopped; Error naming the version that the target does not take
 */
export async function copyVersions(job: CopyVersions): Promise<void> {
  const { source, record, signal } = job;
  let writing: Promise<void> = Promise.resolve();
  const read = (after: string | undefined) => persist(() => source.scan(after, PIECE), signal);
  let reading = read(record.cursor);
  try {
    for (;;) {
      const { versions, next } = await reading;
      if (next === undefined) break;
      reading = read(next);
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
    const last = restored.at(-1)!;
    let count = 0;
    for (const piece of cutVersions(restored)) count += await restore(piece, job);
    if (last.lastUpdated < job.complete) await persist(() => record.advance(next, last), signal);
    job.onStep(count);
  }
}

/** @throws Error naming the version that is more than the target can hold; those before it are restored then */
async function restore(versions: readonly RestoredVersion[], job: CopyVersions): Promise<number> {
  try {
    return await persist(() => job.target.restore(versions), job.signal);
  } catch (error) {
    if (!(error instanceof FhirError) || error.status >= 500) throw error;
    const [{ type, id, version }] = versions as readonly [RestoredVersion];
    if (versions.length === 1) throw new Error(`${type}/${id}/_history/${version}: ${error.message}`, { cause: error });
    const half = Math.ceil(versions.length / 2);
    return (await restore(versions.slice(0, half), job)) + (await restore(versions.slice(half), job));
  }
}

function toRestored(scanned: ScannedVersion, job: CopyVersions): RestoredVersion {
  const { isCurrent, ...version } = scanned;
  if (version.json === undefined) return version;
  const content = readJson(version.json, DEPTH) as Resource;
  return isCurrent ? { ...version, content, ...entriesOf(content, scanned, job) } : { ...version, content };
}

/** What today's tables cannot index is copied all the same. */
function entriesOf(
  content: Resource,
  scanned: ScannedVersion,
  { extract, knownTypes, room, onUnindexed }: CopyVersions,
): Pick<RestoredVersion, 'entries' | 'contained'> {
  if (!knownTypes.has(scanned.type)) {
    onUnindexed(scanned, `${scanned.type} is no resource type`, 'itself');
    return { entries: [] };
  }
  try {
    const entries = extract(content);
    const { contained, isCut } = extractContained(content, extract, room);
    if (isCut) onUnindexed(scanned, CUT_REASON, 'contained');
    const all = isCut ? [...entries, CUT_ENTRY] : entries;
    return { entries: fitWords(all, content, scanned.json?.length ?? 0), contained };
  } catch (error) {
    onUnindexed(scanned, error instanceof Error ? error.message : String(error), 'itself');
    return { entries: [] };
  }
}
