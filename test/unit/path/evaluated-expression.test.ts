import { describe, expect, it } from 'vitest';

import { evaluateText } from '../../evaluate-text.js';
import { processorTime } from '../../processor-time.js';

const named = (family: string) => ({ resourceType: 'Patient', name: [{ family }] });

describe('regular expressions', () => {
  it.each([
    ["name.family.matches('o')", 'Hopper', true],
    ["name.family.matches('^o')", 'Hopper', false],
    ["name.family.matches('r$')", 'Hopper', true],
    ["name.family.matches('p{2}.r')", 'Hopp\nr', true],
    ["name.family.matchesFull('H|Hop')", 'Hopper', false],
    ["name.family.matchesFull('[A-Z][a-z]+')", 'Hopper', true],
  ])('%s of %j is %j', (expression, family, expected) => {
    expect(evaluateText(expression, named(family))).toEqual([expected]);
  });
  it('find nothing in nothing', () => {
    expect(evaluateText("name.given.matches('a')", named('Hopper'))).toEqual([]);
  });
  it.each(["matches('(a|aa)+$')", "matches('^(a+)+$')", "matchesFull('(a*)*b')"])(
    '%s takes little time on a text made for it',
    (call) => {
      const took = processorTime();
      expect(evaluateText(`name.family.${call}`, named(`${'a'.repeat(5000)}!`))).toEqual([false]);
      expect(took()).toBeLessThan(1000);
    },
  );
  it('that cost too much or are not understood fail', () => {
    const took = processorTime();
    expect(() => evaluateText("name.family.matches('(a?){900}b')", named('a'.repeat(50_000)))).toThrow(/too long/);
    expect(took()).toBeLessThan(2000);
    expect(() => evaluateText("name.family.replaceMatches('(a+)+$', 'x')", named('a'))).toThrow(/not supported/);
    expect(() => evaluateText("name.family.matches('(?=a)')", named('a'))).toThrow(/no regular expression/);
  });
});

describe('times with durations', () => {
  it.each([
    ['@2024-02-29 + 1 year', '2025-02-28'],
    ['@2024-01-31 + 1 month', '2024-02-29'],
    ['@2024-03-31 - 1 month', '2024-02-29'],
    ['@2024-01-31 + 36 hours', '2024-02-01'],
    ['@2024 + 18 months', '2025'],
    ['@2024-05 - 60 days', '2024-03'],
    ['@2024-12-31T23:30:00Z + 45 minutes', '2025-01-01T00:15:00Z'],
    ['@2024-12-31T23:30:00+02:00 + 1 week', '2025-01-07T23:30:00+02:00'],
    ['@T23:30:00 + 1 hour', '00:30:00'],
    ['Patient.birthDate + 18 years', '2008-05-17'],
    ["Patient.birthDate + 1 'd'", '1990-05-18'],
  ])('%s is %s', (expression, expected) => {
    expect(evaluateText(expression, { resourceType: 'Patient', birthDate: '1990-05-17' })).toEqual([expected]);
  });
  it.each(["@2024-01-01 + 1 'mg'", '@2024-01-01 + 1'])('%s fails', (expression) => {
    expect(() => evaluateText(expression, named('a'))).toThrow(/for others than they are/);
  });
});

describe('times of different precision', () => {
  it.each([
    ['@2024 < @2024-05', []],
    ['@2023 < @2024-05', [true]],
    ['@2024-05-01 = @2024-05-01T08:00:00Z', []],
    ['@2024-05-01T08:00:00Z = @2024-05-01T10:00:00+02:00', [true]],
    ['@2024-05-01T23:30:00-01:00 < @2024-05-02T00:30:01Z', [true]],
    ['@2024-05-01T08:00 <= @2024-05-01T08:00:00', []],
    ['@2024-05-01T08:00 < @2024-05-01T08:01:00', [true]],
    ['@2024-05-01T08:00:00.000Z = @2024-05-01T08:00:00Z', [true]],
    ['@T10:00 = @T10:00:00', []],
    ['@T10:00 < @T10:01:00', [true]],
    ['@T10:00:00.5 > @T10:00:00', [true]],
    ['@T10:00:00.000 = @T10:00:00', [true]],
    ["'2024-13-01'.toDate()", []],
    ["'2023-02-29'.convertsToDate()", [false]],
    ["'2024-02-29T24:00:00Z'.convertsToDateTime()", [false]],
    ["'2024-02-29T23:59:60+02:00'.toDateTime()", ['2024-02-29T23:59:60+02:00']],
    ["'10:61'.toTime()", []],
    ["'2024-02-29T12:00:00+25:00'.toDateTime()", []],
    ["'2020-01-01Txx'.toDate()", []],
    ["('2012-04-15T15:00:00+02:00'.toDateTime() | '2012-04-15T13:00:00Z'.toDateTime()).count()", [1]],
    ['@2020-01-01T10:00:00.0Z in @2020-01-01T10:00:00Z', [true]],
    ['@T10:00 in @T10:00:00', [false]],
    ["'-2147483648'.toInteger()", [-2147483648]],
    ["'2147483647'.toInteger()", [2147483647]],
    ["'2147483648'.toInteger()", []],
  ])('%s is %j', (expression, expected) => {
    expect(evaluateText(expression, named('a'))).toEqual(expected);
  });
});

describe('quantities', () => {
  const ucum = { system: 'http://unitsofmeasure.org' };
  const observation = {
    ...{ resourceType: 'Observation', valueQuantity: { value: 5, unit: 'mg', code: 'mg', ...ucum } },
    referenceRange: [{ low: { value: 0.005, unit: 'g', code: 'g', ...ucum }, high: { value: 5, unit: 'beats' } }],
  };
  it.each([
    ["value = 5 'mg'", [true]],
    ["value = 0.005 'g'", [true]],
    ["value < 1 'g'", [true]],
    ["value < 1 'm'", []],
    ['value = referenceRange.low', [true]],
    ['value <= referenceRange.low', [true]],
    ['value = referenceRange.high', [false]],
    ["'5 \\'mg\\''.toQuantity() = value", [true]],
    ["'3 days'.toQuantity() < 1 week", [true]],
    ["'x'.convertsToQuantity()", [false]],
  ])('%s is %j', (expression, expected) => {
    expect(evaluateText(expression, observation)).toEqual(expected);
  });
});

it.each([
  ['name.given.aggregate($total + $this, %resource.id)', ['idab']],
  ['(1|2|3).aggregate($total + $this, 0)', [6]],
  ['(1|2|3).supersetOf(2|3)', [true]],
  ['(1|2).supersetOf(2|3)', [false]],
  ['(1|2|3).intersect(3|2)', [2, 3]],
  ['(1|2|3).exclude(3|2)', [1]],
  ['16.sqrt() + 2.power(3)', [12]],
  ['%`vs-gender` & %`ext-x`', ['http://hl7.org/fhir/ValueSet/genderhttp://hl7.org/fhir/StructureDefinition/x']],
])('%s is %j', (expression, expected) => {
  expect(evaluateText(expression, { resourceType: 'Patient', id: 'id', name: [{ given: ['a', 'b'] }] })).toEqual(
    expected,
  );
});
