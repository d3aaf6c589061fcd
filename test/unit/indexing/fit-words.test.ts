import { expect, it } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import type { IndexEntry, WordsEntry } from '../../../runtime/indexing/entry.js';
import { fitWords } from '../../../runtime/indexing/text/fit-words.js';
import { toLine } from '../../../runtime/indexing/text/line.js';

const MB = 1024 * 1024;
const numbered = (count: number, letter = 'w'): string => Array.from({ length: count }, (_, n) => `${letter}${n}`).join(' '); // prettier-ignore
const words = (param: string, ...values: string[]): WordsEntry => ({ kind: 'words', param, text: values.map((value) => toLine(value)).join('') }); // prettier-ignore
const of = (size: number) => ({ resourceType: 'Basic', language: 'x'.repeat(size) });
const token: IndexEntry = { kind: 'token', param: 'code', code: 'a' };
const textOf = (entries: readonly IndexEntry[], param: string): string | undefined =>
  entries.flatMap((each) => (each.kind === 'words' && each.param === param ? [each.text] : []))[0];

it('words stay as they are where there is room', () => {
  const entries = [token, words('_content', numbered(60_000))];
  expect(fitWords(entries, of(10), 10)).toBe(entries);
  expect(fitWords(entries, of(12 * MB), 12 * MB)).toBe(entries);
});

it('the last words of the longest text are left out first, at the end of a word, and nothing else', () => {
  const [short, long] = [words('code', 'head pain'), words('_content', numbered(60_000), 'the end')];
  const entries = [long, token, short];
  const size = 14 * MB + 500_000;
  const fitted = fitWords(entries, of(size), size);
  expect(fitted.filter(({ kind }) => kind !== 'words')).toEqual([token]);
  expect(textOf(fitted, 'code')).toBe(short.text);
  const left = textOf(fitted, '_content')!;
  expect(left.length).toBeGreaterThan(10_000);
  expect(left.length).toBeLessThan(long.text.length);
  expect(long.text.startsWith(left)).toBe(true);
  expect(left.endsWith(' ')).toBe(true);
  // Once more it stays as it is.
  expect(fitWords(fitted, of(size), size)).toBe(fitted);
});

it('a word counts once more for each that is new, as it is kept by itself', () => {
  const size = 14 * MB + 700_000;
  const one = textOf(fitWords([words('_content', 'w1 '.repeat(100_000))], of(size), size), '_content')!;
  const many = textOf(fitWords([words('_content', numbered(100_000))], of(size), size), '_content')!;
  expect(one.length).toBeGreaterThan(2 * many.length);
});

it('a narrative is no longer than the content, which has its words', () => {
  const narrative = words('_text', numbered(40_000));
  const content = { ...words('_content', numbered(40_000, 'v')) };
  const both = [{ ...content, text: narrative.text + content.text }, narrative];
  const sizes = [14 * MB + 600_000, 14 * MB, 16 * MB];
  const fitted = sizes.map((size) => fitWords(both, of(size), size));
  expect(textOf(fitted[0]!, '_text')).toBe(textOf(fitted[0]!, '_content'));
  expect(textOf(fitted[1]!, '_text')).toBe(narrative.text);
  expect(fitted[2]).toEqual([]);
});

it('numbers, names and rows are counted as a document has them', () => {
  const numbers = { resourceType: 'Basic', coordinate: Array.from({ length: 900_000 }, (_, n) => n % 10) };
  const entries = [words('_content', numbered(60_000))];
  expect(fitWords(entries, numbers, 1_800_000)).not.toBe(entries);
  const rows = Array.from({ length: 80_000 }, (_, n): IndexEntry => ({
    kind: 'token',
    param: 'code',
    code: `code${n}`,
  }));
  expect(fitWords([...rows, ...entries], of(10), 600_000)).toHaveLength(80_001);
  expect(fitWords([...rows, ...entries], of(7 * MB), 7 * MB)).toHaveLength(80_000);
});

it('a resource was refused for words that nobody sent', async () => {
  const resource = { resourceType: 'Basic', language: 'x'.repeat(14 * MB + 900_000) };
  const put = await composePut(resource, 'a', undefined, { ...DEFAULT_SERVICES, extract: () => [token, words('_content', numbered(60_000))], limits: DEFAULT_LIMITS }); // prettier-ignore
  expect(put?.entries[0]).toEqual(token);
  expect(textOf(put!.entries, '_content')?.length).toBeLessThan(100_000);
  const many = Array.from({ length: 100_000 }, () => token);
  await expect(composePut(resource, 'a', undefined, { ...DEFAULT_SERVICES, extract: () => many, limits: DEFAULT_LIMITS })).rejects.toThrow('may have'); // prettier-ignore
});
