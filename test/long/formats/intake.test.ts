import { expect, it } from 'vitest';

import { exampleFiles } from '../../conformance/formats/examples.js';
import { takeInExamples } from '../../conformance/formats/intake-examples.js';

it('what a thread takes in is written as what is read here: all official examples', async () => {
  const { count, tooLarge, missing } = await takeInExamples(exampleFiles());
  expect(missing.length).toBeLessThan(30);
  expect(tooLarge).toBe(1);
  expect(count).toBeGreaterThan(2700);
});
