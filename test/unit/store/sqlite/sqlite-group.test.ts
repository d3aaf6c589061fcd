import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Answer, Request } from '../../../../runtime/store/sqlite/threads/messages.js';
import { openGroups } from '../../../../runtime/store/sqlite/write/group.js';

/** Requests that write a number each: `fails` does so and fails then. */
const requests = (...kinds: readonly string[]): Request[] =>
  kinds.map((kind, n) => ({ id: n + 1, kind, args: [n + 1] }));

describe('a group of requests in one transaction', () => {
  let db: Database.Database;
  let undone: number;
  beforeEach(() => {
    db = new Database(':memory:');
    db.exec('CREATE TABLE done (n INTEGER)');
    undone = 0;
  });
  afterEach(() => db.close());

  function run(group: readonly Request[], beforeCommit = (): void => {}): Answer[] {
    const insert = db.prepare('INSERT INTO done VALUES (?)');
    return openGroups(db, {
      begin: () => void db.exec('BEGIN'),
      beforeCommit,
      afterCommit: () => {},
      undone: () => void undone++,
      mark: () => 0,
      perform({ kind, args }) {
        insert.run(...args);
        if (kind === 'fails') throw new Error('a fault');
        return `${kind} ${String(args[0])}`;
      },
    })(group);
  }
  const done = (): unknown[] => db.prepare('SELECT n FROM done ORDER BY n').pluck().all();
  const failed = (answers: readonly Answer[]): number[] =>
    answers.flatMap((answer) => ('failure' in answer ? [answer.id] : []));

  it('is done at once where none fails', () => {
    const answers = run(requests('write', 'write', 'write'));
    expect(answers.map((answer) => ('value' in answer ? answer.value : undefined))).toEqual(['write 1', 'write 2', 'write 3']); // prettier-ignore
    expect(done()).toEqual([1, 2, 3]);
    expect(undone).toBe(0);
  });

  it.each([
    ['the first', ['fails', 'write', 'write'], [1]],
    ['one in the middle', ['write', 'fails', 'write'], [2]],
    ['the last', ['write', 'write', 'fails'], [3]],
    ['several', ['fails', 'write', 'fails'], [1, 3]],
    ['all', ['fails', 'fails', 'fails'], [1, 2, 3]],
  ])('undoes only what fails: %s', (_, kinds, expected) => {
    const answers = run(requests(...kinds));
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(failed(answers)).toEqual(expected);
    expect(done()).toEqual([1, 2, 3].filter((n) => !expected.includes(n)));
    expect(db.inTransaction).toBe(false);
  });

  it('leaves nothing of one that is alone and fails', () => {
    expect(failed(run(requests('fails')))).toEqual([1]);
    expect(done()).toEqual([]);
    expect(undone).toBe(1);
    expect(db.inTransaction).toBe(false);
  });

  it('fails as a whole, and is not tried again, where the commit fails', () => {
    let attempts = 0;
    const answers = run(requests('write', 'write'), () => {
      attempts++;
      throw new Error('no commit');
    });
    expect(failed(answers)).toEqual([1, 2]);
    expect(attempts).toBe(1);
    expect(done()).toEqual([]);
  });
});
