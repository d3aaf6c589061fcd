import { beforeAll, describe, expect, it } from 'vitest';

import type { Condition } from '../../../runtime/search/query/query.js';
import type { IncludeDirective, Store } from '../../../runtime/store/store.js';
import { query } from './behaviour-search-helpers.js';
import { directive, type IncludeCase } from './behaviour-search-include-cases.js';
import { chain, code, coded, has, ids, known, ref } from './behaviour-search-link-cases.js';
import { namesOf } from './behaviour-search-includes.js';
import { put } from '../subject.js';

const IN = code('in');
const again = { iterates: true };
const bounded = (text: string, within: Record<string, Condition>, more: Partial<IncludeDirective> = {}) =>
  directive(text, { within, ...more });

/** What comes along only within bounds. Ids that begin with `i` are in, those with `o` are out. */
const CASES: readonly IncludeCase[] = [
  { what: 'what a reference leads to', page: 'Seen/s', include: [bounded('Seen:to', { Left: IN })], expected: ['Left/i1', 'Left/i2', 'Right/o1'] }, // prettier-ignore
  { what: 'of several types', page: 'Seen/s', include: [bounded('Seen:to', { Left: IN, Right: IN })], expected: ['Left/i1', 'Left/i2'] }, // prettier-ignore
  { what: 'by other conditions', page: 'Seen/s', include: [bounded('Seen:to', { Left: { not: IN }, Right: ids('x') })], expected: ['Left/o1'] }, // prettier-ignore
  { what: 'by what it refers to', page: 'Seen/s', include: [bounded('Seen:to', { Left: chain('next', 'Left', IN), Right: ids() })], expected: ['Left/o1'] }, // prettier-ignore
  { what: 'by what refers to it', page: 'Seen/s', include: [bounded('Seen:to', { Left: has('Left', 'next', IN), Right: ids() })], expected: ['Left/o1'] }, // prettier-ignore
  { what: 'no further from what is outside', page: 'Seen/s', include: [bounded('Seen:to', { Left: IN, Right: IN }), bounded('Left:next', { Left: IN }, again)], expected: ['Left/i1', 'Left/i2'] }, // prettier-ignore
  { what: 'further from what is within', page: 'Seen/s', include: [bounded('Seen:to', { Left: ids('o1', 'i3'), Right: IN }), bounded('Left:next', { Left: ids('o1', 'i3') }, again)], expected: ['Left/o1', 'Left/i3'] }, // prettier-ignore
  { what: 'what is outside one way and within another', page: 'Seen/s', include: [bounded('Seen:to', { Left: IN, Right: IN }), bounded('< Left:back', { Left: { not: IN } })], expected: ['Left/i1', 'Left/i2', 'Left/o1'] }, // prettier-ignore
  { what: 'those that refer to it', page: 'Left/i1', include: [bounded('< From:at', { From: IN })], expected: ['From/i1', 'From/i2'] }, // prettier-ignore
  { what: 'those that refer to it, most of them outside', page: 'Left/i2', most: 3, include: [bounded('< Crowd:at', { Crowd: IN })], expected: ['Crowd/z1', 'Crowd/z2', 'Crowd/z3'] }, // prettier-ignore
  { what: 'fewer than there are within', page: 'Left/i2', most: 2, include: [bounded('< Crowd:at', { Crowd: IN })], expected: ['Crowd/z1', 'Crowd/z2'], cut: 'most' }, // prettier-ignore
  { what: 'what a canonical names', page: 'Seen/c', include: [bounded('Seen:named', { Plan: IN })], expected: ['Plan/i1', 'Other/o1'] }, // prettier-ignore
  { what: 'those that name it', page: 'Plan/i1', include: [bounded('< Seen:named', { Seen: IN })], expected: [] },
  { what: 'a version while it is the current one', page: 'Seen/v', include: [bounded('Seen:to', { Left: IN })], expected: ['Left/i1'] }, // prettier-ignore
  { what: 'no rounds for what is outside', page: 'Seen/r', rounds: 0, include: [directive('Seen:to'), bounded('Left:next', { Left: IN }, again)], expected: ['Left/i4'] }, // prettier-ignore
];

/** Resources that come with a page as far as they are within bounds: what is outside is as if it were not there. */
export function includeBoundsBehaviour(shared: () => Store): void {
  describe('within bounds', () => {
    const make = (name: string, ...entries: Parameters<typeof put>[3] & object) => {
      const [type, id = ''] = name.split('/') as [string, string];
      return put(id, 0, 'x', [coded(/^[iz]/.test(id) ? 'in' : 'out'), ...entries], type);
    };
    beforeAll(async () => {
      const to = (...names: string[]) => names.map((each) => ref('to', each));
      const left = { type: 'Left', version: '1' };
      await shared().write([
        make('Seen/s', ...to('Left/i1', 'Left/i2', 'Left/o1', 'Left/none', 'Right/o1')),
        make('Seen/c', ref('named', { url: 'http://bounds' })),
        make('Seen/v', ref('to', { ...left, id: 'i1' }), ref('to', { ...left, id: 'o1' }), ref('to', { ...left, id: 'i5' })), // prettier-ignore
        make('Seen/r', ...to('Left/i4')),
        make('Left/i1'),
        make('Left/i2'),
        make('Left/o1', ref('next', 'Left/i3'), ref('back', 'Seen/s')),
        make('Left/i3', ref('next', 'Left/o1')),
        make('Left/i4', ref('next', 'Left/o2')),
        make('Left/o2'),
        make('Left/i5'),
        make('Right/o1'),
        ...['i1', 'i2', 'o1', 'o2'].map((id) => make(`From/${id}`, ref('at', 'Left/i1'))),
        ...Array.from({ length: 40 }, (_, n) => make(`Crowd/o${n}`, ref('at', 'Left/i2'))),
        ...[1, 2, 3].map((n) => make(`Crowd/z${n}`, ref('at', 'Left/i2'))),
        ...['Plan/i1', 'Plan/o1', 'Other/o1'].map((name) => make(name, ...known('http://bounds'))),
      ]);
      // The version before was within as well, but nobody can tell.
      await shared().write([put('i5', 1, 'y', [coded('in')], 'Left')]);
    });

    it.each(CASES)('$what', async ({ page, include, expected, cut, most = 1000, rounds = 5 }) => {
      const [type, id] = page.split('/') as [string, string];
      const plan = { directives: include, most, rounds };
      const found = await shared().find(query(type, { where: ids(id), include: plan }));
      expect(namesOf(found)).toEqual(expected.map((each) => `${each}/1`).sort());
      expect(found.cut).toBe(cut);
      const across = { parts: [{ type, where: ids(id) }], sort: [], count: 9, total: 'none', include: plan } as const;
      const same = await shared().findMultiType(across);
      expect([namesOf(same), same.cut]).toEqual([namesOf(found), cut]);
    });
  });
}
