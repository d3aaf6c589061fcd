import { expect, it } from 'vitest';

import { exampleFiles, readExample } from './examples.js';
import { takeInExamples } from './intake-examples.js';

/** A Binary, which has no entries, and a Bundle, which has many: a sample may miss them. */
const ALWAYS = ['Binary-example.json', 'Bundle-dataelements.json'];

/** About one in six of the small files, the same ones each time. test/long/formats/intake.test.ts has them all. */
const sample = exampleFiles().filter(
  (file, i) =>
    ALWAYS.includes(file) || ((i * 2_654_435_761) % 2 ** 32 < 2 ** 32 / 6 && readExample(file).text.length < 200_000),
);

it('what a thread takes in is written as what is read here: a sample of the official examples', async () => {
  const taken = await takeInExamples(sample);
  expect(taken).toMatchObject({ tooLarge: 0, missing: ['Binary-example.json'] });
  expect(taken.count).toBeGreaterThan(440);
}, 60_000);
