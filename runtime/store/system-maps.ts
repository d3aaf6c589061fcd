/** Names of maps that say something about the store they are in, and nothing about any other. */
export const SYSTEM_MAPS = {
  /** How far a copy into it is. */
  copy: 'copy',
  /** By which search rows its index entries were made. */
  index: 'index',
  /** How far these are made anew, by type. */
  reindex: 'reindex',
  /** For which definitions a job was started that makes them anew. */
  reindexJob: 'reindex-job',
  /** Written anew with each write of a SearchParameter. */
  definitions: 'definitions',
  /** By which definitions each process writes that is there. */
  writers: 'writers',
  /** What it publishes. */
  publication: 'publication',
} as const;

const NAMES: ReadonlySet<string> = new Set(Object.values(SYSTEM_MAPS));

/** How the names of maps begin that the engine of subscriptions keeps: two servers must not feed one receiver. */
export const SUBSCRIPTION_MAPS = 'subscription-';

/** Whether copies leave this map out. */
export function isSystemMap(name: string): boolean {
  return NAMES.has(name) || name.startsWith(SUBSCRIPTION_MAPS);
}
