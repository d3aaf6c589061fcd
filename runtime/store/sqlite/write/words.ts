import type { Database } from 'better-sqlite3';

import type { WordsTest } from '../../../search/query/query.js';
import type { WordsEntry } from '../../../indexing/entry.js';
import { CONTENT, NARRATIVE } from '../../../indexing/text/parameters.js';
import { MOST_WORDS } from '../../../search/text/has-words.js';

/** Writes full text: one row of a resource, by its key. Inside a write transaction only. */
export interface WordsWriter {
  clear(resource: number): void;
  /** @param texts of different parameters, as `toTokens` made them */
  add(resource: number, texts: readonly string[]): void;
}

/** Prepares the statements. */
export function openWordsWriter(db: Database): WordsWriter {
  const remove = db.prepare<[number]>('DELETE FROM words WHERE rowid = ?');
  const insert = db.prepare<[number, string]>('INSERT INTO words (rowid, text) VALUES (?, ?)');
  return {
    clear: (resource) => void remove.run(resource),
    add: (resource, texts) => void insert.run(resource, texts.join(' ')),
  };
}

/** Full text of which no search asks how its values begin: `begins` of a `WordsTest`. */
const NO_BEGINNINGS: ReadonlySet<string> = new Set([CONTENT, NARRATIVE]);

/** How the values of an entry begin, as far as anybody can ask; of what is asked for words alone none. */
export function toBeginnings({ param, text }: WordsEntry): string[] {
  if (NO_BEGINNINGS.has(param)) return [];
  return text.split('\n').flatMap((line) => (line === '' ? [] : [firstWords(line)]));
}

/** So many words of a line as may be asked for; each has a space in front of it, and a last one follows. */
function firstWords(line: string): string {
  let end = 0;
  for (let count = 0; count < MOST_WORDS && end >= 0; count++) end = line.indexOf(' ', end + 1);
  return line.slice(1, end < 0 ? -1 : end);
}

/**
 * The text of an entry as tokens: each word with the number of the parameter in front of it, and that alone before each value,
 * so that one index has all parameters apart, and no phrase goes over two values.
 */
export function toTokens(param: number, text: string): string {
  const prefix = prefixOf(param);
  return prefix + text.replaceAll(' ', ` ${prefix}`);
}

function prefixOf(param: number): string {
  return `${param.toString(36)}=`;
}

/**
 * A test without beginnings as SQLite is asked for it; each phrase is quoted, so that no word is anything else.
 * https://www.sqlite.org/fts5.html
 */
export function toMatch(params: readonly number[], test: WordsTest): string {
  const phrases = (words: readonly string[]): string[] =>
    params.map(prefixOf).map((prefix) => `"${words.map((word) => prefix + word.replaceAll('"', '""')).join(' ')}"`);
  const print = (each: WordsTest): string => {
    if ('phrase' in each)
      return params.length === 1 ? phrases(each.phrase)[0]! : `(${phrases(each.phrase).join(' OR ')})`;
    if ('begins' in each) throw new Error('beginnings are looked for in a table of their own');
    if ('some' in each) return `(${each.some.map(print).join(' OR ')})`;
    const all = `(${each.all.map(print).join(' AND ')})`;
    return each.none.length === 0 ? all : `(${all} NOT (${each.none.map(print).join(' OR ')}))`;
  };
  return print(test);
}

/**
 * The texts with which a value may begin to fulfil a test, those left out that others cover; undefined: it is no test of beginnings
 * alone, of which one suffices.
 */
export function beginningsOf(test: WordsTest): readonly string[] | undefined {
  const all = allBeginnings(test);
  if (all === undefined) return undefined;
  const kept: string[] = [];
  // What a text begins with comes before it, and nothing between them but what begins so, too.
  for (const text of all.toSorted()) if (kept.length === 0 || !text.startsWith(kept.at(-1)!)) kept.push(text);
  return kept;
}

function allBeginnings(test: WordsTest): readonly string[] | undefined {
  if ('begins' in test) return [test.begins.join(' ')];
  if (!('some' in test)) return undefined;
  const parts = test.some.map(allBeginnings);
  return parts.includes(undefined) ? undefined : parts.flatMap((each) => each ?? []);
}

/** Whether beginnings of words are looked for. */
export function hasBeginning(test: WordsTest): boolean {
  if ('phrase' in test) return false;
  if ('begins' in test) return true;
  return ('some' in test ? test.some : [...test.all, ...test.none]).some(hasBeginning);
}
