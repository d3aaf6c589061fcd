import { expect, it } from 'vitest';

import { beginEvaluation, compileLibrary } from '../../runtime/path/library/evaluate.js';
import { processorTime } from '../processor-time.js';

const patient = (names: number) => ({
  resourceType: 'Patient',
  id: 'a',
  name: Array.from({ length: names }, (_, n) => ({ family: `f${n}` })),
});

it.each(['Patient.name.family.distinct()', 'Patient.name.family | Patient.name.given', 'Patient.name.isDistinct()'])(
  '%s compares few values with each other, and no more',
  (expression) => {
    const run = compileLibrary(expression);
    const few = patient(500);
    expect(run(few, beginEvaluation(few)).length).toBeGreaterThan(0);
    const many = patient(20_000);
    const took = processorTime();
    expect(() => run(many, beginEvaluation(many))).toThrow('compares too many values');
    expect(took()).toBeLessThan(1000);
  },
);

it('compiling does not count into the time that evaluating may take', () => {
  const values = Array.from({ length: 150 }, (_, n) => `$this = 'v${n}'`).join(' or ');
  const run = compileLibrary(`Patient.id.where(${values} or $this = 'a')`);
  const one = patient(1);
  const begun = performance.now();
  const evaluation = { ...beginEvaluation(one), deadline: begun + 1 };
  while (performance.now() < begun + 0.9);
  expect(() => run(one, evaluation)).toThrow(/too long/);
  expect(evaluation.deadline).toBeGreaterThan(begun + 2);
});
