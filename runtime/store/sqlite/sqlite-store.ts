import type { Store } from '../store.js';
import { connect } from './connect.js';
import { openDictionary } from './dictionary.js';
import { locate } from './location.js';
import { openReader } from './read.js';
import { translateSqliteError } from './sqlite-errors.js';
import { openWriter } from './write.js';

/**
 * The embedded store. Its statements run on the caller's thread for now, behind the port's promises.
 *
 * @param url `sqlite:PATH` or `sqlite::memory:`
 * @param now the clock, in milliseconds
 * @throws Error where the file cannot be opened, is newer, or belongs to another program
 */
export function openSqliteStore(url: string, now: () => number = Date.now): Store {
  const { file, dispose } = locate(url);
  const db = connect(file);
  const dictionary = openDictionary(db);
  const reader = openReader(db, dictionary);
  const write = openWriter(db, dictionary, now);
  const snapshot = db.transaction((action: () => unknown) => action());

  // An async function makes a rejection of whatever the driver throws.
  async function run<T>(action: () => T): Promise<T> {
    try {
      return action();
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  return {
    read: (type, id) => run(() => reader.current(type, id)),
    readMany: (keys) =>
      run(
        () =>
          snapshot(() => keys.map(({ type, id }) => reader.current(type, id))) as ReturnType<typeof reader.current>[],
      ),
    readVersion: (type, id, version) => run(() => reader.version(type, id, version)),
    write: (changes) => run(() => write(changes)),
    counts: () => run(() => reader.counts()),
    close: () =>
      run(() => {
        db.close();
        dispose();
      }),
  };
}
