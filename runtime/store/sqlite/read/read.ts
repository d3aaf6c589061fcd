import type { Database } from 'better-sqlite3';

import type { StoredVersion } from '../../store.js';
import type { Dictionary } from '../write/dictionary.js';
import type { QueryInterrupt } from '../file/query-interrupt.js';
import { isPlain } from '../write/contained-resources.js';

/** Point reads, and counts. */
export interface Reader {
  current(type: string, id: string): StoredVersion | undefined;
  version(type: string, id: string, version: number): StoredVersion | undefined;
  counts(): Map<string, number>;
  /** Reads something, whatever it is. @returns whether there is anything to read */
  look(): boolean;
  /** The highest number ever given to a version. */
  lastSeq(): number;
}

interface VersionRow {
  readonly version: number;
  readonly updated: number;
  readonly body: string | null;
  readonly amended: number | null;
}

/** Prepares the statements. @param interrupt stops counts; absent where none are asked for */
export function openReader(db: Database, dictionary: Dictionary, interrupt?: QueryInterrupt): Reader {
  const selectCurrent = db.prepare<[number, string], VersionRow>(
    `SELECT v.version, v.updated, v.body, a.times AS amended FROM resource r JOIN version v ON v.seq = r.seq
     LEFT JOIN amended a ON a.seq = v.seq WHERE r.type = ? AND r.id = ?`,
  );
  const selectVersion = db.prepare<[number, string, number], VersionRow>(
    `SELECT v.version, v.updated, v.body, a.times AS amended FROM resource r JOIN version v ON v.resource = r.key
     LEFT JOIN amended a ON a.seq = v.seq WHERE r.type = ? AND r.id = ? AND v.version = ?`,
  );
  const selectCounts = db.prepare<[], { text: string; n: number }>(
    `SELECT t.text, c.n FROM (SELECT type, count(*) AS n FROM resource WHERE deleted = 0 AND ${interrupt?.sql('key') ?? 1} GROUP BY type) c
     JOIN term t ON t.id = c.type WHERE ${isPlain('t.text')}`,
  );

  const selectLast = db.prepare<[], number>('SELECT seq FROM clock').pluck();
  const selectAny = db.prepare('SELECT seq FROM version ORDER BY seq DESC LIMIT 1');

  function toVersion(type: string, id: string, row: VersionRow | undefined): StoredVersion | undefined {
    if (row === undefined) return undefined;
    const { version, updated: lastUpdated, body: json, amended } = row;
    if (json === null) return { type, id, version, lastUpdated };
    const stored = { type, id, version, lastUpdated, json };
    return amended === null ? stored : { ...stored, amended };
  }

  return {
    current(type, id) {
      const term = dictionary.findTerm(type);
      return term === undefined ? undefined : toVersion(type, id, selectCurrent.get(term, id));
    },
    version(type, id, version) {
      const term = dictionary.findTerm(type);
      return term === undefined ? undefined : toVersion(type, id, selectVersion.get(term, id, version));
    },
    counts: () => new Map(selectCounts.all().map((row) => [row.text, row.n])),
    look: () => selectAny.get() !== undefined,
    lastSeq: () => selectLast.get() ?? 0,
  };
}
