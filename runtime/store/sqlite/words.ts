import type { Database } from 'better-sqlite3';

import type { WordsTest } from '../../search/query/query.js';

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

/**
 * The text of an entry as tokens: each word with the number of the parameter in front of it, and that alone before each value,
 * so that one index has all parameters apart, values begin with something, and no phrase goes over two of them.
 */
export function toTokens(param: number, text: string): string {
  const prefix = prefixOf(param);
  return prefix + text.replaceAll(' ', ` ${prefix}`);
}

function prefixOf(param: number): string {
  return `${param.toString(36)}=`;
}

/** A test as SQLite is asked for it; each phrase is quoted, so that no word is anything else. https://www.sqlite.org/fts5.html */
export function toMatch(param: number, test: WordsTest): string {
  const prefix = prefixOf(param);
  const phrase = (words: readonly string[]): string =>
    `"${words.map((word) => prefix + word.replaceAll('"', '""')).join(' ')}"`;
  const print = (each: WordsTest): string => {
    if ('phrase' in each) return phrase(each.phrase);
    if ('begins' in each) return `${phrase(['', ...each.begins])} *`;
    if ('some' in each) return `(${each.some.map(print).join(' OR ')})`;
    const all = `(${each.all.map(print).join(' AND ')})`;
    return each.none.length === 0 ? all : `(${all} NOT (${each.none.map(print).join(' OR ')}))`;
  };
  return print(test);
}

/** Whether beginnings of words are looked for. */
export function hasBeginning(test: WordsTest): boolean {
  if ('phrase' in test) return false;
  if ('begins' in test) return true;
  return ('some' in test ? test.some : [...test.all, ...test.none]).some(hasBeginning);
}
