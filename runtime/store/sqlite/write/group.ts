import { SqliteError, type Database } from 'better-sqlite3';

import { packError, type Answer, type Request } from '../threads/messages.js';

/** States in which no transaction can go on, by the beginning of SQLite's result codes. */
const FATAL = ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_NOMEM', 'SQLITE_READONLY', 'SQLITE_CORRUPT', 'SQLITE_CANTOPEN'];

/** Steps around the transaction of a group. */
export interface GroupSurroundings {
  /** Takes the write lock, and begins. */
  begin(group: readonly Request[]): void;
  /** Right before the commit. */
  beforeCommit(): void;
  afterCommit(): void;
  /** Something was undone, the request alone (with the mark made before it) or the whole group. */
  undone(mark?: unknown): void;
  mark(): unknown;
  /** Does what one request asks. */
  perform(request: Request): unknown;
}

/** One of several requests failed. */
class RequestFailure extends Error {}

/**
 * Does requests of several clients in one transaction, so that one sync of the disk serves all. Each is still atomic of
 * its own: where one fails, all are undone and done again with a savepoint for each, so that only that one is undone. Savepoints cost
 * a tenth of a write and more, and requests seldom fail. No request is answered before the commit.
 */
export function openGroups(db: Database, around: GroupSurroundings): (group: readonly Request[]) => Answer[] {
  const savepoint = db.prepare('SAVEPOINT one');
  const release = db.prepare('RELEASE one');
  const rollbackTo = db.prepare('ROLLBACK TO one');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');

  function performPlainly(group: readonly Request[]): Answer[] {
    return group.map((request) => {
      try {
        return { id: request.id, value: around.perform(request) };
      } catch (error) {
        if (group.length === 1 || isFatal(error)) throw error;
        throw new RequestFailure('', { cause: error });
      }
    });
  }

  function performApart(group: readonly Request[]): Answer[] {
    const answers: Answer[] = [];
    for (const request of group) {
      const { id } = request;
      const mark = around.mark();
      savepoint.run();
      try {
        answers.push({ id, value: around.perform(request) });
      } catch (error) {
        if (!db.inTransaction || isFatal(error)) throw error;
        rollbackTo.run();
        around.undone(mark);
        answers.push({ id, failure: packError(error) });
      }
      release.run();
    }
    return answers;
  }

  function commitAll(group: readonly Request[], performAll: (group: readonly Request[]) => Answer[]): Answer[] {
    around.begin(group);
    const answers = performAll(group);
    around.beforeCommit();
    commit.run();
    around.afterCommit();
    return answers;
  }

  function run(group: readonly Request[], performAll = performPlainly): Answer[] {
    try {
      return commitAll(group, performAll);
    } catch (error) {
      if (db.inTransaction) rollback.run();
      around.undone();
      if (error instanceof RequestFailure) return run(group, performApart);
      // The disk is full for a large change, say; smaller ones may still fit. While another process keeps the lock, all wait in vain.
      if (group.length > 1 && isFatal(error)) return group.flatMap((request) => run([request]));
      const failure = packError(error);
      return group.map(({ id }) => ({ id, failure }));
    }
  }

  return (group) => run(group);
}

function isFatal(error: unknown): boolean {
  return error instanceof SqliteError && FATAL.some((code) => error.code.startsWith(code));
}
