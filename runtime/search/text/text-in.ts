import type { IndexEntry } from '../../indexing/entry.js';

/** The words in the entries of a parameter, or of those that it is a union of: each value once. Undefined: there are none. */
export function textIn(entries: readonly IndexEntry[]): string | undefined {
  const texts = entries.flatMap((each) => (each.kind === 'words' ? [each.text] : []));
  if (texts.length < 2) return texts[0];
  // Each value begins on a line of its own, and the first line is empty.
  const lines = texts.flatMap((text) => text.split('\n').slice(1));
  return ['', ...new Set(lines)].join('\n');
}
