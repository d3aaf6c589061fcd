import { describe, expect, it } from 'vitest';

import { cutJson } from '../../../runtime/pages/cut-json.js';

const TEXT = '{"a":"x","b":[1,-2.50,{"c":"quote \\" and ] in it","d":true}],"e":{"f":null},"g":"é\\\\"}';

describe('the beginning of a JSON text', () => {
  it.each([
    [4, '{}'],
    [8, '{"a":"x"}'],
    [14, '{"a":"x"}'],
    [16, '{"a":"x","b":[1]}'],
    [21, '{"a":"x","b":[1]}'],
    [22, '{"a":"x","b":[1,-2.50]}'],
    [40, '{"a":"x","b":[1,-2.50]}'],
    [62, '{"a":"x","b":[1,-2.50,{"c":"quote \\" and ] in it","d":true}]}'],
    [1000, TEXT],
  ])('of %i characters: %s', (limit, expected) => expect(cutJson(TEXT, limit)).toBe(expected));

  it('is JSON at every limit, it is a beginning of the whole, and it grows with the limit', () => {
    const name = { use: 'official', family: 'L "\\" ö', given: ['A', ''] };
    const data = {
      resourceType: 'Patient',
      id: 'x',
      name: [name, name],
      n: [0, -1.5e3, true, null],
      deep: { a: [{ b: [[1]] }] },
    };
    const text = JSON.stringify(data, null, 1);
    let longest = 0;
    for (let limit = 0; limit <= text.length; limit++) {
      const cut = cutJson(text, limit);
      JSON.parse(cut);
      if (cut !== '{}') expect(text.startsWith(cut.replace(/[\]}]*$/, '')), String(limit)).toBe(true);
      expect(cut.length).toBeGreaterThanOrEqual(longest - 64);
      longest = Math.max(longest, cut.length);
    }
    expect(longest).toBe(text.length);
  });
});
