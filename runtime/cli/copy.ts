import { ConfigError } from '../config/config-error.js';
import { readConfig, type Flags } from '../config/read-config.js';
import { SETTINGS } from '../config/settings.js';
import { describeStaleIndex } from '../core/definitions/index-status.js';
import type { Store } from '../store/store.js';
import { compareBlobs, compareMaps } from './copy/compare-others.js';
import { compareVersions } from './copy/compare-versions.js';
import { copyAll, withProgress, type CopyJob } from './copy/copy-all.js';
import { openCopyRecord } from './copy/copy-record.js';
import { describeComparison, describeDifferences, type Comparison } from './copy/describe-comparison.js';
import { identify, isSameStore } from './copy/identify.js';
import { stopOnSignal, stoppedOrFailed } from './stop-on-signal.js';
import { EXIT, type Terminal } from './terminal.js';
import { LONG_QUERY_TIME } from '../fhir/limits.js';

/** Options of `kiln copy` besides the settings. */
export interface CopyFlags {
  readonly from: string;
  readonly to: string;
  /** Whether the target is a store of its own once it is equal: no later copy goes on there. */
  readonly isRestore?: true;
}

/** One copy under way. */
interface Job extends CopyJob {
  readonly source: Store;
}

/**
 * `kiln copy`: everything of one store into another that is empty, or into which this copy was begun: versions with their
 * numbers and times, contents, maps. Then both are read and compared. What was stopped, or killed, goes on where it was
 * when it is run again.
 *
 * @returns the exit code: 1 where it failed or something differs, 130 or 143 where a signal stopped it
 * @throws ConfigError
 */
export async function runCopy(options: CopyFlags, flags: Flags, terminal: Terminal): Promise<number> {
  const from = readStore('--from', options.from);
  const to = readStore('--to', options.to);
  if (isSameStore(from, to)) throw new ConfigError('--from and --to are the same store');
  const { config } = readConfig(flags, terminal.env);
  const stop = stopOnSignal();
  const closers: (() => Promise<void>)[] = [];
  try {
    const server = await import('../server.js');
    const patient = { ...config, 'limits.query.time': LONG_QUERY_TIME };
    const source = await server.openCore({ ...patient, store: from }, { existing: true });
    closers.push(() => source.store.close());
    const target = await server.openCore({ ...patient, store: to }, { own: source.own });
    closers.push(() => target.store.close());
    const job: Job = { source: source.store, target: target.store, terminal, signal: stop.signal };
    const record = await openCopyRecord(job.source, job.target, identify(from));
    const there = (await countVersions(job.target)).total;
    if (there > 0) terminal.err(`${there} versions are there already`);
    const { total, complete } = await countVersions(job.source);
    await copyAll(job, {
      ...{ total: total - there, complete, record, extract: target.extract },
      knownTypes: new Set(server.RESOURCE_TYPES),
      room: config['limits.resource'],
    });
    const comparison = await compareAll(job);
    for (const line of describeComparison(comparison)) terminal.out(line);
    const differences = describeDifferences(comparison);
    if (differences === '') {
      terminal.out('the copy is equal');
      if (options.isRestore === true) await record.end();
      // Search parameters that came along are in effect there from now on, and nothing has entries by them yet.
      const copied = await server.openCore({ ...patient, store: to }, { existing: true, own: source.own });
      closers.push(() => copied.store.close());
      const old = describeStaleIndex(await copied.indexStatus.notCurrent('now'));
      if (old !== undefined) terminal.out(old);
      return EXIT.done;
    }
    throw new Error(
      `the copy differs: ${differences}. Where the source was written to meanwhile, stop the servers on it and run ` +
        'the same command again',
    );
  } catch (error) {
    return stoppedOrFailed(error, stop.signal, terminal);
  } finally {
    stop.forget();
    for (const close of closers.reverse()) await close();
  }
}

async function compareAll({ source, target, terminal, signal }: Job): Promise<Comparison> {
  terminal.err('comparing both');
  let comparison: Comparison | undefined;
  await withProgress(terminal, 'versions compared', (await countVersions(source)).total, async (step) => {
    const versions = await compareVersions(source, target, signal, step);
    const blobs = await compareBlobs(source.blobs, target.blobs, signal);
    comparison = { versions, blobs, maps: await compareMaps(source.maps, target.maps) };
  });
  return comparison!;
}

/** How many versions there are, and before which instant no other can appear. */
async function countVersions(store: Store): Promise<{ readonly total: number; readonly complete: number }> {
  return store.history({ count: 0 });
}

function readStore(option: string, url: string): string {
  const { parse, mask } = SETTINGS.store;
  let store: string;
  try {
    store = parse(url);
  } catch (error) {
    throw new ConfigError(`${option} ${JSON.stringify(mask?.(url) ?? url)}: ${(error as Error).message}`);
  }
  if (store !== 'sqlite::memory:') return store;
  throw new ConfigError(`${option}: a memory store ends with this command; name a file with sqlite:PATH`);
}
