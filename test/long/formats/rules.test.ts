import { expect, it } from 'vitest';

import { exampleFiles } from '../../conformance/formats/examples.js';
import { refusedExamples } from '../../conformance/validation/rule-examples.js';

it('the rules accept all 2,822 official examples but the 161 Questionnaires that break que-2', () => {
  const files = exampleFiles();
  expect(files).toHaveLength(2822);
  expect(refusedExamples(files)).toEqual({ 'Questionnaire-qgen: que-2': 161 });
});
