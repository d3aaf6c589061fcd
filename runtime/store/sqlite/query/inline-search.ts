import { SqliteError } from 'better-sqlite3';

import { weightOf } from '../../../search/query/criterion.js';
import { type Condition, type Target, type WordsTest, valuedBy } from '../../../search/query/query.js';
import type { FindMultiTypeQuery, FindPage, FindQuery } from '../../store.js';
import { connect } from '../file/connect.js';
import { openDictionary } from '../write/dictionary.js';
import { openFinders } from './find.js';
import { openQueryInterrupt } from '../file/query-interrupt.js';
import { openProcessorWaits, type ProcessorWaits } from '../threads/processor-waits.js';
import type { ThreadSettings } from '../settings.js';
import { translateSqliteError } from '../file/sqlite-errors.js';
import { isTooCostly } from '../file/too-costly.js';

/**
 * How long a search may take on the caller's thread, in milliseconds, once it has looked at so many rows. Most take a fraction
 * of it; the way to another thread and back would cost more than they do. What has looked at fewer was not long itself, and to
 * begin again elsewhere, where all is cold, would take longer than what is left. Time in which others had the processor is
 * no other thread's: on a busy machine the way to another thread takes longest.
 */
const SHORT = { time: 2, rows: 1000 };

/** After one that took too long none is tried for so many times as long: of the caller's time at most a tenth is lost. */
const REST = 9;

/** Larger pages are read elsewhere. */
const MOST = 100;

/** More conditions take longer than that to compile and to weigh, before any row is looked at that could end it. */
const WIDEST = 300;

/** Searches on the caller's thread, if they are short. */
export interface InlineSearch {
  /** @returns undefined where it has to be done elsewhere: it would take too long, or wait for a lock */
  find(query: FindQuery): FindPage | undefined;
  /** The same over several types. */
  findMultiType(query: FindMultiTypeQuery): FindPage | undefined;
  close(): void;
}

/**
 * Opens the connection with the first search.
 *
 * @param limits tests have others
 * @param waits closed with it; the same
 */
export function openInlineSearch(
  { file, identity, isTemporary }: ThreadSettings,
  limits: { readonly time: number; readonly rows: number } = SHORT,
  waits: ProcessorWaits = openProcessorWaits(),
): InlineSearch {
  let connection: ReturnType<typeof open> | undefined;
  let restUntil = 0;
  let asked = { at: -Infinity, waited: 0 };

  function open() {
    const db = connect(file, { cache: 8192, timeout: 0, queryOnly: true, isTemporary, identity });
    // No other thread stops a search from outside here: nothing else runs meanwhile.
    const interrupt = openQueryInterrupt(db, new Int32Array(1));
    const { find, findMultiType } = openFinders(db, openDictionary(db), interrupt);
    const one = db.transaction((query: FindQuery) => find(query));
    return { db, interrupt, one: one.deferred, across: db.transaction(findMultiType).deferred };
  }

  function current(): ReturnType<typeof open> | undefined {
    try {
      return (connection ??= open());
    } catch {
      // What is wrong those tell that are asked instead.
      return undefined;
    }
  }

  /** Read again after a millisecond alone: to ask the system costs as much as a tenth of a short search. */
  function waitedBy(now: number): number {
    if (now - asked.at > 1) asked = { at: now, waited: waits.total() };
    return asked.waited;
  }

  /** @param search on the connection */
  function attempt(count: number, search: (here: ReturnType<typeof open>) => FindPage): FindPage | undefined {
    const start = performance.now();
    const here = count > MOST || start < restUntil ? undefined : current();
    if (here === undefined) return undefined;
    const waited = waitedBy(start);
    const away = (): number => waits.total() - waited;
    try {
      here.interrupt.begin(1, limits.time, limits.rows, away);
      return search(here);
    } catch (error) {
      const isBusy = error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!isBusy && !isTooCostly(error)) throw translateSqliteError(error);
      const end = performance.now();
      restUntil = end + REST * (end - start - away());
      return undefined;
    }
  }

  return {
    find: (query) => (isWide([query]) ? undefined : attempt(query.count, ({ one }) => one(query))),
    findMultiType: (query) => (isWide(query.parts) ? undefined : attempt(query.count, ({ across }) => across(query))),
    close() {
      waits.close();
      connection?.db.close();
    },
  };
}

function isWide(parts: readonly Pick<Target, 'where'>[]): boolean {
  return parts.some(({ where }) => weightOf(where) > WIDEST || asksSeveralWords(where));
}

/** Whether an index of words may look at all that have some of them before it gives a first row, which nothing ends meanwhile. */
function asksSeveralWords(condition: Condition): boolean {
  if ('words' in condition) return valuedBy(condition).length > 1 || isOfSeveral(condition.words);
  if ('not' in condition) return asksSeveralWords(condition.not);
  if ('all' in condition) return condition.all.some(asksSeveralWords);
  if ('some' in condition) return condition.some.some(asksSeveralWords);
  if ('chain' in condition) return condition.chain.some(({ where }) => asksSeveralWords(where));
  return 'has' in condition && asksSeveralWords(condition.has.where);
}

function isOfSeveral(test: WordsTest): boolean {
  if ('phrase' in test) return test.phrase.length > 1;
  return 'all' in test || ('some' in test && test.some.some(isOfSeveral));
}
