import { describe, expect, it } from 'vitest';

import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { tables } from '../../../generated/tables.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { readParameterSet } from '../../../runtime/indexing/parameters/parameter-set.js';
import { MOST_CONVERTED } from '../../../runtime/indexing/stored-bound.js';
import { processorTime } from '../../processor-time.js';
import { parameter } from '../../service/stored-parameters/stored-parameters-subject.js';
import { context, failed, stored, withStored } from './stored-extractor.js';

/** Each name finds the text of each contact. */
const times = (code: string) =>
  parameter(code, { type: 'string', expression: 'Patient.name.select(%resource.contact.name.text)' });
const patient = (names: number, texts: readonly string[]): Resource => ({
  resourceType: 'Patient',
  id: 'a',
  name: Array.from({ length: names }, (_, n) => ({ family: `f${n}` })),
  contact: texts.map((text) => ({ name: { text } })),
});

describe('what is converted of one resource for all stored parameters has a bound', () => {
  it('in characters: a text that is found very often', () => {
    const extract = withStored(times('x-times'));
    const few = extract(patient(5, ['y'.repeat(100_000)]));
    expect([stored(few).length, failed(few)]).toEqual([5, []]);
    const many = patient(300, ['y'.repeat(100_000)]);
    const took = processorTime();
    const entries = extract(many);
    expect(took()).toBeLessThan(300);
    expect([stored(entries), failed(entries)]).toEqual([[], ['x-times']]);
  });

  it('in values, for parameters that are compiled too, and no others are touched', () => {
    const wide = parameter('x-wide', {
      type: 'string',
      expression: Array.from({ length: 100 }, (_, n) => `Patient.name.take(${n + 1}).given`).join(' | '),
    });
    const compiled = parameter('x-compiled', { type: 'string', expression: 'Patient.name.given' });
    const first = parameter('x-a', { type: 'string', expression: 'Patient.name.family' });
    const body = {
      ...patient(1, []),
      name: [{ family: 'f', given: Array.from({ length: 10_001 }, (_, n) => `g${n}`) }],
    };
    const entries = withStored(compiled, first)(body);
    expect([stored(entries).map(({ param }) => param), failed(entries)]).toEqual([['x-a'], ['x-compiled']]);
    // What is built in has no such bound.
    expect(entries.filter(({ param }) => param === 'given')).toHaveLength(MOST_CONVERTED.values + 1);
    const less = { ...body, name: [{ given: Array.from({ length: 200 }, (_, n) => `g${n}`) }] };
    expect(failed(withStored(wide)(less))).toEqual(['x-wide']);
  });

  it('a composite of each with each', () => {
    const composite = parameter('x-pairs', {
      type: 'composite',
      expression: 'Patient',
      component: [
        { definition: 'http://hl7.org/fhir/SearchParameter/individual-given', expression: 'name.given' },
        { definition: 'http://hl7.org/fhir/SearchParameter/individual-family', expression: 'name.family' },
      ],
    });
    const body = { ...patient(101, []), name: patient(101, []).name as object[] };
    const given = Array.from({ length: 100 }, (_, n) => `g${n}`);
    const entries = withStored(composite)({ ...body, name: [{ given }, ...(body.name as object[])] } as Resource);
    expect([stored(entries), failed(entries)]).toEqual([[], ['x-pairs']]);
  });

  it('a union within an expression compares no more than that', () => {
    const ways = Array.from({ length: 20 }, (_, n) => `Patient.contact.where(gender='${n}')`);
    const union = parameter('x-union', {
      type: 'string',
      expression: `(${[...ways, ...Array.from({ length: 20 }, (_, n) => `Patient.contact[${n}]`)].join(' | ')}).name.text`,
    });
    const entries = withStored(union)(
      patient(
        1,
        Array.from({ length: 20 }, () => 'y'.repeat(100_000)),
      ),
    );
    expect([stored(entries), failed(entries)]).toEqual([[], ['x-union']]);
  });
});

it('branches with the same steps are one, and so are ways within an expression', () => {
  const same = Array.from({ length: 90 }, (_, n) => `Patient.name${' '.repeat(n % 9)}.given`);
  const rows = (expression: string) =>
    readParameterSet([parameter('x-a', { type: 'string', expression })], context).parameters[0]?.rows.get('Patient')
      ?.paths;
  expect(rows(same.join('|'))).toHaveLength(1);
  expect(rows(`(${same.join('|')}).first()`)?.[0]?.steps).toEqual([
    { union: [[{ get: 'name' }, { get: 'given' }]] },
    { index: 0 },
  ]);
  expect(rows(`Patient.name.given.join('+')|Patient . name.given . join ( '+' )`)).toHaveLength(1);
});

it('a small resource whose entries are large is too large', async () => {
  const extract = withStored(times('x-times'));
  const small = patient(9, ['y'.repeat(100_000)]);
  const limits = { ...DEFAULT_LIMITS, resource: 1_700_000 };
  expect(JSON.stringify(small).length).toBeLessThan(limits.resource / 15);
  expect(
    await composePut(small, 'a', undefined, { ...DEFAULT_SERVICES, extract: createExtractor(tables), limits }),
  ).toBeDefined();
  await expect(composePut(small, 'a', undefined, { ...DEFAULT_SERVICES, extract, limits })).rejects.toThrow(
    'may have 1700000 bytes',
  );
});
