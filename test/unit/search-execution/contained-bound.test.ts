import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { constrainContained } from '../../../runtime/search-execution/contained/contained-search.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition } from '../../../runtime/search/query/query.js';

const code: Condition = { param: 'code', any: [{ is: 'token', code: 'x' }] };
const ids: Condition = { ids: ['1'] };
const updated: Condition = { updated: [{ low: { gte: 0 } }] };
/** Leads to resources that have places of their own. */
const chain: Condition = { param: 'patient', chain: [{ type: 'Patient', where: ids }] };
const stored: Condition = { param: 'x-mine', any: [{ is: 'token', code: 'x' }] };

const [row] = tables.search.find(({ type }) => type === 'Basic')!.parameters;
const withStored = {
  ...tables,
  search: tables.search.map((table) =>
    table.type === 'Basic'
      ? { ...table, parameters: [...table.parameters, { ...row!, code: 'x-mine', isStored: true as const }] }
      : table,
  ),
};

describe('what a constraint says of contained resources', () => {
  it('is as ever where their entries decide', () => {
    for (const reach of ['everything', 'nothing', code, { not: code }, chain] as const) {
      expect(constrainContained(reach, 'Basic', tables)).toEqual({ own: reach, within: reach });
    }
  });

  it.each([
    ['an id', ids, 'nothing'],
    ['a time', updated, 'nothing'],
    ['a parameter of the store', stored, 'nothing'],
    ['both', { all: [code, ids] }, '(code = "x") and (nothing)'],
    ['either', { some: [ids, code] }, '(nothing) or (code = "x")'],
    ['the opposite of an id', { not: ids }, 'not (everything)'],
    ['the opposite of the opposite', { not: { not: ids } }, 'not (not (nothing))'],
    ['the opposite of either', { not: { some: [code, ids] } }, 'not ((code = "x") or (everything))'],
    ['the opposite of both', { not: { all: [code, stored] } }, 'not ((code = "x") and (everything))'],
  ] satisfies readonly (readonly [string, Condition, string])[])('%s lets through no more', (_, reach, expected) => {
    const { own, within } = constrainContained(reach, 'Basic', withStored);
    expect(own).toBe(reach);
    expect(printCondition(within as Condition)).toBe(expected);
  });
});
