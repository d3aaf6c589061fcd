import type { IndexEntry } from './entry.js';

/** What entries take of the limit of a resource; words get what is left. */
export function jsonBytes(entries: readonly IndexEntry[]): number {
  return Buffer.byteLength(JSON.stringify(entries.filter(({ kind }) => kind !== 'words')));
}
