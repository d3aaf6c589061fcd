import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { matches } from '../../../../runtime/search/query/match.js';
import type { Condition, Ends } from '../../../../runtime/search/query/query.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../../../runtime/store/store.js';
import { composite, of, quantity, query, token, walk } from '../../../contract/search/behaviour-search-helpers.js';
import { put } from '../../../contract/subject.js';

const UCUM = 'http://unitsofmeasure.org';

/** Points and intervals, closed and open; every seventh has a second value. */
const RESOURCES = Array.from({ length: 120 }, (_, n) => {
  const amount = (value: number) => {
    const ends = [{}, { low: value, high: value + 3 }, { low: value }, { high: value }][n % 4];
    return quantity({ value, ...ends, system: UCUM, code: 'g', unit: 'g', canonical: { unit: 'g', value, ...ends } });
  };
  const own = amount(n % 11);
  const entries = [
    of('amount', own),
    ...(n % 7 === 0 ? [of('amount', amount(n % 5))] : []),
    of('code-amount', composite([token(n % 3 === 0 ? 'a' : 'b', 's')], [own])),
  ];
  return { id: String(n).padStart(3, '0'), lastUpdated: 0, entries };
});

const BOUNDS = (['gt', 'gte', 'lt', 'lte'] as const).map((sign) => ({ [sign]: 5 }));
const ENDS: readonly Ends[] = [
  ...BOUNDS.flatMap((each) => [{ high: each }, { low: each }]),
  ...BOUNDS.flatMap((low) => BOUNDS.map((high) => ({ low, high }))),
  { high: { gt: 2, lt: 9 } },
];

describe('numbers by the ends of their intervals on SQLite', () => {
  let folder: string;
  let store: Store;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-ends-'));
    store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
    await store.write(RESOURCES.map(({ id, entries }) => put(id, 0, 'x', entries, 'Weighed')));
  });
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it.each(ENDS.map((ends) => [JSON.stringify(ends), ends] as const))('finds %s', async (_name, ends) => {
    for (const canonical of [undefined, 'g']) {
      const test = { is: 'quantity' as const, ...ends, ...(canonical !== undefined && { canonical }) };
      const coded = [[{ is: 'token' as const, code: 'a', system: 's' }], [test]];
      const conditions: readonly Condition[] = [
        { param: 'amount', any: [test] },
        { param: 'code-amount', composite: [coded] },
      ];
      for (const where of conditions) {
        const expected = RESOURCES.filter((each) => matches(where, each)).map(({ id }) => id);
        expect(await walk(store, query('Weighed', { where, count: 50 })), JSON.stringify(where)).toEqual(expected);
      }
    }
  });
});
