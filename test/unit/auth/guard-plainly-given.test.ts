import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { decide } from '../../../runtime/auth/access/decide.js';
import { isPlainlyGiven } from '../../../runtime/auth/access/plainly-given.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import { utc } from '../../../runtime/search/values/zone.js';

const scopes = createScopes({ tables, zone: utc, base: '' });
const LETTERS = ['c', 'r', 'u', 'd', 's', 'cu', 'rs', 'us', 'ds', 'cruds'];
const CONSTRAINED = 'system/Observation.cruds?category=laboratory';
const given = [...LETTERS.flatMap((letters) => [`system/*.${letters}`, `system/Observation.${letters}`]), CONSTRAINED];

describe('what scopes give plainly', () => {
  const pairs = given.flatMap((scope) => tables.scopes.rows.map((row) => ({ scope, row })));
  const plain = pairs.filter(({ scope, row }) => isPlainlyGiven(row, 'Observation', scopes.access(scope), () => false));

  it('is never refused nor narrowed by the decision', () => {
    for (const { scope, row } of plain) {
      const demand = { row, type: 'Observation', content: {} };
      expect(['open', 'allowed', 'pending']).toContain(decide(demand, scopes.access(scope)).is);
    }
    expect(plain.map(({ scope }) => scope)).not.toContain(CONSTRAINED);
  });

  it('is a read where reading is given, and nothing where there is no type', () => {
    const read = tables.scopes.rows.find(({ interaction }) => interaction === 'read')!;
    const told = (scope: string, type?: string): boolean =>
      isPlainlyGiven(read, type, scopes.access(scope), () => false);
    expect(told('system/Observation.r', 'Observation')).toBe(true);
    expect(told('system/Observation.s', 'Observation')).toBe(false);
    expect(told('system/Observation.r', 'Patient')).toBe(false);
    expect(told('system/*.r')).toBe(false);
  });
});
