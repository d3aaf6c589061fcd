import type { IndexEntry } from '../entry.js';
import { append } from './line.js';

/** Entries of one resource, read in parts, with those of words made one for each parameter: they are asked for together. */
export function joinWords<E extends IndexEntry>(entries: readonly E[]): E[] {
  const words = new Map<string, E>();
  for (const entry of entries) {
    if (entry.kind !== 'words') continue;
    const before = words.get(entry.param);
    const isSecond = before?.kind === 'words';
    words.set(entry.param, isSecond ? { ...entry, text: append(before.text, entry.text) } : entry);
  }
  return [...entries.filter(({ kind }) => kind !== 'words'), ...words.values()];
}
