import { expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { ExpressionError } from '../../../runtime/path/expression/expression-error.js';
import { evaluateText } from '../../evaluate-text.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { createExtractionThrottle, THROTTLE } from '../../../runtime/indexing/extraction-throttle.js';
import { readParameterSet, withParameters } from '../../../runtime/indexing/parameters/parameter-set.js';
import { processorTime } from '../../processor-time.js';
import { parameter } from '../../service/stored-parameters/stored-parameters-subject.js';
import { context, failed, stored } from './stored-extractor.js';

/** Milliseconds that one expression may take on one resource: what is allowed of time, and the step that goes beyond it. */
const MOST = 900;

const list = <T>(length: number, make: (n: number) => T): T[] => Array.from({ length }, (_, n) => make(n));
const patient = (more: object) => ({ resourceType: 'Patient', id: 'a', ...more });
/** Extensions of which the last is another. */
const leaves = (last: number, count: number) =>
  list(count, (n) => ({ url: `u${n === count - 1 ? last : n}`, valueString: 'v' }));
const nested = (depth: number): object =>
  depth === 0 ? { url: 'x', valueString: 's' } : { url: 'd', extension: [nested(depth - 1)] };

const RESOURCES = {
  many: patient({ name: list(12_000, (n) => ({ family: `f${n}`, given: [`a${n}`, 'b'] })) }),
  some: patient({ name: list(3000, (n) => ({ family: `f${n}` })) }),
  twins: patient({
    name: list(990, (n) => ({ family: `f${n}` })),
    extension: list(2, (last) => ({ url: 'x', extension: leaves(last, 15_000) })),
  }),
  reversed: patient({
    extension: [leaves(0, 10_000), leaves(0, 10_000).reverse()].map((extension) => ({ url: 'x', extension })),
  }),
  parts: patient({ name: list(990, (last) => ({ family: 'f', extension: leaves(last, 30) })) }),
  texts: patient({ name: list(990, (n) => ({ text: 'x'.repeat(15_000) + String(n) })) }),
  text: patient({
    contact: [{ name: { text: 'y'.repeat(5_000_000), family: '9'.repeat(2_000_000) } }],
    name: list(990, () => ({ family: 'f' })),
  }),
  deep: patient({ extension: [nested(900)] }),
};

const EXPRESSIONS: readonly (readonly [on: keyof typeof RESOURCES, expression: string])[] = [
  // A value that is found by each of many, and all that is in it in one step.
  ['many', 'Patient.name.select(%resource).descendants()'],
  ['some', 'Patient.name.select(%resource).name.family'],
  ['some', 'Patient.name.select(%resource).children().count()'],
  ['many', 'Patient.name.take(400).select(%resource).descendants().count()'],
  ['some', 'Patient.name.select(%resource.name)'],
  ['some', '(Patient.name | Patient.contact).select(%resource.name | %resource.contact).family'],
  ['many', 'Patient.descendants().descendants().descendants().count()'],
  ['deep', 'Patient.descendants().descendants().descendants()'],
  ['deep', 'Patient.extension.descendants().where(descendants().descendants().exists())'],
  ['many', 'Patient.name.given.combine(%resource.name.given).combine(%resource.name.given)'],
  // Comparing large values again and again, in one step and in many.
  ['twins', '%resource.extension[1] in Patient.name.select(%resource.extension[0])'],
  ['twins', 'Patient.name.select(%resource.extension[0]) = Patient.name.select(%resource.extension[1])'],
  ['twins', 'Patient.name.select(%resource.extension[0] = %resource.extension[1])'],
  ['twins', 'Patient.name.where(%resource.extension[0] = %resource.extension[1] or family = %resource.id)'],
  ['twins', "Patient.name.select(%resource.extension).combine('a').distinct()"],
  ['reversed', 'Patient.extension[0] ~ Patient.extension[1]'],
  ['reversed', 'Patient.extension[0].extension ~ Patient.extension[1].extension'],
  ['parts', "Patient.name.combine('a').distinct()"],
  ['parts', "Patient.name | 'a'"],
  ['parts', 'Patient.name ~ Patient.name.tail().combine(%resource.name.first())'],
  ['texts', 'Patient.name.text.distinct()'],
  ['texts', 'Patient.name.text ~ Patient.name.text.tail()'],
  // Texts and numbers that grow.
  ['texts', "Patient.name.text.join('')"],
  ['text', "Patient.name.select(%resource.contact.name.text).join('')"],
  ['text', "Patient.name.select(%resource.contact.name.text.split('b').join('c'))"],
  ['text', "Patient.contact.name.text.split('')"],
  ['text', `Patient.contact.name.text.indexOf('${'y'.repeat(900)}b')`],
  ['text', 'Patient.contact.name.family.toInteger() | Patient.contact.name.family.toDecimal()'],
  ['text', 'Patient.contact.name.family.toQuantity() | Patient.contact.name.family.toDateTime()'],
  ['text', `(9999999999L)${'.select($this*$this)'.repeat(22)}`],
  ['text', `(${'9'.repeat(900)}.5)${'.select($this*$this)'.repeat(20)}`],
  ['text', '(1.1).round(100000000)'],
];

it.each(EXPRESSIONS.map(([on, expression]) => [on, expression.slice(0, 100), expression] as const))(
  'on %s, %s ends soon',
  (on, _start, expression) => {
    const resource = RESOURCES[on];
    const evaluate = (on: object) => {
      try {
        expect(evaluateText(expression, on).length).toBeLessThanOrEqual(1_000_000);
      } catch (error) {
        if (!(error instanceof ExpressionError)) expect(error).toBeInstanceOf(RangeError);
      }
    };
    // The expression is compiled outside of the time that evaluating may take.
    evaluate({ resourceType: 'Patient' });
    const took = processorTime();
    evaluate(resource);
    expect(took()).toBeLessThan(MOST);
  },
);

it('what is slow on large resources is not tried on them again and again, where clients wait', () => {
  // Half a second on each of the large ones.
  const expression = 'Patient.name.select(%resource.extension[0] = %resource.extension[1])';
  const parameters = ['x-slow', 'x-quick'].map((code) =>
    parameter(code, { expression: code === 'x-slow' ? expression : 'Patient.name.family.first()' }),
  );
  const search = withParameters(tables.search, readParameterSet(parameters, context).parameters);
  const extract = createExtractor({ ...tables, search }, { pace: createExtractionThrottle() });
  const large = RESOURCES.twins;
  const took = processorTime();
  for (let i = 0; i < 20; i++) {
    const entries = extract(large);
    expect([failed(entries), stored(entries).map(({ param }) => param)]).toEqual([['x-slow'], ['x-quick']]);
  }
  expect(took()).toBeLessThan(5000);
  const small = extract(patient({ name: [{ family: 'f' }], extension: list(2, () => ({ url: 'a' })) }));
  expect(stored(small).map(({ param }) => param)).toEqual(['x-quick', 'x-slow']);
});

it('the pace is that of a minute', () => {
  let now = 0;
  const { admits, took } = createExtractionThrottle(() => now);
  const [slow, other] = [{}, {}];
  const size = (length: number) => ({ text: 'x'.repeat(length) });
  for (let spent = 0; spent < THROTTLE.most; spent += 500) {
    expect(admits(slow, size(1000))).toBe(true);
    took(new Map([[slow, 500]]), size(1000));
  }
  took(new Map([[other, THROTTLE.slow - 1]]), size(1000));
  expect([admits(slow, size(1000)), admits(slow, size(900)), admits(slow, size(500))]).toEqual([false, false, true]);
  expect(admits(other, size(1000))).toBe(true);
  now = THROTTLE.minute;
  expect(admits(slow, size(1000))).toBe(true);
});

it('many that are quick by themselves are slow together', () => {
  const { admits, took } = createExtractionThrottle(() => 0);
  const [all, one] = [list(60, () => ({})), {}];
  const resource = { text: 'x'.repeat(1000) };
  for (let spent = 0; spent < THROTTLE.most; spent += 480) {
    took(new Map([...all.map((each) => [each, 8] as const), [one, 1]]), resource);
  }
  expect(all.filter((each) => admits(each, resource)).length * 8).toBeLessThan(THROTTLE.slow);
  expect(admits(one, resource)).toBe(true);
});

const nest = (open: string, inner: string, close: string, depth: number): string =>
  `${open.repeat(depth)}${inner}${close.repeat(depth)}`;
const union = (count: number, branch: (n: number) => string): string => list(count, branch).join(' | ');

/** What comes of a definition: a part of the refusal; null: it is in effect, and whatever it costs is bounded. */
const DEFINITIONS: readonly (readonly [name: string, expression: string, refusal: RegExp | null])[] = [
  ['repeat()', 'Patient.repeat(name)', /repeat\(\) cannot be called here: use descendants\(\)/],
  ['repeat() of itself', 'Patient.repeat($this)', /repeat\(\) cannot be called/],
  ['aggregate()', 'Patient.name.aggregate($total + 1, 0)', /aggregate\(\) cannot be called here/],
  ['defineVariable()', "Patient.defineVariable('a', %resource)", /defineVariable\(\) cannot be called/],
  ['a huge literal', `Patient.id = '${'x'.repeat(3900)}'`, /at most 2000 characters/],
  ['a huge number', `Patient.name.given.take(${'9'.repeat(1900)})`, null],
  ['a huge position', `Patient.name[${'9'.repeat(3000)}].given`, null],
  ['a text of escapes', `Patient.where(id = '${'\\u0041'.repeat(600)}').id`, null],
  ['nothing but bars', '|'.repeat(3999), /at most 2000 characters/],
  ['signs', `${'-'.repeat(1900)}1`, /at most 128/],
  ['brackets', nest('(', 'Patient.name.given', ')', 1990), null],
  [
    'brackets in a condition',
    `Patient.name.where(${nest('(', 'given', ')', 1900)}.exists())`,
    /nested too deeply|nested 16/,
  ],
  [
    'iif in iif',
    nest('iif(true, ', 'Patient.id', ')', 300),
    /nested too deeply|at most 2000 characters|nested 16 deep|at most 128/,
  ],
  ['select in select', nest('select(', 'name.given', ')', 15), null],
  ['where in where', `Patient${nest('.where(extension', '', '.exists())', 145)}.id`, null],
  ['conditions in a row', `Patient.name${'.where(family.exists())'.repeat(170)}.family`, null],
  ['positions in a row', `Patient.name${'[0]'.repeat(1300)}.given`, null],
  ['unions in unions', nest('(Patient.id | ', 'Patient.id', ').where($this.exists())', 60), /at most|nested 16/],
  ['unions, each a select', union(99, (n) => `name.skip(${n}).select(given.first())`), null],
  ['descendants() a hundred times', union(100, (n) => `descendants().skip(${n})`), null],
  ['descendants() of descendants()', `Patient${'.descendants()'.repeat(20)}.id`, null],
  ['all with all', `Patient.name${'.select(%resource.name)'.repeat(15)}.family`, null],
  [
    'a union of a hundred ways within',
    `(${union(99, (n) => `Patient.name.where(family='${n}')`)} | Patient.name).family`,
    null,
  ],
];

it.each(DEFINITIONS)('an expression with %s is refused, or bounded', (_name, expression, refusal) => {
  let took = processorTime();
  const definition = parameter('x-a', { type: 'string', expression });
  const { parameters, refused } = readParameterSet([definition], context);
  expect(took()).toBeLessThan(1000);
  if (refusal !== null) {
    expect(refused[0]?.fault.text).toMatch(refusal);
    return;
  }
  expect(refused).toEqual([]);
  const extract = createExtractor({ ...tables, search: withParameters(tables.search, parameters) });
  for (const resource of [RESOURCES.some, RESOURCES.many, RESOURCES.deep]) {
    took = processorTime();
    const entries = extract(resource);
    expect(stored(entries).length + failed(entries).length).toBeLessThanOrEqual(10_000);
    expect(took()).toBeLessThan(2500);
  }
});

it('two hundred slow parameters take no longer than one', () => {
  const expression = 'Patient.name.select(%resource.extension[0] = %resource.extension[1])';
  const many = list(200, (n) => parameter(`x-${n}`, { expression: `${expression}.skip(${n})` }));
  const { parameters } = readParameterSet(many, context);
  const extract = createExtractor({ ...tables, search: withParameters(tables.search, parameters) });
  const took = processorTime();
  expect(failed(extract(RESOURCES.twins))).toHaveLength(200);
  expect(took()).toBeLessThan(2500);
});
