import { afterAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { inMemory } from '../../contract/in-memory.js';
import { APART, matrix, parse, REFUSED, resourceTypes, trials, untried } from './search-matrix.js';

describe('every search parameter of every type (search.html, searchparameter-registry.html)', () => {
  afterAll(() => {
    const byExample = trials.filter(({ from }) => !from.isFilled).length;
    console.log(
      `${trials.length} pairs tried, ${byExample} of them on examples; ${Object.keys(REFUSED).length} refused by name`,
    );
  });

  it('has a value that it finds a resource by, or is refused by name', () => {
    expect(untried).toEqual([]);
    const pairs = tables.search.reduce((sum, { parameters }) => sum + parameters.length, 0);
    // `_lastUpdated` is the store's own: the contract suite has it.
    expect(trials.length + Object.keys(REFUSED).length + APART.length + 1).toBe(pairs);
    for (const name of Object.keys(REFUSED)) {
      const [owner = '', code = ''] = name.split('.');
      expect(() => parse(resourceTypes.has(owner) ? owner : 'Patient', code, 'x'), name).toThrow(code);
    }
  });

  it('by the value, what it was taken from is among what the oracle finds', () => {
    const missed = trials.filter(({ from, expected }) => !expected.includes(from.id));
    expect(missed.map(({ name, criterion, from }) => `${name} ${JSON.stringify(criterion)} ${from.id}`)).toEqual([]);
  });

  describe('on SQLite', () => matrix(inMemory));
});
