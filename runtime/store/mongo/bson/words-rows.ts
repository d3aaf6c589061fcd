import type { WordsEntry } from '../../../indexing/entry.js';
import { CONTENT, NARRATIVE } from '../../../indexing/text/parameters.js';
import type { WordsRow } from './documents.js';

/** Separators of words. */
const BLANKS = /[ \n]+/;

/**
 * The rows of words. Each word of a row is a key of an index, and the narrative is a part of the content: so its words are kept once,
 * with those of the content, and its text is not kept a second time there.
 */
export function toWordsRows(entries: readonly WordsEntry[]): WordsRow[] {
  const narrative = entries.find(({ param }) => param === NARRATIVE);
  if (narrative === undefined) return entries.map(toRow);
  const others = entries.filter(({ param }) => param !== NARRATIVE && param !== CONTENT);
  const content = entries.find(({ param }) => param === CONTENT)?.text ?? '';
  // Whole lines, not the beginning of one.
  const at = `${content}\n`.indexOf(`${narrative.text}\n`);
  // The content may have been too long for all of it.
  const all = at < 0 ? content + narrative.text : content;
  const rest = at < 0 ? content : content.slice(0, at) + content.slice(at + narrative.text.length);
  return [{ p: NARRATIVE, text: narrative.text }, { p: CONTENT, w: wordsIn(all), text: rest }, ...others.map(toRow)];
}

function toRow({ param: p, text }: WordsEntry): WordsRow {
  return { p, w: wordsIn(text), text };
}

/** Each word once. */
function wordsIn(text: string): string[] {
  const words = new Set(text.split(BLANKS));
  words.delete('');
  return [...words];
}
