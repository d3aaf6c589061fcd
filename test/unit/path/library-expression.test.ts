import { describe, expect, it } from 'vitest';

import { beginEvaluation, compileLibrary } from '../../../runtime/path/library/evaluate.js';
import { processorTime } from '../../processor-time.js';

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
    expect(() => run(many, beginEvaluation(many))).toThrow('compares more than 1,000 values');
    expect(took()).toBeLessThan(1000);
  },
);

it('compiling does not count into the time that evaluating may take', () => {
  const values = Array.from({ length: 150 }, (_, n) => `$this = 'v${n}'`).join(' or ');
  const run = compileLibrary(`Patient.id.where(${values} or $this = 'a')`);
  const one = patient(1);
  const begun = performance.now();
  // Of the processor the process has used more since its start.
  const used = { user: 0, system: 0 };
  const evaluation = { ...beginEvaluation(one), deadline: begun + 1, begun: { at: begun, used } };
  while (performance.now() < begun + 0.9);
  expect(() => run(one, evaluation)).toThrow(/more than 500 ms/);
  expect(evaluation.deadline).toBeGreaterThan(begun + 2);
});

it('time in which other programs have the processor does not count either', () => {
  const run = compileLibrary('Patient.id.where($this.length() > 0)');
  const one = patient(1);
  const evaluation = beginEvaluation(one);
  expect(run(one, evaluation)).toHaveLength(1);
  // The clock went on for a minute, the process did not.
  const at = performance.now() - 60_000;
  const late = { ...evaluation, deadline: at + 500, begun: { at, used: process.cpuUsage() } };
  expect(run(one, late)).toHaveLength(1);
  expect(() => run(one, { ...late, begun: { at, used: { user: 0, system: 0 } } })).toThrow(/more than 500 ms/);
});

describe('regular expressions', () => {
  const named = (family: string) => ({ resourceType: 'Patient', name: [{ family }] });
  const evaluate = (expression: string, family: string) => {
    const resource = named(family);
    return compileLibrary(expression)(resource, beginEvaluation(resource)).map(({ value }) => value);
  };
  it.each([
    ["name.family.matches('o')", 'Hopper', true],
    ["name.family.matches('^o')", 'Hopper', false],
    ["name.family.matches('r$')", 'Hopper', true],
    ["name.family.matches('p{2}.r')", 'Hopp\nr', true],
    ["name.family.matchesFull('H|Hop')", 'Hopper', false],
    ["name.family.matchesFull('[A-Z][a-z]+')", 'Hopper', true],
  ])('%s of %j is %j', (expression, family, expected) => {
    expect(evaluate(expression, family)).toEqual([expected]);
  });
  it('find nothing in nothing', () => {
    expect(evaluate("name.given.matches('a')", 'Hopper')).toEqual([]);
  });
  it.each(["matches('(a|aa)+$')", "matches('^(a+)+$')", "matchesFull('(a*)*b')"])(
    '%s takes little time on a text made for it',
    (call) => {
      const took = processorTime();
      expect(evaluate(`name.family.${call}`, `${'a'.repeat(5000)}!`)).toEqual([false]);
      expect(took()).toBeLessThan(1000);
    },
  );
  it('that cost too much or are not understood fail', () => {
    const took = processorTime();
    expect(() => evaluate("name.family.matches('(a?){900}b')", 'a'.repeat(50_000))).toThrow(/too long/);
    expect(took()).toBeLessThan(2000);
    expect(() => evaluate("name.family.replaceMatches('(a+)+$', 'x')", 'a')).toThrow(/not understood/);
    expect(() => evaluate("name.family.matches('(?=a)')", 'a')).toThrow(/no regular expression: .*\(\?=/);
    expect(() => evaluate("name.family.matches('a', 'i')", 'A')).toThrow(/flags/);
  });
});
