import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { fold } from '../../runtime/indexing/values/fold.js';
import { wordsOf } from '../../runtime/indexing/text/segment.js';

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** Dictionaries divide these, and know their words with all marks. */
const DIVIDED = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** The words of the whole text by the segmenter alone. */
function plainly(written: string): string[] {
  const text = written.replaceAll('\u200b', ' ').replace(/\p{Cf}/gu, '');
  if (DIVIDED.test(text) && /\s/.test(text)) return text.split(/\s+/).flatMap(plainly);
  const isDivided = DIVIDED.test(text);
  const spelled = isDivided ? text.normalize('NFC').toLowerCase() : fold(text);
  return [...segmenter.segment(spelled.replace(/[:：﹕︓]/g, ' '))]
    .filter(({ isWordLike }) => isWordLike)
    .flatMap(({ segment }) => (isDivided ? fold(segment).split(' ') : [segment]))
    .map((word) => word.replace(/['"’‘ʼ＇״׳]/g, '').slice(0, 40))
    .filter((word) => word !== '');
}

it('are in ASCII what the segmenter takes for words', () => {
  const ascii = fc.string({ unit: fc.constantFrom(...'abyz019_.\':,;-/ "()\t@#'), maxLength: 14 });
  fc.assert(
    fc.property(ascii, (text) => void expect(wordsOf(text)).toEqual(plainly(text))),
    { numRuns: 5000 },
  );
});

it('are so beside other scripts, whose words have other rules', () => {
  const unit = fc.constantFrom(
    ...'abz09_.\':：﹕,; -éßöşΣς’“–•·‧לצה"תשب٣ー日本語カタ漢字ภาษาไทยकि한국ㅎжЯ°§†©®„«»‹›‘😀𝒳\u200b\u200d\u00ad\u0301',
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 14 }), (text) => void expect(wordsOf(text)).toEqual(plainly(text))),
    { numRuns: 5000 },
  );
});

it('are so in scripts of which every run of letters is a word', () => {
  const scripts = ['жЖёі', 'βΣάϊ', 'աԲևֆ', 'ქართ', 'שלוםץ', 'عربيةٹﷲ', 'ܐܒܓ', 'हिन्दीक्ष', 'বাংলা', 'தமிழ்', 'తెలుగు', 'සිංහල', 'བོད', 'አማርኛ', 'ᏣᎳᎩ', '한국어ㅎ', 'øłæđ', 'ᠮᠣᠩ']; // prettier-ignore
  const unit = fc.constantFrom(...scripts, ...'"\'.,;:-()/!?%،؛؟।۔՞·0٣१_ \u0301');
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 8 }), (parts) => {
      expect(wordsOf(parts.join(''))).toEqual(plainly(parts.join('')));
    }),
    { numRuns: 5000 },
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

describe('are the same in texts of more than the segmenter is given at a time', () => {
  const vocabularies = {
    Chinese:
      '患者 昨天 医院 看病 医生 高血压 糖尿病 需要 每天 服药 两次 定期 复查 头痛 三天 恶心 呕吐 的 了 我 在 中华人民共和国 心肌梗死 ，',
    Japanese: '病院 で 手術 を 受けました 東京都 に 住んで います 患者 は 三日前 から 頭痛 コンピューター ひらがな',
    Thai: 'ผู้ป่วย ได้รับ การ ผ่าตัด หัวใจ เมื่อ ปี ที่แล้ว เขา เป็น โรค เบาหวาน ชนิด ความดัน โลหิต สูง ๆ',
    Latin: 'x ŧ e.g don\'t ’ , . ; 1,000 ø_ ŋ \u00b7 " \u05f4 ж.',
  };
  const longs = [`${'ŧ.'.repeat(300)} `, `${"a'ŧ".repeat(500)}-`, 'ø,', 'a.b;', ' '];
  it.each(Object.entries(vocabularies))('%s', (_name, vocabulary) => {
    const word = fc.constantFrom(...vocabulary.split(' '));
    fc.assert(
      fc.property(fc.array(word, { minLength: 300, maxLength: 700, size: 'max' }), (words) => {
        expect(wordsOf(words.join(''))).toEqual(plainly(words.join('')));
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
  it('long words', () => {
    const parts = fc.array(fc.constantFrom(...longs), { maxLength: 9 });
    fc.assert(fc.property(parts, (words) => void expect(wordsOf(words.join(''))).toEqual(plainly(words.join('')))));
  });
});

it('are found in very long runs without a space, too, in little memory', () => {
  const before = process.memoryUsage().rss;
  for (const run of ['東京都に住んでいます。', 'ภาษาไทย', 'ж', 'ж’', 'a.', '\u200d', '\u{20000}', 'קל"ה']) {
    const text = run.repeat(100_000 / run.length);
    expect(wordsOf(text).join('').length).toBeLessThanOrEqual(text.length);
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(500e6);
}, 30_000);
