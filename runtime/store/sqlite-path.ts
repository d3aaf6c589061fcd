/** The file that the URL of a SQLite store names, as it is written there: `sqlite:./data/kiln.db`, or a path alone. */
export function sqlitePathOf(url: string): string {
  return url.replace(/^sqlite:/, '');
}

/**
 * Returns what is wrong with a path for a SQLite file, in words that follow the path; undefined: nothing. The driver
 * removes white space at both ends of a name, and SQLite ends a name at a zero: they would open another file than the
 * one that was checked. Names that end like those of SQLite's own files belong to the file before the ending, and
 * SQLite deletes them.
 */
export function whyNoSqlitePath(path: string): string | undefined {
  if (path !== path.trim()) return 'may not begin or end with white space';
  if (/\p{Cc}/u.test(path)) return 'may not hold control characters';
  const [ending] = /-(?:journal|wal|shm)$/i.exec(path) ?? [];
  return ending === undefined ? undefined : `may not end in ${ending}: SQLite has files of its own of that name`;
}
