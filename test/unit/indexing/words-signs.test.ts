import { expect, it } from 'vitest';

import { wordsOf } from '../../../runtime/indexing/text/segment.js';
import { fold } from '../../../runtime/indexing/values/fold.js';

it('no word has a sign that parts words', () => {
  const made: string[] = [];
  const wrong: unknown[] = [];
  for (let point = 1; point <= 0x10ffff; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const sign = String.fromCodePoint(point);
    if (point < 128 ? !/[a-z0-9]/i.test(sign) : /[^a-z0-9\u0080-\u{10ffff}]/u.test(fold(sign))) made.push(sign);
  }
  expect(made).toEqual(expect.arrayContaining([':', '：', '﹕', '︓', '／', '⒈']));
  for (const sign of made)
    for (const [x, y] of ['กข', 'ລາ', 'ab', 'жя', '12', '京都', 'קל'].map((each) => [...each] as [string, string]))
      for (const text of [x + sign + y, `ก${x}${sign}${y}`, x + sign, sign + y])
        for (const word of wordsOf(text)) if (!/^[\p{L}\p{M}\p{N}_.,;]+$/u.test(word)) wrong.push([text, word]);
  expect(wrong).toEqual([]);
  expect(wordsOf('ก：ข ก﹕ข ก︓ข')).toEqual(['ก', 'ข', 'ก', 'ข', 'ก', 'ข']);
});
