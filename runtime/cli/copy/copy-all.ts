import type { Store } from '../../store/store.js';
import { showProgress, type Progress } from '../load/progress.js';
import type { Terminal } from '../terminal.js';
import { copyBlobs } from './copy-blobs.js';
import { copyMaps } from './copy-maps.js';
import { copyVersions, type CopyVersions } from './copy-versions.js';

/** Resources that searches cannot find are named up to this number. */
const MAX_NAMED = 20;

/** The parts of a store that a copy reads. */
export interface CopySource {
  readonly scan: Store['scan'];
  readonly blobs: Pick<Store['blobs'], 'list' | 'get'>;
  readonly maps: Pick<Store['maps'], 'scan' | 'get'>;
}

/** One copy under way. */
export interface CopyJob {
  readonly source: CopySource;
  readonly target: Store;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** Further parts of it. */
export interface CopyParts extends Pick<CopyVersions, 'complete' | 'record' | 'extract' | 'knownTypes' | 'room'> {
  /** Versions that are to come. */
  readonly total: number;
}

/**
 * Copies versions, contents and maps, and says how long it took and what searches will not find.
 *
 * @throws as `copyVersions`, `copyBlobs` and `copyMaps`
 */
export async function copyAll(job: CopyJob, { total, ...more }: CopyParts): Promise<void> {
  const { source, target, terminal, signal } = job;
  const start = performance.now();
  const named = new Map<string, string>();
  let unindexed = 0;
  const copied = await withProgress(terminal, 'versions', total, (step) =>
    copyVersions({
      source,
      target,
      signal,
      ...more,
      onStep: step,
      onUnindexed({ type, id }, reason, what) {
        unindexed++;
        const lost = what === 'itself' ? 'no search will find it' : 'searches will not find all that it contains';
        if (named.size < MAX_NAMED) named.set(`${type}/${id}`, `${lost}: ${reason}`);
      },
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  terminal.err(`${copied} versions in ${seconds.toFixed(1)} s (${Math.round(copied / seconds)} a second)`);
  for (const [name, reason] of named) terminal.err(`${name}: copied, but ${reason}`);
  if (unindexed > named.size)
    terminal.err(`and ${unindexed - named.size} more that searches will not find, or not wholly`);

  const blobs = await source.blobs.list('');
  await withProgress(terminal, 'contents', blobs.length, (step) =>
    copyBlobs(source.blobs, target.blobs, signal, () => step(1)),
  );
  await copyMaps(source.maps, target.maps);
}

/** Shows how far something is while it is done. @returns how much was done */
export async function withProgress(
  terminal: Terminal,
  unit: string,
  total: number,
  action: (step: (count: number) => void) => Promise<void>,
): Promise<number> {
  let done = 0;
  const progress: Progress = showProgress(terminal, () => ({ read: done, total, resources: done, unit }));
  try {
    await action((count) => (done += count));
    return done;
  } finally {
    progress.end();
  }
}
