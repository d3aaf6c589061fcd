import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import { matches } from '../../../runtime/search/query/match.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import { utc } from '../../../runtime/indexing/values/zone.js';

const extract = createExtractor(tables);
const rows = parametersOf('Observation', new Map(tables.search.map((table) => [table.type, table])));
const context = { rows, isResourceType: () => false, zone: utc, own: new OwnBases(), now: 0, maxAlternatives: 1 };

function finds(value: number, criterion: string, unit: string): boolean {
  const system = 'http://unitsofmeasure.org';
  const content = { resourceType: 'Observation', id: 'o', valueQuantity: { value, system, code: unit } };
  const candidate = { id: 'o', lastUpdated: 0, entries: extract(content) };
  return matches(parseCriterion('value-quantity', criterion, context), candidate);
}

describe('numbers of many digits (search.html#number)', () => {
  const texts = ['66.89999999999999', '0.30000000000000004', '123456789012345678', '12345678901.234567', '-0.1', '0'];

  it.each(texts)('%s is found by itself, and is not unequal to itself', (text) => {
    const value = Number(text);
    for (const unit of ['[in_i]', 'mg', 'Cel', '[degF]', 'mm[Hg]']) {
      for (const asked of [text, `${text}|http://unitsofmeasure.org|${unit}`, `${text}||${unit}`]) {
        expect(finds(value, asked, unit), `${asked} in ${unit}`).toBe(true);
        expect(finds(value, `ge${asked}`, unit), `ge${asked} in ${unit}`).toBe(true);
        expect(finds(value, `le${asked}`, unit), `le${asked} in ${unit}`).toBe(true);
        expect(finds(value, `ne${asked}`, unit), `ne${asked} in ${unit}`).toBe(false);
        expect(finds(value, `gt${asked}`, unit), `gt${asked} in ${unit}`).toBe(false);
        expect(finds(value, `lt${asked}`, unit), `lt${asked} in ${unit}`).toBe(false);
      }
    }
  });

  it('holds for any double, written as JSON writes it', () => {
    const doubles = fc.double({ noNaN: true, min: -1e15, max: 1e15 });
    fc.assert(
      fc.property(doubles, fc.constantFrom('kg', '[lb_av]', 'Cel', 'kPa'), (value, unit) => {
        const text = JSON.stringify(value);
        return finds(value, text, unit) && finds(value, `${text}|http://unitsofmeasure.org|${unit}`, unit);
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});
