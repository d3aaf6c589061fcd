import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { SimpleEntry } from '../../../../runtime/indexing/entry.js';
import type { SortKey } from '../../../../runtime/search/query/query.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../../../runtime/store/store.js';
import {
  date,
  idsOf,
  key,
  number,
  of,
  query,
  reference,
  text,
  token,
  uri,
  walk,
} from '../../../contract/search/behaviour-search-helpers.js';
import { put } from '../../../contract/subject.js';

const MANY = 2000;

const padded = (n: number): string => String(n).padStart(5, '0');

/** Entries by a number, in whose order they are. */
const KINDS: Readonly<Partial<Record<SortKey['by'], (n: number) => SimpleEntry>>> = {
  string: (n) => text(padded(n)),
  number: (n) => number(n),
  date: (n) => date(n, n),
  uri: (n) => uri(padded(n)),
  reference: (n) => reference({ type: 'Patient', id: padded(n) }),
  token: (n) => token(padded(n), 's'),
};

const CASES = Object.entries(KINDS).flatMap(([by, entry]) =>
  [false, true].map((isDescending) => ({ by: by as SortKey['by'], entry, isDescending, type: `${by}${isDescending}` })),
);

describe('what is sorted by a parameter of which one resource has very many values', () => {
  let folder: string;
  let store: Store;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-sort-'));
    store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
    for (const { type, entry, isDescending } of CASES) {
      const at = (n: number): SimpleEntry => entry(isDescending ? 9000 - n : n);
      // The best of the many values is the last that is written, and comes between those of the others.
      const many = Array.from({ length: MANY }, (_, n) => at(1000 + MANY - n));
      const words = Array.from({ length: MANY }, (_, n) => of('word', text(`w${n}`)));
      await store.write([
        put('a', 0, 'x', [at(5000)], type),
        put('b', 0, 'x', [at(500)], type),
        put('c', 0, 'x', [...many, ...words], type),
        put('d', 0, 'x', [at(1500), at(1400), at(1600)], type),
        put('e', 0, 'x', [...Array.from({ length: 20 }, (_, n) => at(4000 - n)), at(500)], type),
      ]);
    }
  });
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it.each(CASES)('is in order, on each page, and looks at each value a few times: $type', async (each) => {
    const { type } = each;
    const sort = [key(each.by, each.isDescending)];
    for (const count of [1, 2, 3, 4]) expect(await walk(store, query(type, { sort, count }))).toEqual([...'becda']);
    let after: string | undefined;
    for (const id of 'becda') {
      const asked = query(type, { sort, count: 1, ...(after !== undefined && { after }) });
      const page = await store.find(asked);
      expect(idsOf(page)).toEqual([id]);
      expect((await store.explain(asked)).examined).toBeLessThan(25 * MANY);
      after = page.next;
    }
  });

  it.each(CASES)('is asked for other things once: $type', async ({ type, by, isDescending }) => {
    const sort = [key(by, isDescending)];
    const where = { not: { param: 'word', any: [{ is: 'string-contains' as const, folded: 'w1999' }] } };
    expect(await walk(store, query(type, { sort, where, count: 2 }))).toEqual([...'beda']);
    expect((await store.explain(query(type, { sort, where, count: 4 }))).examined).toBeLessThan(25 * MANY);
  });
});
