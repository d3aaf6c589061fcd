import { describe, expect, it } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { tables } from '../../../generated/tables.js';
import { readSearchRequest } from '../../../runtime/search-execution/parse/search-request.js';
import { SEARCH_BOUNDS } from '../../../runtime/search/text/parse-words.js';
import { given, sum } from '../indexing/segmenter-calls.js';

describe('what a search may take', () => {
  const search = (...params: (readonly [string, string])[]) =>
    readSearchRequest(
      {
        type: 'Observation',
        params: params.map(([name, value]) => ({ name, value, isInUrl: false })),
        isPosted: true,
        isLenient: true,
        now: 0,
      },
      { ...DEFAULT_SERVICES, tables },
    );
  const tooLong = /"_content" has more characters than are left: all words of a search have 40,000 together/;
  const tooHard = /"(?:_content|code:text)" is more than a search may ask for .* 8,000 characters together/;

  it('of characters', () => {
    const long = Array.from({ length: 190 }, (_, i) => ['_content', `"${i}`.padEnd(300, '-') + ' b"'] as const);
    expect(search(...long.slice(0, 130)).criteria).toHaveLength(130);
    expect(() => search(...long)).toThrow(tooLong);
  });

  it.each(['_content', 'code:text'])('of the segmenter: %s', (name) => {
    for (const piece of ['☃', '☃ ', '京 ']) {
      const values = Array.from({ length: 190 }, (_, i) => [name, `"a${i} ${piece.repeat(45)}"`] as const);
      const units = given(() => expect(() => search(...values)).toThrow(tooHard));
      expect(sum(units) + 8 * units.length).toBeLessThanOrEqual(SEARCH_BOUNDS.segmented);
    }
  });

  it('of one value in the many types of a chain is what it takes in one', () => {
    const units = given(() => search(['focus._content', '東京'], ['_has:Provenance:target:_content', '東京']));
    expect(units).toEqual([2]);
    const value = ['focus._content', '東京 '.repeat(1000)] as const;
    expect(() => search(value)).toThrow(/_content" /);
  });
});
