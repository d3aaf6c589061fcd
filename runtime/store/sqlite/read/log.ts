import type { Database } from 'better-sqlite3';

import { COMMIT_DELAY, type LoggedVersion, type VersionLog } from '../../version-log.js';
import type { QueryInterrupt } from '../file/query-interrupt.js';
import { openLastBefore } from './last-before.js';

/** Reads the log: `version` by `seq`, which the one writer gives in the order of commits. Inside a transaction. */
export interface LogReader {
  /** As `VersionLog.read`. */
  read(after: number, limit: number): readonly LoggedVersion[] | undefined;
  placeAt(instant: number): number;
}

interface LogRow {
  readonly seq: number;
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly updated: number;
  readonly deleted: number;
  /** Of the version before: 1, it is a deletion; null, there is none any more. */
  readonly revived: number | null;
}

/** Prepares the reads. @param interrupt stops them; absent where few versions are read at a time */
export function openLogReader(db: Database, interrupt?: QueryInterrupt): LogReader {
  const select = db.prepare<[number, number], LogRow>(
    `SELECT v.seq, t.text AS type, r.id, v.version, v.updated, v.body IS NULL AS deleted,
       (SELECT b.body IS NULL FROM version b WHERE b.resource = v.resource AND b.version = v.version - 1) AS revived
     FROM version v NOT INDEXED CROSS JOIN resource r ON r.key = v.resource CROSS JOIN term t ON t.id = v.type
     WHERE v.seq > ? AND ${interrupt?.sql('v.seq') ?? 1} ORDER BY v.seq LIMIT ?`,
  );
  const end = db.prepare<[], number>('SELECT seq FROM clock').pluck();
  const lastBefore = openLastBefore(db);
  return {
    read: (after, limit) => (after > (end.get() ?? 0) ? undefined : select.all(after, limit).map(toLogged)),
    placeAt: (instant) => lastBefore(instant - COMMIT_DELAY, end.get() ?? 0),
  };
}

function toLogged({ deleted, revived, ...row }: LogRow): LoggedVersion {
  const isNew = row.version === 1 || revived === 1;
  return { ...row, interaction: deleted === 1 ? 'delete' : isNew ? 'create' : 'update' };
}

/** How often a log that is watched looks for writes of other processes, in milliseconds. */
const LOOK = 250;

/** The log of a file, and what it learns of writes of this process. */
export interface FileLog extends VersionLog {
  /** Tells those that watch of a commit. */
  wrote(): void;
  close(): void;
}

/** @param end reads the highest number ever given; the log needs no upkeep */
export function openFileLog(end: () => number, reader: Omit<VersionLog, 'end' | 'watch' | 'trim'>): FileLog {
  const listeners = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  let known = 0;

  function wrote(): void {
    for (const listener of listeners) listener();
  }

  function look(): void {
    try {
      const last = end();
      if (last > known) wrote();
      known = last;
    } catch {
      // Locked by another process for a moment.
    }
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    ...reader,
    end: async () => end(),
    watch(listener) {
      // A function of its own: the same listener may come twice.
      const own = (): void => listener();
      listeners.add(own);
      timer ??= setInterval(look, LOOK).unref();
      return () => {
        listeners.delete(own);
        if (listeners.size === 0) stop();
      };
    },
    trim: () => Promise.resolve(),
    wrote,
    close: stop,
  };
}
