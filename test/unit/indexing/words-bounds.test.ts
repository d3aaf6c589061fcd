import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { TEXT_BOUNDS } from '../../../runtime/indexing/text/extract-text.js';
import { readLines } from '../../../runtime/indexing/text/read-lines.js';
import { given, sum } from './segmenter-calls.js';

const extract = createExtractor(tables);

describe('what a resource may take', () => {
  it.each(['ก ', '☃ ', '京 ', '京', '😀 ', 'a京 ', 'ŧ.'])('of the segmenter, which costs each time: %j', (piece) => {
    const note = ['a', 'b'].map((name) => ({ text: `${name} ${piece.repeat(100_000)}` }));
    const units = given(() => extract({ resourceType: 'Observation', note }));
    expect(sum(units) + 8 * units.length).toBeLessThanOrEqual(TEXT_BOUNDS.body.content.segmented);
    expect(sum(units)).toBeGreaterThan(0);
  });

  it('of texts that are not all ASCII, whether or not they have words; all others are found', () => {
    const signs = Array.from({ length: 20 }, (_, i) => ({ text: `${i} ${'☃ '.repeat(100_000)}` }));
    const [words] = extract({ resourceType: 'Observation', note: [...signs, { text: 'behind' }, { text: 'чай' }] });
    expect(words).toMatchObject({ param: '_content', text: '\n 0 \n 1 \n behind ' });
  });

  it('and of letters', () => {
    const note = Array.from({ length: 12 }, (_, i) => ({ text: `n${i} ${'чай '.repeat(25_000)}` }));
    const [words] = extract({ resourceType: 'Observation', note });
    expect(words?.kind === 'words' ? words.text.match(/n\d/g) : undefined).toEqual(['n0', 'n1', 'n2', 'n3', 'n4']);
  });

  it('is the same whether or not lines are known from before', () => {
    const text = fc
      .array(fc.constantFrom('a ', '京都', 'ж ', '☃ ', 'ก', 'b.', '病院 ', 'é'), { maxLength: 8 })
      .map((parts) => parts.join(''));
    const bounds = fc.record({ segmented: fc.integer({ min: 1, max: 120 }), unlike: fc.integer({ min: 1, max: 60 }) });
    const texts = fc.array(fc.tuple(text, fc.boolean()), { maxLength: 8 });
    fc.assert(
      fc.property(texts, texts, bounds, bounds, (first, more, ofFirst, ofSecond) => {
        const before = readLines(ofFirst);
        for (const [each, isXhtml] of first) before.read(each, isXhtml);
        const linesOf = (reader = readLines(ofSecond)): string[] =>
          [...more, ...first].map(([each, isXhtml]) => reader.read(each, isXhtml));
        expect(linesOf(readLines(ofSecond, before))).toEqual(linesOf());
      }),
      { numRuns: 3000 },
    );
  });
});
