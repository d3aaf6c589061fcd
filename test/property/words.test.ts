import fc from 'fast-check';
import { expect, it } from 'vitest';

import { fold } from '../../runtime/search/values/fold.js';
import { wordsOf } from '../../runtime/search/text/segment.js';

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** The words of the whole text by the segmenter alone. */
function plainly(text: string): string[] {
  return [...segmenter.segment(fold(text).replaceAll(':', ' '))]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment.replace(/['"’‘ʼ＇״׳]/g, '').slice(0, 40))
    .filter((word) => word !== '');
}

it('are in ASCII what the segmenter takes for words', () => {
  const ascii = fc.string({ unit: fc.constantFrom(...'abyz019_.\':,;-/ "()\t@#'), maxLength: 14 });
  fc.assert(
    fc.property(ascii, (text) => void expect(wordsOf(text)).toEqual(plainly(text))),
    { numRuns: 20_000 },
  );
});

it('are so beside other scripts, whose words have other rules', () => {
  const unit = fc.constantFrom(
    ...'abz09_.\':,; -éßöşΣς’“–•·‧לצה"תשب٣ー日本語カタ漢字ภาษาไทยकि한국ㅎ😀𝒳\u200d\u00ad\u0301',
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 14 }), (text) => void expect(wordsOf(text)).toEqual(plainly(text))),
    { numRuns: 10_000 },
  );
});

it('are of any text whatever', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 20 }),
      (text) => void expect(wordsOf(text)).toEqual(plainly(text)),
    ),
    { numRuns: 5000 },
  );
});
