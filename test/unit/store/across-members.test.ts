import { expect, it } from 'vitest';

import type { Condition, Target } from '../../../runtime/search/query/query.js';
import { partsWithMembers, seek, type Seek } from '../../../runtime/store/next-contained-type.js';
import { CONTAINED, containedType } from '../../../runtime/store/contained-resources.js';

const ANY: Condition = { all: [] };
const containing = (type: string, within = 'Drug', more: readonly Condition[] = []): Target => {
  const has: Condition = { has: { type: containedType(within), param: CONTAINED.container, where: ANY } };
  return { type, where: more.length === 0 ? has : { all: [...more, has] } };
};

/** What is left of parts in a store with some members, and how often it was looked at. */
function ask(parts: readonly Target[], members: Readonly<Record<string, readonly string[]>>): [string[], number] {
  let looks = 0;
  const answer = ({ type, from }: Seek): string | undefined => {
    looks++;
    return [...(members[type] ?? [])].sort().find((id) => id >= from);
  };
  return [seek(partsWithMembers(parts), answer).map(({ type }) => type), looks];
}

it('types that contain nothing are asked nothing, and few looks tell which do', () => {
  const types = Array.from({ length: 150 }, (_, n) => `Type${String(n).padStart(3, '0')}`);
  const ids = ['Elsewhere/a#1', 'Type007/a#1', 'Type007/b#1', 'Type099/a#1', 'Type999/a#1'];
  const parts = types.map((type) => containing(type)).reverse();
  expect(ask(parts, { '#Drug': ids })).toEqual([['Type099', 'Type007'], 3]);
  expect(ask(parts, { '#Tool': ids })).toEqual([[], 1]);
  expect(ask(parts.slice(0, 1), { '#Drug': ['Type148/a#1', 'Type1490/a#1'] })).toEqual([[], 1]);
});

it('one type is not taken for another that its name begins', () => {
  const parts = ['OrderSet', 'Order', 'Orderly', 'Or'].map((type) => containing(type));
  expect(ask(parts, { '#Drug': ['OrderSet/a#1', 'Orderly/a#1'] })[0]).toEqual(['OrderSet', 'Orderly']);
  expect(ask(parts, { '#Drug': ['Order/a#1'] })[0]).toEqual(['Order']);
});

it('what may match without anything within it stays', () => {
  const { where } = containing('Order');
  const parts: Target[] = [
    { type: 'Plain', where: ANY },
    { type: 'Either', where: { some: [ANY, where] } },
    { type: 'None', where: { not: where } },
    { type: 'Referred', where: { has: { type: 'Drug', param: 'order', where: ANY } } },
    containing('Bounded', 'Drug', [ANY]),
    containing('Order', 'Drug', [where, containing('Order', 'Tool').where]),
  ];
  expect(ask(parts, { '#Drug': ['Order/a#1'] })[0]).toEqual(['Plain', 'Either', 'None', 'Referred']);
  const both = { '#Drug': ['Order/a#1'], '#Tool': ['Order/a#2'] };
  expect(ask(parts, both)[0]).toEqual(['Plain', 'Either', 'None', 'Referred', 'Order']);
});
