import type { IndexEntry } from './entry.js';

/**
 * Counts the bytes that index entries take, as JSON, of the limit of a resource. Words are not counted: they get the
 * bytes that are left.
 */
export function jsonBytes(entries: readonly IndexEntry[]): number {
  return Buffer.byteLength(JSON.stringify(entries.filter(({ kind }) => kind !== 'words')));
}
