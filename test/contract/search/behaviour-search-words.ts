import type { Condition, WordsTest } from '../../../runtime/search/query/query.js';
import { wordsOf } from '../../../runtime/indexing/text/segment.js';
import type { SearchCase } from './behaviour-search-cases.js';
import { of, P, words } from './behaviour-search-helpers.js';
import type { Random } from '../random.js';

const phrase = (text: string): WordsTest => ({ phrase: wordsOf(text) });
const begins = (text: string): WordsTest => ({ begins: wordsOf(text) });
const all = (...some: WordsTest[]): WordsTest => ({ all: some, none: [] });
const some = (...each: WordsTest[]): WordsTest => ({ some: each });
const but = (test: WordsTest, ...none: WordsTest[]): WordsTest => ({ all: [test], none });
const has = (test: WordsTest, param = P): Condition => ({ param, words: test });

/** Words that the syntax of a store, or its tokens, might make something else of. */
const ODD = [
  'AND',
  'or',
  'NOT',
  'near',
  '日本語',
  "o'neil",
  'צה"ל',
  'e.g',
  '1,000',
  'a_b',
  'ß',
  '\u{20000}',
  'x'.repeat(90),
];

/** Full text: what each test finds, and what it must not. */
export const WORDS_CASES: readonly SearchCase[] = [
  {
    name: 'words: of values, of parameters',
    resources: {
      a: [words('Acute headache', 'pain in the head')],
      b: [words('headache, acute')],
      c: [words('head', 'ache')],
      d: [of('other', words('acute headache'))],
      e: [words('acute'), of('other', words('headache'))],
      f: [words('ache head ache head ache')],
      g: [],
    },
    findings: [
      ['a word', has(phrase('headache')), 'ab'],
      ['no part of a word', has(phrase('head')), 'acf'],
      ['of another parameter', has(phrase('headache'), 'other'), 'de'],
      ['what was never there', has(phrase('never')), ''],
      ['of a parameter that was never there', has(phrase('head'), 'never'), ''],
      ['a phrase', has(phrase('acute headache')), 'a'],
      ['the words of a phrase in turn', has(phrase('headache acute')), 'b'],
      ['no phrase over two values', has(phrase('head ache')), 'f'],
      ['no phrase over two values, the other way', has(phrase('headache pain')), ''],
      ['a phrase with a word twice', has(phrase('ache head ache')), 'f'],
      ['all', has(all(phrase('acute'), phrase('headache'))), 'ab'],
      ['some', has(some(phrase('pain'), phrase('ache'))), 'acf'],
      ['but', has(but(phrase('acute'), phrase('pain'))), 'be'],
      ['but a phrase', has(but(phrase('head'), phrase('head ache'), phrase('in the'))), 'c'],
      ['nested', has(all(some(phrase('pain'), phrase('acute')), but(phrase('headache'), phrase('pain head')))), 'ab'],
      ['some of that which is not', has(some(but(phrase('head'), phrase('ache')), phrase('acute headache'))), 'a'],
      ['a beginning', has(begins('head')), 'bc'],
      ['no beginning of what is within', has(begins('headache')), 'b'],
      ['a beginning of several words', has(begins('acute head')), 'a'],
      ['no word of a beginning but the last goes on', has(begins('acu headache')), ''],
      ['beginnings', has(some(begins('ac'), begins('pain'))), 'acef'],
      ['all beginnings', has(all(begins('ac'), begins('pain'))), 'a'],
      ['not', { not: has(phrase('acute')) }, 'cdfg'],
      ['not a beginning', { not: has(begins('head')) }, 'adefg'],
      ['two parameters', { all: [has(phrase('acute')), has(phrase('headache'), 'other')] }, 'e'],
      ['beside ids', { all: [has(begins('head')), { ids: ['c', 'a'] }] }, 'c'],
      ['either', { some: [has(phrase('pain')), has(phrase('acute'), 'other'), { ids: ['g'] }] }, 'adg'],
    ],
  },
  {
    name: 'words: the narrative and the content, which includes it',
    resources: {
      a: [of('_text', words('acute head')), of('_content', words('left', 'acute head', 'pain'))],
      b: [of('_text', words('acute')), of('_content', words('acute head', 'acute', 'head'))],
      c: [of('_content', words('pain', 'acute head'))],
      d: [of('_text', words('pain', 'acute left')), of('_content', words('pain', 'acute left', 'head'))],
    },
    findings: [
      ['a word of the narrative', has(phrase('acute'), '_text'), 'abd'],
      ['no word of the content alone', has(phrase('head'), '_text'), 'a'],
      ['a word of the content', has(phrase('head'), '_content'), 'abcd'],
      ['a phrase of the narrative', has(phrase('acute head'), '_text'), 'a'],
      ['a phrase of the content', has(phrase('acute head'), '_content'), 'abc'],
      ['a phrase of the narrative, in the content', has(phrase('acute left'), '_content'), 'd'],
      ['no phrase over both', has(phrase('left head'), '_content'), ''],
      ['not in the narrative', { not: has(phrase('pain'), '_text') }, 'abc'],
      [
        'in the content, not in the narrative',
        { all: [has(phrase('pain'), '_content'), { not: has(phrase('pain'), '_text') }] },
        'ac',
      ],
      ['some', has(some(phrase('head'), phrase('pain')), '_text'), 'ad'],
      ['but', has(but(phrase('acute'), phrase('acute head')), '_text'), 'bd'],
      ['all', has(all(phrase('acute'), phrase('left')), '_text'), 'd'],
    ],
  },
  {
    name: 'words: beginnings of several words, and of many',
    resources: {
      a: [words(`${'of the '.repeat(24)}left head and more than that`)],
      b: [words(`${'of the '.repeat(24)}left hand`, 'of')],
      c: [words('of'), of('other', words('of the left'))],
      d: [words('no', 'zz', '\u{10ffff} x')],
    },
    findings: [
      ['as many as may be asked for', has(begins(`${'of the '.repeat(24)}left hea`)), 'a'],
      ['all of a value', has(begins(`${'of the '.repeat(24)}left hand`)), 'b'],
      ['that which others begin with', has(some(begins('of the'), begins('of'), begins('no'), begins('of t'))), 'abcd'],
      ['of which one is there', has(some(...[...'xyz'].map((letter) => begins(letter)))), 'd'],
      ['that and a word', has(all(begins('of'), phrase('left'))), 'ab'],
      ['that but a word', has(but(begins('of'), phrase('hand'))), 'ac'],
      ['a word but that', has(but(phrase('of'), begins('of t'))), 'c'],
      ['that or a word', has(some(begins('no'), phrase('hand'))), 'bd'],
      ['not that', { not: has(some(begins('of t'), begins('no'))) }, 'c'],
      ['not that and a word', { not: has(all(begins('of'), phrase('left'))) }, 'cd'],
    ],
  },
  {
    name: 'words: whatever they look like',
    resources: { ...Object.fromEntries(ODD.map((word, n) => [String.fromCharCode(97 + n), [words(word)]])) },
    findings: [
      ...ODD.map((word, n) => [word.slice(0, 9), has(phrase(word)), String.fromCharCode(97 + n)] as const),
      ...ODD.map((word, n) => [`begins ${word.slice(0, 9)}`, has(begins(word)), String.fromCharCode(97 + n)] as const),
      ['all of them', has(some(...ODD.map(phrase))), 'abcdefghijklm'],
      ['together', has(all(...ODD.map(phrase))), ''],
    ],
  },
];

const VOCABULARY = ['acute', 'head', 'headache', 'pain', 'of', 'no', 'x', 'é'];

/** Random values, of few words so that they meet. */
export function randomWords({ pick, some }: Random): ReturnType<typeof words> {
  return words(...some(4, () => some(5, () => pick(VOCABULARY)).join(' ')), pick(VOCABULARY));
}

/** A random test of them, as the parameter can be asked. */
export function randomWordsTest(random: Random, param: string, depth = 2): WordsTest {
  const { pick, chance, some: list } = random;
  const again = (): WordsTest => randomWordsTest(random, param, depth - 1);
  if (depth > 0 && chance(0.5)) {
    return chance(0.4) ? some(again(), ...list(3, again)) : { all: [again(), ...list(2, again)], none: list(2, again) };
  }
  const text = [pick(VOCABULARY), ...list(2, () => pick(VOCABULARY))].join(' ');
  return !param.startsWith('_') && chance(0.3)
    ? begins(text.slice(0, 1 + Math.floor(text.length * 0.8)))
    : phrase(text);
}
