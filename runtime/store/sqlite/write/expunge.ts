import type { Database } from 'better-sqlite3';

import type { Expunge, Expunged, StoredVersion } from '../../store.js';
import type { VersionAppender } from './append-version.js';
import { isPlain } from './contained-resources.js';
import type { Dictionary } from './dictionary.js';

interface ResourceRow {
  readonly key: number;
  readonly seq: number;
}

interface VersionRow {
  readonly seq: number;
  readonly type: number;
  readonly resource: number;
  readonly version: number;
  readonly updated: number;
  readonly body: string | null;
}

const COLUMNS = 'v.seq, v.type, v.resource, v.version, v.updated, v.body';

/** Removes versions for good. Inside a write transaction. */
export function openExpunger(
  db: Database,
  dictionary: Dictionary,
  versions: VersionAppender,
): (expunge: Expunge) => Expunged {
  const removeVersion = db.prepare<[number]>('DELETE FROM version WHERE seq = ?');
  const removeAmended = db.prepare<[number]>('DELETE FROM amended WHERE seq = ?');
  const countRemoval = db.prepare('UPDATE clock SET removals = removals + 1');
  const selectId = db.prepare<[number], string>('SELECT id FROM resource WHERE key = ?').pluck();
  const selectPast = db.prepare<[number, number, number], VersionRow>(
    `SELECT ${COLUMNS} FROM version v WHERE resource = ? AND seq <> ? ORDER BY version LIMIT ?`,
  );
  const selectBySeq = db.prepare<[number], VersionRow>(`SELECT ${COLUMNS} FROM version v WHERE seq = ?`);

  return (asked) => {
    const type = asked.type === undefined ? undefined : dictionary.findTerm(asked.type);
    if (asked.type !== undefined && type === undefined) return { count: 0, reported: [] };
    const reportedType = asked.report === undefined ? undefined : dictionary.findTerm(asked.report);
    const reported: StoredVersion[] = [];
    let left = asked.limit;
    /** What is asked of a resource, and of its type. */
    const isAsked = [...(type === undefined ? [] : ['r.type = ?']), ...(asked.id === undefined ? [] : ['r.id = ?'])];
    const values = [...(type === undefined ? [] : [type]), ...(asked.id === undefined ? [] : [asked.id])];

    /** The resources that live, or that do not, and are asked for. */
    const resources = (deleted: 0 | 1): ResourceRow[] => {
      // What is within a resource goes with it.
      const where = ['r.deleted = ?', ...isAsked, `r.type IN (SELECT id FROM term WHERE ${isPlain('text')})`];
      const sql = `SELECT r.key, r.seq FROM resource r WHERE ${where.join(' AND ')} LIMIT ?`;
      return db.prepare<unknown[], ResourceRow>(sql).all(deleted, ...values, left);
    };

    /** Past versions of what lives, all of them asked for, or one. */
    const past = (): VersionRow[] => {
      const where = ['v.seq <> r.seq', ...(asked.id === undefined ? ['r.deleted = 0'] : []), ...isAsked];
      // Of one resource it is found first; else the versions are gone through in their order.
      const tables =
        asked.id === undefined
          ? 'version v JOIN resource r'
          : 'resource r INDEXED BY resource_by_id CROSS JOIN version v INDEXED BY version_of_resource';
      const sql = `SELECT ${COLUMNS} FROM ${tables} ON r.key = v.resource AND r.type = v.type
        WHERE ${where.join(' AND ')} ORDER BY v.seq LIMIT ?`;
      return db.prepare<unknown[], VersionRow>(sql).all(...values, left);
    };

    const remove = (row: VersionRow): void => {
      if (row.type === reportedType) reported.push(toVersion(row, asked.report!, selectId.get(row.resource) ?? ''));
      removeVersion.run(row.seq);
      removeAmended.run(row.seq);
      left--;
    };

    /** Resources with their versions, as far as the limit goes; the current version of each last. */
    const removeWhole = (rows: readonly ResourceRow[]): void => {
      for (const { key, seq } of rows) {
        if (left > 0) selectPast.all(key, seq, left).forEach(remove);
        const current = left > 0 ? selectBySeq.get(seq) : undefined;
        if (current === undefined) continue;
        remove(current);
        versions.remove(key);
      }
    };

    const removeOne = (version: number): void => {
      const [row] = db
        .prepare<unknown[], VersionRow & { current: number }>(
          `SELECT ${COLUMNS}, r.seq AS current FROM resource r JOIN version v ON v.resource = r.key
           WHERE r.type = ? AND r.id = ? AND v.version = ?`,
        )
        .all(type, asked.id, version);
      if (row !== undefined && row.seq !== row.current) remove(row);
    };

    if (asked.version !== undefined) removeOne(asked.version);
    else {
      if (asked.deleted === true) removeWhole(resources(1));
      if (asked.previous === true && left > 0) past().forEach(remove);
      if (asked.current === true && left > 0) removeWhole(resources(0));
    }
    if (left < asked.limit) countRemoval.run();
    return { count: asked.limit - left, reported };
  };
}

function toVersion({ version, updated, body }: VersionRow, type: string, id: string): StoredVersion {
  return { type, id, version, lastUpdated: updated, ...(body !== null && { json: body }) };
}
