import { describe, expect, it } from 'vitest';

import type { Condition, ValueTest } from '../../../runtime/search/query/query.js';
import { packQuery, unpackQuery } from '../../../runtime/store/sqlite/threads/packed-query.js';
import type { FindQuery } from '../../../runtime/store/store.js';

const many = (make: (i: number) => ValueTest): ValueTest[] => Array.from({ length: 30 }, (_, i) => make(i));
const query = (where: Condition): FindQuery => ({ type: 'Observation', where, sort: [], count: 10, total: 'none' });

describe('queries between threads', () => {
  const local = many((i) => ({ is: 'reference', types: [i % 2 === 0 ? 'Patient' : 'Group'], id: `${i}` }));
  const based = many((i) => ({ is: 'reference', id: `${i}`, base: 'http://a' }));

  it('have the ids of references in lists', () => {
    const packed = packQuery(query({ param: 'subject', any: [...local, ...based] }));
    expect(packed.where).toMatchObject({
      param: 'subject',
      packed: [
        { like: { types: ['Patient'] }, ids: { length: 15 } },
        { like: { types: ['Group'] }, ids: { length: 15 } },
        { like: { base: 'http://a' }, ids: { length: 30 } },
      ],
    });
    const { where } = unpackQuery(packed);
    const textOf = (test: ValueTest): string => JSON.stringify(Object.entries(test).sort());
    const unpacked = 'any' in where ? where.any.map(textOf) : [];
    expect(unpacked.sort()).toEqual([...local, ...based].map(textOf).sort());
  });

  it.each<[string, Condition]>([
    ['everything', { all: [] }],
    ['a few', { param: 'subject', any: local.slice(0, 5) }],
    ['versions', { param: 'subject', any: many((i) => ({ is: 'reference', id: `${i}`, version: '1' })) }],
    ['URLs', { param: 'subject', any: many((i) => ({ is: 'reference', url: `http://a/${i}` })) }],
    ['codes', { param: 'code', any: many((i) => ({ is: 'token', code: `${i}` })) }],
    ['a chain', { param: 'subject', chain: [{ type: 'Patient', where: { param: 'link', any: local } }] }],
    ['a negation', { not: { param: 'subject', any: local } }],
  ])('are what they were: %s', (_what, where) => {
    const asked = query({ all: [where, { some: [where] }] });
    expect(packQuery(asked)).toEqual(asked);
    expect(unpackQuery(packQuery(asked))).toEqual(asked);
  });

  it('are found within others', () => {
    const packed = packQuery(query({ all: [{ some: [{ param: 'subject', any: based }, { ids: ['1'] }] }] }));
    expect(JSON.stringify(packed.where)).toContain('"packed"');
    expect(unpackQuery(packed).where).toEqual({ all: [{ some: [{ param: 'subject', any: based }, { ids: ['1'] }] }] });
  });
});
