import { describe, expect, it } from 'vitest';

import { DraftIndex } from '../../../runtime/interactions/bundle/drafts/draft-index.js';
import { sortedRuns } from '../../../runtime/interactions/bundle/drafts/sorted-runs.js';
import type { IndexEntry } from '../../../runtime/search/entry.js';
import { matches, type Candidate } from '../../../runtime/search/query/match.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition, ValueTest } from '../../../runtime/search/query/query.js';
import { createGenerator } from '../../contract/search/behaviour-search-generator.js';
import { date, of, quantity, reference, text, token, uri } from '../../contract/search/behaviour-search-helpers.js';
import { createRandom, seedOfRun } from '../../contract/random.js';

describe('an index of what a Bundle writes', () => {
  it('has among its candidates all that fulfil a condition, whatever that is', () => {
    const random = createRandom(seedOfRun());
    const ids = Array.from({ length: 150 }, (_, n) => `r${n}`);
    const generator = createGenerator(random, ids);
    const index = new DraftIndex<Candidate>();
    const drafts: Candidate[] = [];
    let met = 0;
    for (const id of ids) {
      const draft = { id, lastUpdated: 1000, entries: generator.entries() };
      index.add(draft);
      drafts.push(draft);
      for (let n = 0; n < 10; n++) {
        const where = generator.condition();
        const expected = drafts.filter((each) => matches(where, each)).map((each) => each.id);
        const candidates = [...index.candidates(where)];
        const found = candidates.filter(({ shown }) => matches(where, shown)).map(({ draft: { id } }) => id);
        expect(found.sort(), printCondition(where)).toEqual(expected.sort());
        met += expected.length;
      }
    }
    expect(met).toBeGreaterThan(100);
  });

  it('has each candidate once, whatever others look for meanwhile', () => {
    const index = new DraftIndex<Candidate>();
    for (const id of ['a', 'b', 'c']) {
      index.add({ id, lastUpdated: 0, entries: [text(`one ${id}`), text(`other ${id}`)] });
    }
    const where: Condition = {
      param: 'p',
      any: ['one', 'other'].map((folded) => ({ is: 'string-begins', folded })),
    };
    const found: string[] = [];
    for (const { draft } of index.candidates(where)) {
      found.push(draft.id);
      expect([...index.candidates(where)]).toHaveLength(3);
    }
    expect(found.sort()).toEqual(['a', 'b', 'c']);
  });

  it('finds dates that end before they begin', () => {
    const index = new DraftIndex<Candidate>();
    index.add({ id: 'crossed', lastUpdated: 0, entries: [date(20, 10)] });
    const where: Condition = { param: 'p', any: [{ is: 'date', low: { gte: 15 }, high: { lt: 16 } }] };
    expect([...index.candidates(where)].filter(({ shown }) => matches(where, shown))).toHaveLength(1);
  });

  /** Of 1,000 resources each differs in this. */
  const CASES: readonly [string, (n: number) => IndexEntry, (n: number) => ValueTest][] = [
    ['a token', (n) => token(`c${n}`, 's'), (n) => ({ is: 'token', system: 's', code: `c${n}` })],
    ['the beginning of a text', (n) => text(`name ${n}.`), (n) => ({ is: 'string-begins', folded: `name ${n}.` })],
    ['a whole text', (n) => text(`name ${n}`), (n) => ({ is: 'string-equals', text: `name ${n}` })],
    [
      'a day',
      (n) => date(n * 10, n * 10 + 9),
      (n) => ({ is: 'date', low: { gte: n * 10 }, high: { lt: n * 10 + 10 } }),
    ],
    ['a time after all', (n) => date(n, n), () => ({ is: 'date', high: { gt: 5000 } })],
    ['a quantity', (n) => quantity({ value: n }), (n) => ({ is: 'quantity', low: { gte: n }, high: { lte: n } })],
    ['a reference', (n) => reference({ type: 'T', id: `i${n}` }), (n) => ({ is: 'reference', id: `i${n}` })],
    ['a URI', (n) => uri(`urn:x:${n}:`), (n) => ({ is: 'uri-below', value: `urn:x:${n}:` })],
  ];
  it.each(CASES)('looks at few for %s', (_name, entryOf, testOf) => {
    const index = new DraftIndex<Candidate>();
    const common = of('active', token('true'));
    let looked = 0;
    for (let n = 0; n < 1000; n++) {
      // The wider criterion comes first: that must not matter.
      const where: Condition = {
        all: [
          { param: 'active', any: [{ is: 'token', code: 'true' }] },
          { param: 'p', any: [testOf(n)] },
        ],
      };
      looked += [...index.candidates(where)].length;
      index.add({ id: `r${n}`, lastUpdated: 0, entries: [common, entryOf(n)] });
    }
    expect(looked).toBeLessThan(1000);
  });
});

describe('sorted runs', () => {
  it('have what lies between two bounds', () => {
    const random = createRandom(seedOfRun());
    const runs = sortedRuns<number, number>();
    const all: number[] = [];
    for (let n = 0; n < 300; n++) {
      const key = random.below(50);
      runs.add(key, key);
      all.push(key);
      const from = random.below(50);
      const to = from + random.below(10);
      const expected = all.filter((each) => each >= from && each <= to).sort((a, b) => a - b);
      const range = runs.between(
        (each) => each < from,
        (each) => each > to,
      );
      expect(range.count).toBe(expected.length);
      expect([...range.values()].sort((a, b) => a - b)).toEqual(expected);
    }
  });
});
