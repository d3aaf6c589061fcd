import { beforeAll, describe, expect, it } from 'vitest';

import { FhirError } from '../../../runtime/fhir/errors.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import type { Condition, ValueTest } from '../../../runtime/search/query/query.js';
import type { Store } from '../../../runtime/store/store.js';
import {
  composite,
  date,
  idsOf,
  key,
  number,
  of,
  P,
  quantity,
  query,
  reference,
  sharedStore,
  sortedIdsOf,
  text,
  token,
  uri,
} from './behaviour-search-helpers.js';
import { put, type Subject } from '../subject.js';

/** Texts that mean something to somebody, but here. */
const HOSTILE = [
  "'; DROP TABLE resource; --",
  '"quoted" `ticks` [brackets]',
  '$gt',
  '{"$ne":null}',
  '$where',
  'a.b.c',
  '.*',
  '^(a+)+$',
  '(?i)x[',
  '\\',
  '\\x00\\u0000',
  '%',
  '_',
  '\u0000',
  'a\u0000b',
  '\u0000'.repeat(3),
  '\r\n\t',
  '\u2028\u202e',
  '\ufffe\uffff',
  '\u{10ffff}',
  'e\u0301',
  '__proto__',
  'constructor',
  '?1',
  ':name',
  '@p',
  '../../etc/passwd',
  '${x}',
  'ä'.repeat(5000),
];

