import { ESLint } from 'eslint';
import { describe, expect, test } from 'vitest';

const eslint = new ESLint();

/** The words that `kiln/plain-words` reports in a file of scripts/, with the line of each. */
async function reported(text: string, filePath = 'scripts/not-a-file.mjs'): Promise<string[]> {
  const [result] = await eslint.lintText(text, { filePath });
  return result!.messages
    .filter(({ ruleId }) => ruleId === 'kiln/plain-words')
    .map(({ line, message }) => `${line} ${/"(.*?)"/.exec(message)![1]}`);
}

describe('the lint rule for plain words', () => {
  test.each([
    ['// Nobody counts them.', 'Nobody'],
    ['/* Whoever asks */', 'Whoever'],
    ["export const text = 'somebody wrote';", 'somebody'],
    ['export const text = `${1} is told of ${2}`;', 'told'],
    ['// creates what is not there', 'what is not there'],
    ['// reads it as if it were empty', 'as if it were'],
    ['// the sweep is for that', 'is for that'],
    ['// where it stands', 'stands'],
    ['// they stand in one row', 'stand'],
  ])('%s', async (text, word) => {
    expect(await reported(text)).toEqual([`1 ${word}`]);
  });

  test('names each place, in any line of a comment, and words that a line break parts', async () => {
    expect(await reported('/**\n * It stands\n * as if\n * it were told.\n */\n')).toEqual([
      '2 stands',
      '3 as if it were',
      '4 told',
    ]);
    expect(await reported('// It reads\n// as if\n// it were.\n')).toEqual(['2 as if it were']);
  });

  test.each([
    '// a standard, standalone, stand-alone server with a stand-in',
    '// `1` stands for one; it stands\n// for nothing else',
    'export const nobody = { told: 1 }.told;',
  ])('leaves alone: %s', async (text) => {
    expect(await reported(text)).toEqual([]);
  });

  test('names the plain alternative', async () => {
    const [result] = await eslint.lintText('// nobody', { filePath: 'scripts/not-a-file.mjs' });
    expect(result!.messages[0]!.message).toContain('client, caller');
  });

  test('judges no other files', async () => {
    expect(await reported('// nobody', 'eslint.config.js')).toEqual([]);
  });
});
