import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  compareMultiType,
  mergeMultiType,
  remainingParts,
  readMultiTypeCursor,
  writeMultiTypeCursor,
} from '../../../../runtime/store/multi-type-search.js';
import type { SortKey } from '../../../../runtime/search/query/query.js';
import { identify } from '../../../../runtime/store/sqlite/file/file-identity.js';
import { openInlineSearch } from '../../../../runtime/store/sqlite/query/inline-search.js';
import { toThreadSettings } from '../../../../runtime/store/sqlite/settings.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { FindMultiTypeQuery, Store } from '../../../../runtime/store/store.js';
import { of, reference } from '../../../contract/search/behaviour-search-helpers.js';
import { put } from '../../../contract/subject.js';

const where = { all: [] };
const parts = ['Bee', 'Ant', 'Cow'].map((type) => ({ type, where }));
const key = (param: string, by: SortKey['by'], isDescending = false): SortKey => ({ param, by, isDescending });
const namesOf = (left: ReturnType<typeof remainingParts>): string[] => left.map(({ part, left: what }) => `${part.type} ${what}`); // prettier-ignore

describe('the order of several types', () => {
  it('is that of types, then of ids; with keys that of these, of ids, of types', () => {
    const found = [
      [
        { type: 'Bee', id: 'a', values: [[1]] },
        { type: 'Bee', id: 'c', values: [null] },
      ],
      [
        { type: 'Ant', id: 'a', values: [[1]] },
        { type: 'Ant', id: 'b', values: [[2]] },
      ],
    ];
    const order = (sort: readonly SortKey[], wanted = 4): string =>
      mergeMultiType(found, sort, wanted).map(({ type, id }) => type[0] + id).join(' '); // prettier-ignore
    expect(order([])).toBe('Aa Ab Ba Bc');
    expect(order([], 3)).toBe('Aa Ab Ba');
    expect(order([key('n', 'number')])).toBe('Aa Ba Ab Bc');
    expect(order([key('n', 'number', true)])).toBe('Ab Aa Ba Bc');
    expect(order([key('_id', 'id', true)])).toBe('Bc Ab Aa Ba');
    const [one, other] = [found[0]![0]!, { type: 'Ant', id: 'a', values: [[], [5]] }];
    const keys = [key('_id', 'id'), key('n', 'number')];
    expect(compareMultiType(keys)({ ...one, values: [[], [4]] }, other), 'keys after the id').toBeGreaterThan(0);
  });

  it('goes on where a page ended', () => {
    const place = { type: 'Bee', own: 'x y' };
    expect(readMultiTypeCursor(writeMultiTypeCursor(place), parts)).toEqual(place);
    for (const text of ['', 'Bee', 'Dog x', ' x', 'bee x']) expect(() => readMultiTypeCursor(text, parts)).toThrow();
    expect(namesOf(remainingParts(parts, [], undefined))).toEqual(['Ant all', 'Bee all', 'Cow all']);
    expect(namesOf(remainingParts(parts, [], place))).toEqual(['Bee after', 'Cow all']);
    expect(namesOf(remainingParts(parts, [key('_id', 'id')], place))).toEqual(['Ant after', 'Bee after', 'Cow from']);
  });
});

describe('searches over several types', () => {
  let folder: string;
  let store: Store;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-across-'));
    store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
    const add = (type: string, count: number) =>
      store.write(
        Array.from({ length: count }, (_, n) =>
          put(`${n}`, 0, 'x', [of('next', reference({ type: 'Ant', id: `${n}` }))], type),
        ),
      );
    await add('Ant', 400);
    await add('Bee', 500);
    await add('Cow', 101);
  });
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const asked = (more: Partial<FindMultiTypeQuery> = {}): FindMultiTypeQuery => ({
    parts,
    sort: [],
    count: 20,
    total: 'cheap',
    ...more,
  });

  it('tell the total where all types together have few', async () => {
    // A request that does not ask for a total gets one only if it is found quickly, which a busy machine may not do.
    const totalOf = async (count: number) =>
      (await store.findMultiType(asked({ parts: parts.slice(0, 2), count }))).total;
    for (const count of [20, 0]) await expect.poll(() => totalOf(count)).toBe(900);
    expect((await store.findMultiType(asked())).total, '1,001').toBeUndefined();
    expect((await store.findMultiType(asked({ total: 'accurate', count: 0 }))).total).toBe(1001);
    expect((await store.findMultiType(asked({ total: 'none' }))).total).toBeUndefined();
  });

  it('show the same whether they are done here or on a thread', async () => {
    const file = join(folder, 'kiln.db');
    const settings = toThreadSettings({ file, identity: identify(file)!, isTemporary: false }, {});
    const here = openInlineSearch(settings, { time: 1e6, rows: 0 });
    const plan = {
      directives: [
        { isReverse: false, source: 'Bee', params: ['next'], iterates: false },
        { isReverse: true, source: 'Cow', params: ['next'], iterates: false },
      ],
      most: 1000,
      rounds: 5,
    };
    // Pages of more than a hundred are read on a thread.
    for (const sort of [[], [key('_id', 'id', true)], [key('_lastUpdated', 'updated')]]) {
      const query = asked({ sort, count: 90, include: plan, total: 'accurate' });
      const first = here.findMultiType(query)!;
      const next = here.findMultiType({ ...query, after: first.next! })!;
      const large = await store.findMultiType({ ...query, count: 180 });
      expect([...first.versions, ...next.versions]).toEqual(large.versions);
      expect(large.included?.every(({ json }) => json?.includes('"text":"x"'))).toBe(true);
      const names = (page: typeof large): string[] => page.included!.map(({ type, id }) => `${type}/${id}`);
      const shown = new Set(large.versions.map(({ type, id }) => `${type}/${id}`));
      const both = new Set([...names(first), ...names(next)].filter((name) => !shown.has(name)));
      expect(names(large).toSorted()).toEqual([...both].sort());
      expect(next.total).toBe(1001);
    }
    here.close();
  });

  it('do not take a place that is none of theirs', async () => {
    const { next } = await store.findMultiType(asked());
    const one = await store.find({ type: 'Ant', where, sort: [], count: 20, total: 'none' });
    const forged = [one.next!, `Dog ${one.next}`, 'Ant', 'Ant ', 'Ant x', `${next}=x`.replace('Ant', 'Dog')];
    for (const after of forged) {
      await expect(store.findMultiType(asked({ after })), after).rejects.toMatchObject({ code: 'page-invalid' });
    }
    const sort = [key('_lastUpdated', 'updated')];
    await expect(store.findMultiType(asked({ after: next!, sort }))).rejects.toMatchObject({ code: 'page-invalid' });
    expect((await store.findMultiType(asked({ after: next! }))).versions[0]?.id).toBe('20');
  });
});
