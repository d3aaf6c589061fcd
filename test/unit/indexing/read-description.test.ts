import { describe, expect, it } from 'vitest';

import { faultOfDescription } from '../../../runtime/indexing/parameters/read-description.js';
import { tables } from '../../../generated/tables.js';
import { shippedId, shippedJson } from '../../../runtime/core/shipped/shipped-pack.js';

describe('an active SearchParameter that describes a built-in one', () => {
  it('is right as the package has it', () => {
    const urls = new Set(tables.search.flatMap(({ parameters }) => parameters.map(({ url }) => url)));
    const all = [...urls].flatMap((url): Record<string, unknown>[] => {
      const json = shippedJson('SearchParameter', shippedId('SearchParameter', url) ?? '');
      return json === undefined ? [] : [JSON.parse(json) as Record<string, unknown>];
    });
    expect(all.length).toBeGreaterThan(1000);
    for (const each of all) expect(faultOfDescription(each), String(each['url'])).toBeUndefined();
  });

  it.each([
    ['Patient.name.(given', 14],
    ['Patient.name.given)', 19],
    ['Patient.', 9],
    ["Patient.name.where(use = 'x'", 29],
  ])('is wrong where its expression cannot be read: %s', (expression, character) => {
    expect(faultOfDescription({ expression })).toMatchObject({ kind: 'invalid', path: ['expression'] });
    expect(faultOfDescription({ expression })?.text).toContain(`"${expression}" (character ${character}): `);
  });

  it('has no expression, or one that can be read and is not evaluated here', () => {
    expect(faultOfDescription({})).toBeUndefined();
    expect(faultOfDescription({ expression: 'Patient.name.given.aggregate($this + $total)' })).toBeUndefined();
  });
});
