import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Condition } from '../../../../runtime/search/query/query.js';
import { toLine } from '../../../../runtime/indexing/text/line.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import { beginningsOf, toBeginnings, toMatch } from '../../../../runtime/store/sqlite/write/words.js';
import { idsOf, query } from '../../../contract/search/behaviour-search-helpers.js';

const begins = (text: string) => ({ begins: text.split(' ') });
const entry = (param: string, ...values: string[]) =>
  ({ kind: 'words', param, text: values.map((value) => toLine(value)).join('') }) as const;

describe('beginnings of values', () => {
  it('are those of parameters that :text asks for, as far as it may ask', () => {
    expect(toBeginnings(entry('code', 'Head pain', 'x', 'of '.repeat(70)))).toEqual([
      'head pain',
      'x',
      'of '.repeat(50).trim(),
    ]);
    expect(toBeginnings(entry('_content', 'Head pain'))).toEqual([]);
    expect(toBeginnings(entry('_text', 'Head pain'))).toEqual([]);
  });

  it('are asked for once where one covers others', () => {
    const some = ['head p', 'zz', 'head', 'he', 'head pain', 'hd', 'hf'].map(begins);
    expect(beginningsOf({ some: [...some, { some: [begins('hea'), begins('a')] }] })).toEqual(['a', 'hd', 'he', 'hf', 'zz']); // prettier-ignore
  });

  it('are no part of what the index of words is asked', () => {
    expect(beginningsOf({ all: [begins('a')], none: [] })).toBeUndefined();
    expect(beginningsOf({ some: [begins('a'), { phrase: ['b'] }] })).toBeUndefined();
    expect(() => toMatch([1], { some: [begins('a'), { phrase: ['b'] }] })).toThrow('a table of their own');
  });
});

describe('a search by them', () => {
  const store = openSqliteStore('sqlite::memory:');
  afterAll(() => store.close());
  beforeAll(async () => {
    const ids = Array.from({ length: 500 }, (_, n) => `c${String(n).padStart(3, '0')}`);
    await store.write(
      ids.map((id, n) => ({
        type: 'Condition',
        id,
        expected: 0,
        body: { head: `{"resourceType":"Condition","id":"${id}","meta":{`, tail: '}}' },
        content: { resourceType: 'Condition', id },
        entries: [entry('code', n % 250 === 0 ? 'Rare fever' : `Head pain ${n}`)],
      })),
    );
  });

  it('reads ranges of an index row by row, for all words of an FTS5 index are put together before the first', async () => {
    const asked = (where: Condition) => query('Condition', { where, count: 2 });
    const rare = asked({ param: 'code', words: { some: [begins('rare f'), begins('never'), begins('rare')] } });
    expect(idsOf(await store.find(rare))).toEqual(['c000', 'c250']);
    const { indexes, compiled, examined } = await store.explain(rare);
    expect(indexes).toEqual(['beginning_by_text', 'primary key of beginning']);
    expect(compiled.join()).not.toContain('words');
    expect(examined).toBeLessThan(10);

    const both = asked({ param: 'code', words: { all: [begins('head'), { phrase: ['7'] }], none: [begins('rare')] } });
    expect(idsOf(await store.find(both))).toEqual(['c007']);
    expect((await store.explain(both)).indexes).toContain('words');
  });
});
