import type { Database } from 'better-sqlite3';

import type { Expunge, Expunged, StoredVersion } from '../../store.js';
import { openContainedWriter, isPlain } from './contained-resources.js';
import type { Dictionary } from './dictionary.js';
import { openIndexWriter } from './index-entries.js';
import { openKeyGiver } from './resource-keys.js';

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

/** Removes versions for good. Inside a write transaction. */
export function openExpunger(db: Database, dictionary: Dictionary): (expunge: Expunge) => Expunged {
  const index = openIndexWriter(db, dictionary);
  const members = openContainedWriter(db, dictionary, index, openKeyGiver(db));
  const removeVersion = db.prepare<[number]>('DELETE FROM version WHERE seq = ?');
  const removeAmended = db.prepare<[number]>('DELETE FROM amended WHERE seq = ?');
  const countRemoval = db.prepare('UPDATE clock SET removals = removals + 1');
  const removeResource = db.prepare<[number]>('DELETE FROM resource WHERE key = ?');
  const selectId = db.prepare<[number], string>('SELECT id FROM resource WHERE key = ?').pluck();
  const selectPast = db.prepare<[number, number, number], VersionRow>(
    'SELECT seq, type, resource, version, updated, body FROM version WHERE resource = ? AND seq <> ? ORDER BY version LIMIT ?',
  );
  const selectBySeq = db.prepare<[number], VersionRow>(
    'SELECT seq, type, resource, version, updated, body FROM version WHERE seq = ?',
  );

  return (asked) => {
    const type = asked.type === undefined ? undefined : dictionary.findTerm(asked.type);
    if (asked.type !== undefined && type === undefined) return { count: 0, reported: [] };
    const reported = asked.report === undefined ? undefined : dictionary.findTerm(asked.report);
    const run = new ExpungeRun(asked.limit);

    /** The resources that live, or that do not, and are asked for. */
    const resources = (deleted: 0 | 1): ResourceRow[] => {
      const where = [
        'deleted = ?',
        ...(type === undefined ? [] : ['type = ?']),
        ...(asked.id === undefined ? [] : ['id = ?']),
      ];
      // What is within a resource goes with it.
      const plain = `type IN (SELECT id FROM term WHERE ${isPlain('text')})`;
      const sql = `SELECT key, seq FROM resource WHERE ${[...where, plain].join(' AND ')} LIMIT ?`;
      const values = [deleted, ...(type === undefined ? [] : [type]), ...(asked.id === undefined ? [] : [asked.id])];
      return db.prepare<unknown[], ResourceRow>(sql).all(...values, run.left);
    };

    /** Past versions of what lives, all of them asked for, or one. */
    const past = (): VersionRow[] => {
      const conditions = [
        'v.seq <> r.seq',
        ...(asked.id === undefined ? ['r.deleted = 0'] : []),
        ...(type === undefined ? [] : ['v.type = ?']),
        ...(asked.id === undefined ? [] : ['r.type = v.type AND r.id = ?']),
      ];
      const sql =
        'SELECT v.seq, v.type, v.resource, v.version, v.updated, v.body FROM version v JOIN resource r ON r.key = v.resource ' +
        `WHERE ${conditions.join(' AND ')} ORDER BY v.seq LIMIT ?`;
      const values = [...(type === undefined ? [] : [type]), ...(asked.id === undefined ? [] : [asked.id])];
      return db.prepare<unknown[], VersionRow>(sql).all(...values, run.left);
    };

    const remove = (row: VersionRow): void => {
      if (row.type === reported) run.report(toVersion(row, asked.report ?? '', selectId.get(row.resource) ?? ''));
      removeVersion.run(row.seq);
      removeAmended.run(row.seq);
      run.removed();
    };

    /** A resource with its versions, as far as the limit goes; its current version last. */
    const removeWhole = ({ key, seq }: ResourceRow): void => {
      selectPast.all(key, seq, run.left).forEach(remove);
      const current = run.left === 0 ? undefined : selectBySeq.get(seq);
      if (current === undefined) return;
      remove(current);
      index.clear(key);
      members.clear(key);
      removeResource.run(key);
    };

    const removeOne = (version: number): void => {
      const [row] = db
        .prepare<unknown[], VersionRow & { current: number; deleted: number }>(
          'SELECT v.*, r.seq AS current, r.deleted FROM resource r JOIN version v ON v.resource = r.key ' +
            'WHERE r.type = ? AND r.id = ? AND v.version = ?',
        )
        .all(type, asked.id, version);
      if (row !== undefined && row.seq !== row.current) remove(row);
    };

    if (asked.version !== undefined) removeOne(asked.version);
    else {
      if (asked.deleted === true) resources(1).forEach((row) => run.left > 0 && removeWhole(row));
      if (asked.previous === true && run.left > 0) past().forEach(remove);
      if (asked.current === true && run.left > 0) resources(0).forEach((row) => run.left > 0 && removeWhole(row));
    }
    if (run.left < asked.limit) countRemoval.run();
    return run.result();
  };
}

/** How much is left to remove, and what was removed. */
class ExpungeRun {
  private count = 0;
  private readonly reported: StoredVersion[] = [];

  constructor(private readonly limit: number) {}

  get left(): number {
    return this.limit - this.count;
  }

  removed(): void {
    this.count++;
  }

  report(version: StoredVersion): void {
    this.reported.push(version);
  }

  result(): Expunged {
    return { count: this.count, reported: this.reported };
  }
}

function toVersion({ version, updated, body }: VersionRow, type: string, id: string): StoredVersion {
  return { type, id, version, lastUpdated: updated, ...(body !== null && { json: body }) };
}
