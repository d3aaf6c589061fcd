import { expect, it } from 'vitest';

import type { Condition } from '../../../runtime/search/query/query.js';
import { preconditionKey } from '../../../runtime/store/precondition-key.js';
import { mergePreconditions } from '../../../runtime/store/mongo/write/merge-preconditions.js';

const code = (value: string, param = 'identifier'): Condition => ({ param, any: [{ is: 'token', code: value }] });
const keyOf = (where: Condition, type = 'Patient', found: string[] = []): string =>
  preconditionKey({ type, where, found });

it('guards of one type and condition have one key, whatever they found and however it is written', () => {
  const key = keyOf({ all: [code('a'), code('b')] });
  expect(keyOf({ all: [code('b'), code('a')] })).toBe(key);
  expect(keyOf({ all: [{ all: [code('a')] }, code('b')] }, 'Patient', ['1'])).toBe(key);
  const others = [
    keyOf({ some: [code('a'), code('b')] }),
    keyOf(code('a')),
    keyOf({ all: [code('a'), code('b')] }, 'Person'),
    keyOf({ all: [code('a'), code('b', 'name')] }),
  ];
  expect(new Set([key, ...others]).size).toBe(5);
});

it('a key shows nothing of what it was made of', () => {
  expect(keyOf(code('secret'))).toMatch(/^[\w-]{43}$/);
});

it('guards are merged that ask for values of one parameter, but only tokens may have been found', () => {
  const text = (folded: string): Condition => ({ param: 'family', any: [{ is: 'string-begins', folded }] });
  const guards = [
    { type: 'Patient', where: code('a'), found: ['1', '2'] },
    { type: 'Patient', where: { all: [code('b')] }, found: ['2'] },
    { type: 'Person', where: code('a'), found: [] },
    { type: 'Patient', where: text('a'), found: [] },
    { type: 'Patient', where: text('b'), found: [] },
    { type: 'Patient', where: text('c'), found: ['3'] },
    { type: 'Patient', where: { all: [code('a'), text('a')] }, found: [] },
  ];
  const merged = mergePreconditions(guards).map(({ of, found }) => [
    of.map((guard) => guards.indexOf(guard as (typeof guards)[number])),
    found,
  ]);
  expect(merged).toHaveLength(5);
  expect(merged).toEqual(
    expect.arrayContaining([
      [
        [0, 1],
        ['1', '2'],
      ],
      [[2], []],
      [[3, 4], []],
      [[5], ['3']],
      [[6], []],
    ]),
  );
});

it('no search asks for more than 100 values', () => {
  const guards = Array.from({ length: 240 }, (_, n) => ({ type: 'Patient', where: code(`${n}`), found: [] }));
  const sizes = mergePreconditions(guards).map(({ of }) => of.length);
  expect(sizes).toEqual([100, 100, 40]);
});
