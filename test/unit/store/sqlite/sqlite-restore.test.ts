import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { RestoredVersion, Store } from '../../../../runtime/store/store.js';

let folder: string;
let file: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-restore-'));
  file = join(folder, 'kiln.db');
  store = openSqliteStore(`sqlite:${file}`);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** A version, with an entry of its number where it is current. */
function version(id: string, number: number, lastUpdated: number, isCurrent: boolean): RestoredVersion {
  const content = { resourceType: 'Patient', id };
  const stored = { type: 'Patient', id, version: number, lastUpdated, json: JSON.stringify(content), content };
  return isCurrent ? { ...stored, entries: [{ kind: 'token', param: 'p', code: `${id}${number}` }] } : stored;
}

function codes(): unknown[] {
  const db = new Database(file, { readonly: true });
  const found = db.prepare('SELECT code FROM token ORDER BY code').pluck().all();
  db.close();
  return found;
}

describe('what is restored into a SQLite file', () => {
  it('is found by its current version only', async () => {
    await store.restore([version('a', 1, 1000, false), version('b', 1, 1000, true)]);
    expect(codes()).toEqual(['b1']);
    await store.restore([version('a', 2, 1001, true)]);
    expect(codes()).toEqual(['a2', 'b1']);
    await store.restore([version('a', 3, 1002, false)]);
    expect(codes()).toEqual(['b1']);
    await store.restore([{ type: 'Patient', id: 'b', version: 2, lastUpdated: 1003 }]);
    expect(codes()).toEqual([]);
  });

  it('may not be older than what the file ends with, for times never fall along its order', async () => {
    await store.restore([version('a', 1, 1000, true), version('b', 1, 2000, true)]);
    await expect(store.restore([version('c', 1, 1999, true)])).rejects.toThrow(
      'Patient/c/_history/1 is from 1970-01-01T00:00:01.999Z, but there are versions from 1970-01-01T00:00:02.000Z here',
    );
    await expect(store.restore([version('c', 1, 2001, true), version('d', 1, 2000, true)])).rejects.toThrow(
      /_history\/1/,
    );
    expect(await store.restore([version('a', 1, 1000, true), version('c', 1, 2000, true)])).toBe(1);
  });

  it('does not turn the clock of writes in the same commit', async () => {
    const body = { head: '{"resourceType":"Patient","id":"w","meta":{', tail: '}}' };
    const write = (expected: number) =>
      store.write([
        { type: 'Patient', id: 'w', expected, body, content: { resourceType: 'Patient', id: 'w' }, entries: [] },
      ]);
    const begin = Date.now();
    // What is asked at once is committed together.
    const [restored, refused, [written]] = await Promise.all([
      store.restore([version('a', 1, 1000, true), version('b', 1, 1001, true)]),
      store.restore([version('c', 1, 1002, true), version('a', 3, 1002, true)]).catch((error: Error) => error.message),
      write(0),
    ]);
    expect([restored, refused]).toEqual([2, expect.stringContaining('Patient/a/_history/3 does not follow')]);
    expect(written!.lastUpdated).toBeGreaterThanOrEqual(begin);
    const later = written!.lastUpdated + 3_600_000;
    await store.restore([version('c', 1, later, true)]);
    expect((await write(1))[0]!.lastUpdated).toBe(later + 1);
  });
});