/** What a client may send to do harm or by its size, and what ends a search before its end. */
export function searchLimitBehaviour(on: Subject): void {
  const subject = sharedStore(on);
  let store: Store;
  beforeAll(() => {
    ({ store } = subject);
  });
  const any = (...tests: ValueTest[]): Condition => ({ param: P, any: tests });

  describe('hostile texts are texts', () => {
    const TYPES: Readonly<Record<string, (value: string) => IndexEntry>> = {
      token: (value) => token(value, value, [{ system: value, code: value }]),
      string: (value) => text(value),
      uri: (value) => uri(value),
      url: (value) => reference({ url: value, version: value, fragment: value }),
      identifier: (value) => reference({ identifier: { system: value, value } }),
      unit: (value) =>
        quantity({ value: 1, system: value, code: value, unit: value, canonical: { unit: value, value: 1 } }),
      composite: (value) => composite([token(value)], [text(value)]),
    };
    const TESTS: readonly (readonly [type: string, make: (value: string) => Condition])[] = [
      ['token', (value) => any({ is: 'token', system: value, code: value })],
      ['token', (value) => any({ is: 'of-type', system: value, code: value, value })],
      ['string', (value) => any({ is: 'string-equals', text: value })],
      ['uri', (value) => any({ is: 'uri-equals', value })],
      ['url', (value) => any({ is: 'reference', url: value, version: value, fragment: value })],
      ['identifier', (value) => any({ is: 'identifier', system: value, value })],
      ['unit', (value) => any({ is: 'quantity', system: value, unit: value })],
      ['unit', (value) => any({ is: 'quantity', canonical: value, low: { gte: 1 } })],
      [
        'composite',
        (value) => ({
          param: P,
          composite: [[[{ is: 'token', code: value }], [{ is: 'string-equals', text: value }]]],
        }),
      ],
    ];
    const BEGINNINGS: readonly (readonly [
      type: string,
      make: (value: string) => Condition,
      isFound: (whole: string, value: string) => boolean,
    ])[] = [
      ['string', (folded) => any({ is: 'string-begins', folded }), (whole, value) => whole.startsWith(value)],
      ['string', (folded) => any({ is: 'string-contains', folded }), (whole, value) => whole.includes(value)],
      [
        'token',
        (value) => any({ is: 'token-code-begins', lower: value.toLowerCase() }),
        (whole, value) => whole.toLowerCase().startsWith(value.toLowerCase()),
      ],
    ];
    beforeAll(async () => {
      for (const [type, entry] of Object.entries(TYPES)) {
        await store.write(HOSTILE.map((value, n) => put(`h${n}`, 0, 'x', [entry(value)], type)));
      }
    });

    it.each(HOSTILE.map((value, n) => ({ value, n, title: JSON.stringify(value).slice(0, 40) })))(
      '$title',
      async ({ value, n }) => {
        for (const [type, make] of TESTS) {
          expect(idsOf(await store.find(query(type, { where: make(value) }))), type).toEqual([`h${n}`]);
        }
        for (const [type, make, isFound] of BEGINNINGS) {
          const ids = HOSTILE.flatMap((whole, m) => (isFound(whole, value) ? [`h${m}`] : [])).sort();
          expect(sortedIdsOf(await store.find(query(type, { where: make(value) }))), type).toEqual(ids);
        }
        expect(idsOf(await store.find(query('token', { where: { ids: [value] } })))).toEqual([]);
        expect(idsOf(await store.find(query(value)))).toEqual([]);
        expect(idsOf(await store.find(query('token', { where: { param: value, present: 'token' } })))).toEqual([]);
      },
    );

    it('what is no text at all finds nothing, or is refused', async () => {
      for (const value of ['\ud800', 'a\udc00b', '\udfff\ud800']) {
        for (const [type, make] of TESTS) {
          const page = await store.find(query(type, { where: make(value) })).catch((error: unknown) => error);
          if (page instanceof Error) expect(page).toBeInstanceOf(FhirError);
          else expect(idsOf(page as never)).toEqual([]);
        }
      }
    });
  });

  describe('URIs of many parts', () => {
    const above = (value: string): Condition => any({ is: 'uri-above', value });
    beforeAll(() => store.write([put('u', 0, 'x', [uri('/'.repeat(500))], 'Parts')]));

    it('are found by what lies below them', async () => {
      expect(idsOf(await store.find(query('Parts', { where: above('/'.repeat(1000)) })))).toEqual(['u']);
    });
  });

  describe('lists of 10,000', () => {
    const HERE = [3, 5000, 9999];
    beforeAll(async () => {
      const entries = (n: number): IndexEntry[] => [
        of('token', token(`c${n}`, 'urn:s')),
        of('string', text(`s${n}!`)),
        of('date', date(n * 1000, n * 1000 + 9)),
        of('number', number(n)),
        of('quantity', quantity({ value: n, canonical: { unit: 'g', value: n } })),
        of('reference', reference({ type: 'Patient', id: `r${n}` })),
        of('uri', uri(`http://u/${n}`)),
        of('composite', composite([token(`c${n}`)], [number(n)])),
      ];
      const all = [...HERE, ...Array.from({ length: 100 }, (_, n) => 20_000 + n)];
      await store.write(all.map((n) => put(`i${n}`, 0, 'x', entries(n), 'Lists')));
    });
    const TESTS: Readonly<Record<string, (n: number) => ValueTest>> = {
      token: (n) => ({ is: 'token', code: `c${n}`, ...(n % 2 === 0 && { system: 'urn:s' }) }),
      string: (n) => ({ is: 'string-begins', folded: `s${n}!` }),
      date: (n) => ({ is: 'date', low: { gte: n * 1000 }, high: { lte: n * 1000 + 9 } }),
      number: (n) => ({ is: 'number', low: { gte: n - 0.5 }, high: { lt: n + 0.5 } }),
      quantity: (n) => ({ is: 'quantity', canonical: 'g', low: { gte: n - 0.5 }, high: { lt: n + 0.5 } }),
      reference: (n) => ({ is: 'reference', id: `r${n}`, types: ['Patient', 'Group'] }),
      uri: (n) => ({ is: 'uri-below', value: `http://u/${n}` }),
    };
    const numbers = Array.from({ length: 10_000 }, (_, n) => n);
    const expected = HERE.map((n) => `i${n}`);
    const conditions: readonly (readonly [string, Condition])[] = [
      ...Object.entries(TESTS).map(([param, test]) => [param, { param, any: numbers.map(test) }] as const),
      ['ids', { ids: numbers.map((n) => `i${n}`) }],
      [
        'composite',
        {
          param: 'composite',
          composite: numbers.map((n) => [[{ is: 'token', code: `c${n}` }], [{ is: 'number', low: { gte: n } }]]),
        },
      ],
    ];

    it.each(conditions)('%s: a result, or a refusal', async (_kind, where) => {
      const asked = query('Lists', { where: { all: [where, { not: { ids: ['none'] } }] }, total: 'accurate' });
      const page = await store.find(asked).catch((error: unknown) => error);
      if (page instanceof Error) expect(page).toMatchObject({ code: 'too-costly' });
      else expect(idsOf(page as never)).toEqual(expected);
    });

    it('a deep condition is one', async () => {
      let where: Condition = { param: 'token', any: [{ is: 'token', code: 'c3' }] };
      for (let depth = 0; depth < 20; depth++)
        where = depth % 2 === 0 ? { all: [where, { some: [where] }] } : { not: { not: where } };
      // As a tree this has a thousand leaves.
      const page = await store.find(query('Lists', { where })).catch((error: unknown) => error);
      if (page instanceof Error) expect(page).toBeInstanceOf(FhirError);
      else expect(idsOf(page as never)).toEqual(['i3']);
    });
  });

  describe('the end before the end', () => {
    const costly: Condition = {
      all: [
        {
          param: 'name',
          any: Array.from({ length: 5000 }, (_, n) => ({ is: 'string-contains' as const, folded: `q${n}` })),
        },
        { not: { param: 'name', any: [{ is: 'string-contains', folded: 'never' }] } },
      ],
    };
    const impatient = sharedStore(on, { queryBudget: 100 });
    beforeAll(async () => {
      const entries = Array.from({ length: 20 }, (_, n) => of('name', text(`${'lorem ipsum dolor '.repeat(20)}${n}`)));
      for (const each of [store, impatient.store]) {
        await each.write(Array.from({ length: 200 }, (_, n) => put(`w${n}`, 0, 'x', entries, 'Words')));
      }
    });

    it('a signal that is given stops it before it begins', async () => {
      const gone = AbortSignal.abort(new Error('gone'));
      await expect(store.find(query('Words'), gone)).rejects.toThrow('gone');
      await expect(store.explain(query('Words'), gone)).rejects.toThrow('gone');
    });

    it('a signal stops it', async () => {
      const controller = new AbortController();
      const asked = store.find(query('Words', { where: costly, total: 'accurate' }), controller.signal);
      setTimeout(() => controller.abort(new Error('left')), 20);
      await expect(asked).rejects.toThrow('left');
      expect(idsOf(await store.find(query('Words', { count: 1 })))).toEqual(['w0']);
    });

    it('past its budget it is too costly, in the store too, and the next goes through', async () => {
      const asked = query('Words', { where: costly, total: 'accurate' });
      for (let n = 0; n < 4; n++) {
        await expect(impatient.store.find(asked)).rejects.toMatchObject({ code: 'too-costly', status: 503 });
      }
      // On a machine that has other things to do even that may take longer than the budget, once or twice.
      const next = () => impatient.store.find(query('Words', { count: 1 })).then(idsOf, () => []);
      await expect.poll(next).toEqual(['w0']);
    });
  });

  it('explain says what find does', async () => {
    await store.write(
      Array.from({ length: 30 }, (_, n) =>
        put(`e${n}`, 0, 'x', [of('code', token(`c${n % 3}`)), of('name', text(`n${n}`))], 'Explained'),
      ),
    );
    const where: Condition = { all: [{ param: 'code', any: [{ is: 'token', code: 'c1' }] }, { param: 'name', any: [{ is: 'string-begins', folded: 'n1' }] }] }; // prettier-ignore
    for (const sort of [[], [key('string', true, 'name')]]) {
      const asked = query('Explained', { where, sort, count: 2 });
      const told = await store.explain(asked);
      expect(told.returned).toBe((await store.find(asked)).versions.length);
      expect(told.examined).toBeGreaterThanOrEqual(told.returned);
      expect(told.compiled.join('')).not.toBe('');
      expect(told.driving).not.toBe('');
    }
  });
}
