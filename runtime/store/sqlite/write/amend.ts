import type { Database } from 'better-sqlite3';

import { stampBody } from '../../body.js';
import type { Amendment } from '../../store.js';
import type { VersionAppender } from './append-version.js';
import type { Dictionary } from './dictionary.js';

/** An amendment without what only other stores have a use for. */
export type PlainAmendment = Omit<Amendment, 'content'>;

interface VersionRow {
  readonly seq: number;
  readonly updated: number;
  readonly body: string | null;
  /** The number of the current version. */
  readonly current: number;
  readonly amended: number | null;
}

/**
 * Replaces the content of one version. Inside a write transaction.
 *
 * @returns false where the version is not there with the content that the caller has read, or as the current one
 */
export function openAmender(
  db: Database,
  dictionary: Dictionary,
  versions: VersionAppender,
): (amendment: PlainAmendment) => boolean {
  const select = db.prepare<[number, number, string], VersionRow>(
    'SELECT v.seq, v.updated, v.body, r.version AS current, a.times AS amended FROM resource r ' +
      'JOIN version v ON v.resource = r.key AND v.version = ? LEFT JOIN amended a ON a.seq = v.seq WHERE r.type = ? AND r.id = ?',
  );
  const update = db.prepare<[string, number]>('UPDATE version SET body = ? WHERE seq = ?');
  const count = db.prepare<[number]>(
    'INSERT INTO amended (seq, times) VALUES (?, 1) ON CONFLICT (seq) DO UPDATE SET times = times + 1',
  );
  return ({ type: name, id, version, isCurrent, before, body, entries, contained }) => {
    const type = dictionary.findTerm(name);
    const row = type === undefined ? undefined : select.get(version, type, id);
    if (row === undefined || row.body !== before) return false;
    if (isCurrent === true && row.current !== version) return false;
    update.run(stampBody(body, version, row.updated), row.seq);
    const amended = row.amended ?? 0;
    if (row.current === version)
      versions.reindex({ type: name, id, version, amended, entries, ...(contained && { contained }) });
    count.run(row.seq);
    return true;
  };
}
