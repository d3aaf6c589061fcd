import type { WordsEntry } from '../entry.js';
import { boundWords } from './bound-words.js';
import { append } from './line.js';

/** The lines of some parameters, as far as there is room. */
export interface LineCollector {
  /** Whether there is no room in a parameter, so that nothing need be read for it. */
  isFull(param: string): boolean;
  add(param: string, line: string): void;
  /** What a parameter has so far; empty: nothing. */
  textOf(param: string): string;
  entries(): WordsEntry[];
}

/**
 * Makes one. The first line for which there is no room whole is cut, and none comes behind it.
 *
 * @param most different words, each counted once for each parameter
 */
export function collectLines(most: number): LineCollector {
  const texts = new Map<string, string>();
  const full = new Set<string>();
  const take = boundWords(most);
  let isFull = false;
  const textOf = (param: string): string => texts.get(param) ?? '';
  return {
    isFull: (param) => isFull || full.has(param),
    textOf,
    add(param, line) {
      if (line === '' || isFull || full.has(param)) return;
      const taken = take(param, line);
      isFull = taken.length < line.length;
      const before = textOf(param);
      const text = append(before, taken);
      if (text.length < before.length + taken.length) full.add(param);
      if (text !== '') texts.set(param, text);
    },
    entries: () => Array.from(texts, ([param, text]): WordsEntry => ({ kind: 'words', param, text })),
  };
}
