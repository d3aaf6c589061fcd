import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { findUnions } from '../../../generator/model/unions.js';
import type { SearchParameterModel } from '../../../generator/model/model.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { matches } from '../../../runtime/search/query/match.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import { sortValue } from '../../../runtime/search/query/sort.js';
import { parseSortKey } from '../../../runtime/search/parse/parse-sort.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { readSearchRequest } from '../../../runtime/search-execution/parse/search-request.js';
import { definitions, parse, printed } from './chain-parser.js';

const LOINC = 'http://loinc.org';

describe('parameters that are a union of others', () => {
  it('are these', () => {
    const found = tables.search.flatMap(({ type, parameters }) =>
      parameters.flatMap(({ code, unionOf }) =>
        unionOf === undefined ? [] : [`${type}?${code} = ${unionOf.join(' | ')}`],
      ),
    );
    expect(found).toEqual([
      'BiologicallyDerivedProduct?serial-number = identifier',
      'CodeSystem?system = url',
      'Device?specification-version = code-value-concept',
      'ImagingSelection?code = status',
      'Medication?serial-number = identifier',
      'NutritionProduct?serial-number = identifier',
      'Observation?combo-code = code | component-code',
      'Observation?combo-code-value-concept = code-value-concept | component-code-value-concept',
      'Observation?combo-code-value-quantity = code-value-quantity | component-code-value-quantity',
      'Observation?combo-data-absent-reason = component-data-absent-reason | data-absent-reason',
      'Observation?combo-value-concept = component-value-concept | value-concept',
      'Observation?combo-value-quantity = component-value-quantity | value-quantity',
      'Patient?phonetic = name',
      'Person?phonetic = name',
      'Practitioner?phonetic = name',
      'Questionnaire?combo-code = item-code | questionnaire-code',
      'RelatedPerson?phonetic = name',
    ]);
  });

  it.each([
    ['Patient?phonetic', 'a', 'name begins "a"'],
    ['Patient?phonetic:missing', 'true', 'not (name is there)'],
    ['Observation?combo-code', 'a', '(code = "a") or (component-code = "a")'],
    ['Observation?combo-code:not', 'a', '(not (code = "a")) and (not (component-code = "a"))'],
    ['Observation?combo-code:missing', 'true', '(not (code is there)) and (not (component-code is there))'],
    ['Observation?combo-code:missing', 'false', '(code is there) or (component-code is there)'],
    ['Observation?combo-value-quantity', 'gt5', '(component-value-quantity high > 5) or (value-quantity high > 5)'],
    // Some code is another one.
    ['Observation?_filter', 'combo-code ne a', '(code != "a" in any case) or (component-code != "a" in any case)'],
    ['Observation?_filter', 'not (combo-code pr true)', 'not ((code is there) or (component-code is there))'],
    [
      'Patient?_has:Observation:patient:combo-code',
      'a',
      'patient of Observation ((code = "a") or (component-code = "a")) -> this',
    ],
  ])('%s=%s is asked of these', (name, value, expected) => {
    expect(printed(name, value)).toBe(expected);
  });

  it('are asked for the words of all together: of two, one may be in `code` and the other in a component', () => {
    expect(parse('Observation?combo-code:text-advanced', 'blood not systolic')).toEqual({
      ...(parse('Observation?code:text-advanced', 'blood not systolic') as object),
      param: 'combo-code',
      unionOf: ['code', 'component-code'],
    });
    expect(printed('Patient?_has:Observation:patient:combo-code:text', 'a')).toMatch(
      /^patient of Observation \(?combo-code /,
    );
    const finds = (text: string, ...components: readonly string[]): boolean => {
      const condition = parse('Observation?combo-code:text-advanced', text) as Condition;
      const component = components.map((each) => ({ code: { text: each } }));
      const resource = { resourceType: 'Observation', code: { text: 'blood pressure' }, component };
      return matches(condition, { id: 'a', lastUpdated: 0, entries: createExtractor(tables)(resource) });
    };
    expect(finds('blood and systolic', 'systolic reading')).toBe(true);
    expect(finds('blood and systolic', 'diastolic reading')).toBe(false);
    expect(finds('blood not systolic', 'diastolic reading')).toBe(true);
    expect(finds('blood not systolic', 'diastolic reading', 'systolic reading')).toBe(false);
    expect(finds('"pressure systolic"', 'systolic reading')).toBe(false);
  });

  it('are stale, to sort by too, where those are', () => {
    const input = (name: string, value: string) =>
      ({ type: 'Observation', params: [{ name, value, isInUrl: true }], isLenient: false, isPosted: false, now: 0, base: '' }) as const; // prettier-ignore
    const used = (name: string, value: string): string[] =>
      readSearchRequest(input(name, value), { ...DEFAULT_SERVICES, tables }).used.map(({ code }) => code);
    expect(used('_sort', '-combo-value-quantity')).toEqual(['component-value-quantity', 'value-quantity']);
    expect(used('combo-code:text', 'a')).toEqual(['code', 'component-code', '_content']);
    expect(used('combo-code', 'a')).toEqual(['code', 'component-code']);
  });

  it('say of faults what they are called themselves', () => {
    expect(() => parse('Observation?combo-value-quantity', 'gtx')).toThrow(/"combo-value-quantity"/);
    expect(() => parse('Observation?combo-code:exact', 'x')).toThrow(/combo-code:exact/);
  });

  it('ask composites of the parameters of their own parts', () => {
    const condition = parse('Observation?combo-code-value-quantity', `${LOINC}|8480-6$gt140`);
    expect(printCondition(condition as never)).toMatch(
      /^\(code-value-quantity .*\) or \(component-code-value-quantity .*\)$/,
    );
    expect(condition).toMatchObject({
      some: [
        { param: 'code-value-quantity', coveredBy: [{ param: 'code' }, { param: 'value-quantity' }] },
        {
          param: 'component-code-value-quantity',
          coveredBy: [{ param: 'component-code' }, { param: 'component-value-quantity' }],
        },
      ],
    });
  });

  it('have no entries of their own, and are sorted by those of the others', () => {
    const [code, other] = ['8480-6', '8462-4'].map((each) => ({ coding: [{ system: LOINC, code: each }] }));
    const valueQuantity = { value: 1, unit: 'x' };
    const entries = createExtractor(tables)({
      resourceType: 'Observation',
      code: { ...code, text: 'pressure' },
      valueQuantity,
      component: [{ code: other, valueQuantity }],
    });
    expect(entries.filter(({ param }) => param.startsWith('combo-'))).toEqual([]);
    const rows = definitions.rowsOf('Observation');
    const key = parseSortKey('-combo-code', rows);
    expect(key).toEqual({ param: 'combo-code', by: 'token', isDescending: true, unionOf: ['code', 'component-code'] });
    expect(sortValue(key, { id: 'a', lastUpdated: 0, entries })).toEqual(['8480-6']);
    expect(parseSortKey('code', rows)).not.toHaveProperty('unionOf');
  });
});

describe('which parameters a union is of', () => {
  const path = (names: readonly string[], more = {}) => ({ text: names.join('.'), steps: names.map((get) => ({ get })), types: ['Coding'], ...more }); // prettier-ignore
  const parameter = (code: string, ...paths: SearchParameterModel['paths']): SearchParameterModel => ({ id: code, code, type: 'token', url: code, description: '', paths }); // prettier-ignore
  const union = parameter('any', path(['a']), path(['b']), path(['c']));
  const unionOf = (...others: readonly SearchParameterModel[]) =>
    findUnions([union, ...others], (code) => (code === 'common' ? 2 : 1))[0]!.unionOf;

  it('is of all that have some of its paths and no other', () => {
    expect(unionOf(parameter('a', path(['a'])), parameter('bc', path(['c']), path(['b'])))).toEqual(['a', 'bc']);
  });

  it('is of one that has the same and more types have, or else of the first', () => {
    const same = (code: string) => parameter(code, path(['c']), path(['a']), path(['b']));
    expect(unionOf(same('z'))).toBeUndefined();
    expect(unionOf(same('z'), same('common'))).toEqual(['common']);
    const found = findUnions([union, same('z'), parameter('a', path(['a']))], () => 1);
    expect(found.map((each) => each.unionOf)).toEqual([undefined, ['any'], undefined]);
  });

  it.each([
    ['a path is missing', [parameter('a', path(['a'])), parameter('b', path(['b']))]],
    ['another has one more', [parameter('a', path(['a'])), parameter('bc', path(['b']), path(['c']), path(['d']))]],
    [
      'another has a system',
      [parameter('ab', path(['a']), path(['b'])), parameter('c', path(['c'], { system: 'urn:s' }))],
    ],
    [
      'another is of another type',
      [parameter('ab', path(['a']), path(['b'])), { ...parameter('c', path(['c'])), type: 'string' as const }],
    ],
  ])('is of none where %s', (_what, others) => {
    expect(unionOf(...others)).toBeUndefined();
  });
});
