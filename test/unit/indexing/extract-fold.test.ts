import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fold } from '../../../runtime/indexing/values/fold.js';

describe('folding of text (https://hl7.org/fhir/R5/search.html#string)', () => {
  it.each([
    ['Chalmers', 'chalmers'],
    ['  van   der\tHeide\n', 'van der heide'],
    ['Carreno Quinones', 'carreno quinones'],
    ['Carreño Quiñones', 'carreno quinones'],
    ['Carren\u0303o', 'carreno'],
    ['STRASSE', 'strasse'],
    ['Straße', 'strasse'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσευσ'],
    ['Ὀδυσσεύς', 'οδυσσευσ'],
    ['İstanbul', 'istanbul'],
    ['ﬁne', 'fine'],
    ['Ⅷ', 'viii'],
    ['東京', '東京'],
    ['a\u00a0b\u3000c', 'a b c'],
    ['\u0000', ''],
    ['', ''],
    [' ', ''],
  ])('%j becomes %j', (text, folded) => {
    expect(fold(text)).toBe(folded);
  });
  it('of a whole text is what Unicode says, however long it is', () => {
    const slowly = (text: string): string => {
      const cased = (part: string): string => part.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
      const stripped = cased(text).normalize('NFKD').replace(/\p{M}/gu, '');
      return cased(stripped)
        .replace(/[\s\p{Cc}]+/gu, ' ')
        .trim();
    };
    const units = ['grapheme', 'binary', 'binary-ascii'] as const;
    for (const unit of units) {
      fc.assert(
        fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
          expect(fold(text)).toBe(slowly(text));
        }),
        { numRuns: 500 },
      );
    }
  });
  it('is idempotent for every character', () => {
    for (let c = 0; c <= 0x1ffff; c++) {
      if (c >= 0xd800 && c <= 0xdfff) continue;
      const folded = fold(`x${String.fromCodePoint(c)}y`);
      if (fold(folded) !== folded) expect.fail(`U+${c.toString(16)}: ${folded}`);
    }
  });
  it('is idempotent and the same for every case, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const folded = fold(text);
        expect(fold(folded)).toBe(folded);
        expect(fold(text.toUpperCase())).toBe(folded);
      }),
    );
  });
});
