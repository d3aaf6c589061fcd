import { describe, expect, it } from 'vitest';

import { evaluateText } from '../../evaluate-text.js';
import { processorTime } from '../../processor-time.js';

const COUNT = 20_000;
const patient = {
  resourceType: 'Patient',
  language: 'a'.repeat(1_000_000),
  implicitRules: '1'.repeat(1_000_000),
  name: Array.from({ length: COUNT }, (_each, i) => ({ family: `x${i}` })),
};

describe('expressions that a resource has too much for', () => {
  it.each([
    'name.aggregate($total.select($total), name)',
    `name.aggregate(iif($total${'.tail()'.repeat(20)}.empty(), 1, $total), %resource.name)`,
    `name.select(%resource.name${'.skip(1)'.repeat(20)})`,
    `name.select(%resource.name${'.ofType(HumanName)'.repeat(20)})`,
    `name.select(1${'+1'.repeat(600)})`,
    '1.repeat($this + 1)',
    "name.where(%resource.language.contains('zz'))",
    "name.where(%resource.language.indexOf('zz') > 0)",
    "name.select(%resource.language.split('zz'))",
    "name.select(%resource.language.replace('zz', ''))",
    'name.select(%resource.implicitRules.toQuantity())',
    'name.where(%resource.implicitRules.convertsToInteger())',
    'name.where(%resource.language = %resource.language)',
  ])('are given up soon: %#', (expression) => {
    const took = processorTime();
    expect(() => evaluateText(expression, patient, 200_000)).toThrow(/too many values|too long/);
    expect(took()).toBeLessThan(3000);
  });
  it.each(["name.where(family = 'x1' or family = 'x2').count()", 'name.tail().select(family).take(2).count()'])(
    '%s is none of them',
    (expression) => {
      expect(evaluateText(expression, patient)).toEqual([2]);
    },
  );
});

describe('values without bounds', () => {
  it.each(['10.power(400)', '1000.exp()', '0.ln()', '10.power(300) * 10.power(300)'])('%s is nothing', (expression) => {
    expect(evaluateText(expression, patient)).toEqual([]);
  });
  it.each(['@2020-01-31 + 1000000 years', '@2020-01-31T10:00:00Z + 100000000000000000 seconds'])(
    '%s is no time',
    (expression) => {
      expect(() => evaluateText(expression, patient)).toThrow(/for others than they are/);
    },
  );
});

describe('equivalence', () => {
  it.each([
    ["1 'g' ~ 1000 'mg'", true],
    ["1 'g' ~ 1 'mg'", false],
    ['@2020-01-01T00:00:00Z ~ @2020-01-01T01:00:00+01:00', true],
    ['@2020-01 ~ @2020-01-01', false],
  ])('%s is %j', (expression, expected) => {
    expect(evaluateText(expression, patient)).toEqual([expected]);
  });
});
