import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { BRINGS, type Content } from '../../../runtime/auth/access/content.js';
import { decide } from '../../../runtime/auth/access/decide.js';
import { isPlainlyGiven } from '../../../runtime/auth/access/plainly-given.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import type { ScopeCondition } from '../../../runtime/contract/rest.js';
import { utc } from '../../../runtime/indexing/values/zone.js';

const scopes = createScopes({ tables, zone: utc, own: new OwnBases() });
const LETTERS = ['c', 'r', 'u', 'd', 's', 'cu', 'rs', 'us', 'ds', 'cruds'];
const CONSTRAINED = 'system/Observation.cruds?category=laboratory';
const given = [...LETTERS.flatMap((letters) => [`system/*.${letters}`, `system/Observation.${letters}`]), CONSTRAINED];

describe('what scopes give plainly', () => {
  const pairs = given.flatMap((scope) => tables.scopes.rows.map((row) => ({ scope, row })));
  const plain = pairs.filter(({ scope, row }) => isPlainlyGiven(row, 'Observation', scopes.access(scope), {}));

  it('is never refused by the decision', () => {
    for (const { scope, row } of plain) {
      const demand = { row, type: 'Observation', content: {} };
      expect(['open', 'allowed', 'pending']).toContain(decide(demand, scopes.access(scope)).is);
    }
    expect(plain.map(({ scope }) => scope)).not.toContain(CONSTRAINED);
  });

  it('is never refused by the decision, whatever else the request brings', () => {
    const brought = (condition: ScopeCondition) =>
      fc.constantFrom<unknown>(
        undefined,
        false,
        { fact: true, types: ['Patient'], groups: [['Patient', 'Group']] }[BRINGS[condition]],
      );
    const conditions = Object.keys(BRINGS) as ScopeCondition[];
    const contents = fc.record(Object.fromEntries(conditions.map((each) => [each, brought(each)])));
    const some = fc.record({ scope: fc.subarray(given, { minLength: 1, maxLength: 3 }), content: contents });
    let plainly = 0;
    fc.assert(
      fc.property(some, fc.constantFrom(...tables.scopes.rows), ({ scope, content }, row) => {
        const access = scopes.access(scope.join(' '));
        const known = content as Content;
        if (!isPlainlyGiven(row, 'Observation', access, known)) return;
        plainly++;
        const decision = decide({ row, type: 'Observation', content: known }, access);
        expect(['open', 'allowed', 'pending']).toContain(decision.is);
      }),
      { numRuns: 3000 },
    );
    expect(plainly).toBeGreaterThan(100);
  });

  it('is a read where reading is given, and nothing where there is no type', () => {
    const read = tables.scopes.rows.find(({ interaction }) => interaction === 'read')!;
    const isGiven = (scope: string, type?: string): boolean => isPlainlyGiven(read, type, scopes.access(scope), {});
    expect(isGiven('system/Observation.r', 'Observation')).toBe(true);
    expect(isGiven('system/Observation.s', 'Observation')).toBe(false);
    expect(isGiven('system/Observation.r', 'Patient')).toBe(false);
    expect(isGiven('system/*.r')).toBe(false);
  });
});
