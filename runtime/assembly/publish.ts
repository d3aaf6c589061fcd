import type { Tables } from '../contract/tables.js';
import { ConfigError } from '../config/config-error.js';
import type { Config } from '../config/settings.js';
import { endPublication } from '../core/bulk-data/publication.js';
import type { PublishSettings } from '../core/services.js';
import { publishOn, type PublishParts } from '../jobs/export/publish.js';
import type { Log } from '../observe/log.js';
import { repeat } from '../observe/repeat.js';

/** Longest pause between two looks, in milliseconds. */
const PAUSE = 5000;

/** The type whose contents are files of their own, which no export holds. */
const BINARY = 'Binary';

/** Returns the types that the configuration publishes; undefined: none. @throws ConfigError */
export function publishSettings(
  config: Config,
  { resourceTypes }: Pick<Tables, 'resourceTypes'>,
): PublishSettings | undefined {
  const types = [...new Set(config['publish.types'])].sort();
  const wrong = types.find((type) => type === BINARY || !resourceTypes.includes(type));
  if (wrong === BINARY) throw new ConfigError('publish.types: Binary cannot be published');
  if (wrong !== undefined) throw new ConfigError(`publish.types: there is no resource type ${JSON.stringify(wrong)}`);
  return types.length === 0 ? undefined : { types, every: config['publish.every'] };
}

/**
 * Publishes from time to time, or removes what was published where nothing is any more.
 *
 * @returns ends it
 */
export function keepPublished(
  {
    settings,
    store,
    jobs,
  }: Omit<PublishParts, 'now' | 'settings'> & { readonly settings: PublishSettings | undefined },
  log: Log,
): () => void {
  const report = (error: unknown): void => log.defect('none', error);
  if (settings === undefined) {
    endPublication(store).catch(report);
    return () => {};
  }
  const pause = Math.min(PAUSE, settings.every);
  return repeat(
    () => publishOn({ settings, store, jobs, now: Date.now }),
    { first: Math.min(500, pause), pause },
    report,
  );
}
