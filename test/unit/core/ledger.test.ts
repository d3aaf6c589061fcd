import { expect, it } from 'vitest';

import { faultsOf, type Acknowledged, type Shown } from '../../long/ledger.js';

/** A version of Patient/a, a second after the one before. */
function shown(version: number, token: string, changes: Partial<Shown> = {}): Shown {
  return { type: 'Patient', id: 'a', version, token, lastUpdated: `2026-01-01T00:00:0${version}Z`, ...changes };
}
const deleted: Shown = { type: 'Patient', id: 'a', version: 3, lastUpdated: '2026-01-01T00:00:03Z' };
const whole = [deleted, shown(2, 'y'), shown(1, 'x')];
const told: readonly Acknowledged[] = [{ version: 'Patient/a/2', token: 'y' }, { version: 'Patient/a/3' }];

it('finds nothing wrong with a whole history, seen in any order', () => {
  expect(faultsOf(told, whole)).toEqual([]);
});

it.each<[string, readonly Acknowledged[], readonly Shown[], RegExp]>([
  ['a lost version', told, whole.slice(1), /^Patient\/a\/3 was acknowledged, and is lost$/],
  ['other content', told, [deleted, shown(2, 'z'), shown(1, 'x')], /acknowledged with y, and holds z/],
  ['a write applied twice', [], [shown(2, 'x'), shown(1, 'x')], /^x was applied twice/],
  ['a create applied twice', [], [shown(1, 'x', { id: 'b' }), shown(1, 'x')], /^x was applied twice/],
  ['a version id given twice', [], [shown(1, 'y'), shown(1, 'x')], /^Patient\/a\/1 is there twice/],
  ['a gap', [], [deleted, shown(1, 'x')], /has a version 3 where 2 should be/],
  ['time that stands', [], [shown(2, 'y', { lastUpdated: shown(1, 'x').lastUpdated }), shown(1, 'x')], /is no later/],
])('finds %s', (_, acknowledged, history, fault) => {
  expect(faultsOf(acknowledged, history)[0]).toMatch(fault);
});
