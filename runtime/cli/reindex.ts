import { ConfigError } from '../config/config-error.js';
import { readConfig, type Flags } from '../config/read-config.js';
import type { Config } from '../config/settings.js';
import { describeStaleIndex } from '../core/definitions/index-status.js';
import type { LiveSet } from '../core/definitions/definitions.js';
import { didYouMean } from '../fhir/nearest.js';
import { openReindexRecord, type ReindexRecord } from '../jobs/reindex/reindex-record.js';
import { reindexType } from '../jobs/reindex/reindex.js';
import { isMongoUrl } from '../config/mongo-url.js';
import type { Core } from '../server.js';
import { persist } from './copy/persist.js';
import { showProgress } from './load/progress.js';
import { stopOnSignal, stoppedOrFailed } from './stop-on-signal.js';
import { EXIT, type Terminal } from './terminal.js';
import { LONG_QUERY_TIME } from '../fhir/limits.js';

/** Options of `kiln reindex` besides the settings. */
export interface ReindexFlags {
  readonly type?: string;
}

/** Resources that contain what searches will not find are named up to this number. */
const MAX_NAMED = 20;

/**
 * `kiln reindex`: makes the index entries of all resources, or of one type, anew by the definitions of this program, while
 * servers run. What was stopped goes on where it was when it is run again; two at once do no harm.
 *
 * @returns the exit code: 1 where it failed, 130 or 143 where a signal stopped it
 * @throws ConfigError
 */
export async function runReindex({ type }: ReindexFlags, flags: Flags, terminal: Terminal): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  if (config.store === 'sqlite::memory:') {
    throw new ConfigError('a memory store ends with this command; name a file with --store sqlite:PATH');
  }
  const stop = stopOnSignal();
  let close = (): Promise<void> => Promise.resolve();
  try {
    const { openCore, RESOURCE_TYPES, storeExists } = await import('../server.js');
    if (type !== undefined && !RESOURCE_TYPES.includes(type)) {
      const hint = didYouMean(type, RESOURCE_TYPES);
      throw new ConfigError(`--type ${JSON.stringify(type)}: there is no such resource type${hint}`);
    }
    if (!isMongoUrl(config.store) && !storeExists(config.store))
      throw new Error(`there is no store at ${config.store}`);
    const core = await openCore({ ...config, 'limits.query.time': LONG_QUERY_TIME } satisfies Config);
    close = () => core.store.close();
    const { extract, refit, record } = await agree(core, stop.signal);
    const before = describeStaleIndex(await core.indexStatus.notCurrent());
    terminal.err(before ?? 'All index entries are current; they are made anew all the same');
    const counts = await core.store.counts();
    const types = type === undefined ? [...counts.keys()].sort() : [type];
    const total = types.reduce((sum, each) => sum + (counts.get(each) ?? 0), 0);
    const start = performance.now();
    let looked = 0;
    let replaced = 0;
    let unindexed = 0;
    const progress = showProgress(terminal, () => ({ read: looked, total, resources: looked }));
    try {
      for (const each of types) {
        replaced += await reindexType(each, {
          store: core.store,
          ...{ extract, refit, largeTexts: undefined },
          record,
          signal: stop.signal,
          limits: { resource: config['limits.resource'] },
          onStep: (count) => (looked += count),
          onUnindexed({ type, id }, reason) {
            unindexed++;
            if (unindexed <= MAX_NAMED)
              progress.line(`${type}/${id}: indexed, but searches will not find all that it contains: ${reason}`);
          },
          persist: (action) => persist(action, stop.signal),
        });
      }
      await record.settle(types, [...counts.keys()]);
    } finally {
      progress.end();
    }
    if (unindexed > MAX_NAMED) terminal.err(`and ${unindexed - MAX_NAMED} more of which searches will not find all`);
    const seconds = (performance.now() - start) / 1000;
    terminal.out(`${replaced} resources indexed anew in ${seconds.toFixed(1)} s`);
    return EXIT.done;
  } catch (error) {
    return stoppedOrFailed(error, stop.signal, terminal);
  } finally {
    stop.forget();
    await close();
  }
}

/**
 * The definitions that all who write go by. What the index remembers of them is read before it is asked whether they do: who
 * goes over to others says so first, and then has the index remember it, so that either the one or the other is noticed.
 */
async function agree(
  { store, definitions }: Pick<Core, 'store' | 'definitions'>,
  signal: AbortSignal,
): Promise<Pick<LiveSet, 'extract' | 'refit'> & { readonly record: ReindexRecord }> {
  for (;;) {
    const set = definitions.current();
    const record = await openReindexRecord(store, set.maker);
    if (await definitions.agreed(signal, set)) return { extract: set.extract, refit: set.refit, record };
  }
}
