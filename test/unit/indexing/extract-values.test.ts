import { describe, expect, it } from 'vitest';
import type { PathRow, SearchRow, SearchType } from '../../../runtime/contract/search.js';
import { Decimal } from '../../../runtime/fhir/decimal.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { createValueExtractor, type ExtractorTables } from '../../../runtime/indexing/extract.js';

/** Tables with one type, `Thing`, and one parameter, `p`, that reads its element `value`. */
function tablesWith(search: SearchType, type: string, system?: string): ExtractorTables {
  const path: PathRow = { text: 'Thing.value', steps: [{ get: 'value' }], types: [type], ...(system && { system }) };
  return {
    resourceTypes: ['Thing', 'Patient'],
    types: [{ name: 'Age', kind: 'datatype', base: 'Quantity', elements: [] }],
    primitives: [
      { name: 'string', json: 'string' },
      { name: 'code', base: 'string', json: 'string' },
      { name: 'markdown', base: 'string', json: 'string' },
      { name: 'uri', json: 'string' },
      { name: 'canonical', base: 'uri', json: 'string' },
      { name: 'positiveInt', base: 'integer', json: 'number' },
    ],
    search: [{ type: 'Thing', parameters: [{ code: 'p', type: search, url: '', paths: [path] }] }],
  };
}

/** Entries of one value, without what they have in common. */
function entriesOf(search: SearchType, type: string, value: unknown, system?: string): object[] {
  return createValueExtractor(tablesWith(search, type, system))({ resourceType: 'Thing', value }).map(
    (entry: IndexEntry) => {
      const { kind, param, ...rest } = entry;
      expect([kind, param]).toEqual([search, 'p']);
      return rest;
    },
  );
}

const coding = { system: 'http://s', code: 'c', display: 'Sea' };
const concept = { coding: [coding, { code: 'd' }, { display: 'no code' }, { system: 'http://t' }], text: 'Text' };

describe('token (https://hl7.org/fhir/R5/search.html#token)', () => {
  it.each<[string, unknown, object[]]>([
    ['string', 'a', [{ code: 'a' }]],
    ['string', '', []],
    ['markdown', 'a', [{ code: 'a' }]],
    ['uri', 'http://a', [{ code: 'http://a' }]],
    ['canonical', 'http://a|1', [{ code: 'http://a|1' }]],
    ['boolean', false, [{ code: 'false' }]],
    ['positiveInt', 5, [{ code: '5' }]],
    ['decimal', new Decimal('1.0'), [{ code: '1.0' }]],
    ['code', 'a', [{ code: 'a' }]],
    ['Coding', coding, [{ system: 'http://s', code: 'c' }]],
    ['CodeableConcept', concept, [{ system: 'http://s', code: 'c' }, { code: 'd' }, { system: 'http://t' }]],
    [
      'CodeableReference',
      { concept: { coding: [coding] }, reference: { reference: 'Patient/1' } },
      [{ system: 'http://s', code: 'c' }],
    ],
    ['CodeableReference', { reference: { reference: 'Patient/1' } }, []],
    ['Identifier', { system: 'urn:x', value: '1' }, [{ system: 'urn:x', code: '1' }]],
    ['Identifier', { value: '1' }, [{ code: '1' }]],
    ['Identifier', { system: 'urn:x' }, [{ system: 'urn:x' }]],
    [
      'Identifier',
      { value: '1', type: { coding: [coding, { code: 'd' }, { display: 'x' }] } },
      [{ code: '1', ofType: [{ system: 'http://s', code: 'c' }, { code: 'd' }] }],
    ],
    ['Identifier', { system: 'urn:x', value: '1', type: { text: 'x' } }, [{ system: 'urn:x', code: '1' }]],
    ['ContactPoint', { system: 'phone', value: '555' }, [{ code: '555' }]],
    ['ContactPoint', { system: 'phone' }, []],
    ['Period', { start: '2015' }, []],
  ])('%s %j', (type, value, expected) => {
    expect(entriesOf('token', type, value)).toEqual(expected);
  });
  it('a code has the system of its binding', () => {
    expect(entriesOf('token', 'code', 'male', 'http://g')).toEqual([{ system: 'http://g', code: 'male' }]);
  });
  it('a Coding has its own, or none', () => {
    expect(entriesOf('token', 'Coding', { code: 'c' }, 'http://g')).toEqual([{ code: 'c' }]);
  });
});

describe('string (https://hl7.org/fhir/R5/search.html#string)', () => {
  const folded = (type: string, value: unknown): unknown[] =>
    entriesOf('string', type, value).map((entry) => (entry as { folded: string }).folded);
  it('keeps the text beside its folded form', () => {
    expect(entriesOf('string', 'string', 'Van  Dér')).toEqual([{ text: 'Van  Dér', folded: 'van der' }]);
  });
  it.each<[string, unknown, string[]]>([
    ['string', '\u00a0', []],
    ['markdown', '*A*', ['a']],
    ['uri', 'HTTP://a', ['httpa']],
    [
      'HumanName',
      { use: 'official', text: 'T', family: 'F', given: ['G', null, 'H'], prefix: ['P'], suffix: ['S'] },
      ['t', 'f', 'g', 'h', 'p', 's'],
    ],
    [
      'Address',
      { use: 'home', text: 'T', line: ['L', 'M'], city: 'C', district: 'D', state: 'S', postalCode: 'P', country: 'N' },
      ['t', 'l', 'm', 'c', 'd', 's', 'p', 'n'],
    ],
    ['CodeableConcept', concept, ['text', 'sea', 'no code']],
    ['CodeableReference', { concept }, ['text', 'sea', 'no code']],
    ['ContactPoint', { value: 'A@B' }, ['ab']],
    ['Quantity', { value: 5, unit: 'g' }, []],
  ])('%s %j', (type, value, expected) => {
    expect(folded(type, value)).toEqual(expected);
  });
});

describe('reference (https://hl7.org/fhir/R5/search.html#reference)', () => {
  it.each<[string, unknown, object[]]>([
    ['Reference', { reference: 'Patient/1' }, [{ type: 'Patient', id: '1' }]],
    ['Reference', { reference: 'Patient/1/_history/2' }, [{ type: 'Patient', id: '1', version: '2' }]],
    ['Reference', { reference: 'http://b/fhir/Patient/1' }, [{ type: 'Patient', id: '1', base: 'http://b/fhir' }]],
    ['Reference', { reference: 'urn:uuid:1' }, [{ url: 'urn:uuid:1' }]],
    ['Reference', { reference: 'urn:uuid:1', type: 'Patient' }, [{ url: 'urn:uuid:1', type: 'Patient' }]],
    ['Reference', { reference: 'http://b/Unheard/1' }, [{ url: 'http://b/Unheard/1' }]],
    ['Reference', { reference: '#p' }, []],
    ['Reference', { reference: '#' }, []],
    ['Reference', { display: 'Eve' }, []],
    [
      'Reference',
      { identifier: { system: 'urn:x', value: '1' }, type: 'Patient' },
      [{ type: 'Patient', identifier: { system: 'urn:x', value: '1' } }],
    ],
    ['Reference', { identifier: { value: '1' }, type: 'Unheard' }, [{ identifier: { value: '1' } }]],
    ['Reference', { identifier: { system: 'urn:x' } }, []],
    [
      'Reference',
      { reference: 'Patient/1', identifier: { value: '1' } },
      [{ type: 'Patient', id: '1', identifier: { value: '1' } }],
    ],
    ['Reference', { reference: '#p', identifier: { value: '1' } }, [{ identifier: { value: '1' } }]],
    ['CodeableReference', { reference: { reference: 'Patient/1' } }, [{ type: 'Patient', id: '1' }]],
    ['CodeableReference', { concept }, []],
    ['canonical', 'http://a/ValueSet/v|1.0#part', [{ url: 'http://a/ValueSet/v', version: '1.0', fragment: 'part' }]],
    ['canonical', 'http://a/Patient/1', [{ url: 'http://a/Patient/1' }]],
    ['canonical', 'Patient/1', [{ type: 'Patient', id: '1' }]],
    ['canonical', '#p', []],
    ['uri', 'urn:oid:1.2', [{ url: 'urn:oid:1.2' }]],
    ['id', 'abc', []],
    ['string', 'Patient/1', [{ type: 'Patient', id: '1' }]],
    ['Resource', { resourceType: 'Patient', id: '1' }, [{ type: 'Patient', id: '1' }]],
    ['Resource', { resourceType: 'Patient' }, []],
  ])('%s %j', (type, value, expected) => {
    expect(entriesOf('reference', type, value)).toEqual(expected);
  });
});

describe('references to contained resources (https://hl7.org/fhir/R5/search.html#contained)', () => {
  const local = { kind: 'reference', param: 'p#', fragment: 'c' };
  it.each<[string, unknown, object[]]>([
    ['Reference', { reference: '#c' }, [local]],
    ['Reference', { reference: '#c', identifier: { value: '1' } }, [local, { kind: 'reference', param: 'p', identifier: { value: '1' } }]], // prettier-ignore
    ['CodeableReference', { reference: { reference: '#c' } }, [local]],
    ['canonical', '#c', [local]],
    ['string', '#c', [local]],
    ['Reference', { reference: '#' }, []],
    ['Reference', { reference: '#other' }, []],
    // Once, however often it is named.
    ['Reference', [{ reference: '#c' }, { reference: '#c' }], [local]],
  ])('%s %j', (type, value, expected) => {
    const extract = createValueExtractor(tablesWith('reference', type));
    expect(extract({ resourceType: 'Thing', value, contained: [{ resourceType: 'Thing', id: 'c' }] })).toEqual(
      expected,
    );
  });
});

describe('date (https://hl7.org/fhir/R5/search.html#date)', () => {
  const t = Date.parse;
  it.each<[string, unknown, object[]]>([
    ['date', '2015', [{ low: t('2015-01-01T00:00:00Z'), high: t('2016-01-01T00:00:00Z') - 1 }]],
    [
      'dateTime',
      '2015-02-07T10:00:00+01:00',
      [{ low: t('2015-02-07T09:00:00Z'), high: t('2015-02-07T09:00:00Z') + 999 }],
    ],
    [
      'instant',
      '2015-02-07T10:00:00.123Z',
      [{ low: t('2015-02-07T10:00:00.123Z'), high: t('2015-02-07T10:00:00.123Z') }],
    ],
    ['date', 'soon', []],
    [
      'Period',
      { start: '2015', end: '2015' },
      [{ low: t('2015-01-01T00:00:00Z'), high: t('2016-01-01T00:00:00Z') - 1 }],
    ],
    ['Period', { start: '2015' }, [{ low: t('2015-01-01T00:00:00Z') }]],
    ['Period', { end: '2015' }, [{ high: t('2016-01-01T00:00:00Z') - 1 }]],
    [
      'Period',
      { start: '2016', end: '2015' },
      [{ low: t('2015-01-01T00:00:00Z'), high: t('2017-01-01T00:00:00Z') - 1 }],
    ],
    ['Period', { start: 'soon', end: '2015' }, []],
    ['Period', { start: '2015', end: 'later' }, []],
    ['Period', {}, []],
    [
      'Timing',
      { event: ['2015-02-02', 'soon', '2015-02-01'] },
      [{ low: t('2015-02-01T00:00:00Z'), high: t('2015-02-03T00:00:00Z') - 1 }],
    ],
    [
      'Timing',
      { event: ['2015-02-02'], repeat: { boundsPeriod: { start: '2015-01-01' } } },
      [{ low: t('2015-01-01T00:00:00Z') }],
    ],
    ['Timing', { repeat: { boundsDuration: { value: 3 }, frequency: 1 } }, []],
  ])('%s %j', (type, value, expected) => {
    expect(entriesOf('date', type, value)).toEqual(expected);
  });
  it('reads a date without an offset in the configured zone', () => {
    const extract = createValueExtractor(tablesWith('date', 'date'), { zone: 'America/New_York' });
    expect(extract({ resourceType: 'Thing', value: '2015-07-01' })).toEqual([
      { kind: 'date', param: 'p', low: t('2015-07-01T04:00:00Z'), high: t('2015-07-02T04:00:00Z') - 1 },
    ]);
  });
});

describe('number (https://hl7.org/fhir/R5/search.html#number)', () => {
  it.each<[string, unknown, object[]]>([
    ['decimal', 0.8, [{ value: 0.8 }]],
    ['decimal', new Decimal('0.80'), [{ value: 0.8 }]],
    ['decimal', new Decimal('1e999'), []],
    ['positiveInt', 5, [{ value: 5 }]],
    ['integer64', '9007199254740993', [{ value: 9007199254740992 }]],
    ['decimal', 'five', []],
  ])('%s %s', (type, value, expected) => {
    expect(entriesOf('number', type, value)).toEqual(expected);
  });
});

describe('quantity (https://hl7.org/fhir/R5/search.html#quantity)', () => {
  const ucum = 'http://unitsofmeasure.org';
  const mg = { system: ucum, code: 'mg', unit: 'milligram' };
  /** Ends in milligrams, and the same in grams. */
  const inMg = (ends: { value: number; low?: number; high?: number }): object => ({
    ...ends,
    ...mg,
    canonical: { unit: 'g', ...Object.fromEntries(Object.entries(ends).map(([name, end]) => [name, end / 1000])) },
  });
  it.each<[string, unknown, object[]]>([
    ['Quantity', { value: 5, ...mg }, [inMg({ value: 5 })]],
    ['Age', { value: 5, unit: 'a' }, [{ value: 5, code: 'a', unit: 'a' }]],
    ['Quantity', { value: new Decimal('5.40') }, [{ value: 5.4 }]],
    ['Quantity', { ...mg }, []],
    [
      'Quantity',
      { value: 4, comparator: '<', ...mg },
      [{ ...inMg({ value: 4 }), high: 4 - 2 ** -51, canonical: { unit: 'g', value: 0.004, high: 0.004 - 2 ** -60 } }],
    ],
    ['Quantity', { value: 4, comparator: '>' }, [{ value: 4, low: 4 + 2 ** -50 }]],
    ['Quantity', { value: 0, comparator: '<' }, [{ value: 0, high: -Number.MIN_VALUE }]],
    ['Quantity', { value: -4, comparator: '>' }, [{ value: -4, low: -4 + 2 ** -51 }]],
    ['Quantity', { value: 5, comparator: '<=', ...mg }, [inMg({ value: 5, high: 5 })]],
    ['Quantity', { value: 5, comparator: '>=' }, [{ value: 5, low: 5 }]],
    ['Quantity', { value: 5, comparator: 'ad' }, [{ value: 5 }]],
    ['Money', { value: 5, currency: 'EUR' }, [{ value: 5, system: 'urn:iso:std:iso:4217', code: 'EUR' }]],
    ['Range', { low: { value: 1, ...mg }, high: { value: 2, ...mg } }, [inMg({ value: 1, low: 1, high: 2 })]],
    ['Range', { low: { value: 1, ...mg } }, [inMg({ value: 1, low: 1 })]],
    ['Range', { high: { value: 2, ...mg } }, [inMg({ value: 2, high: 2 })]],
    ['Range', { low: { value: 2, ...mg }, high: { value: 1, ...mg } }, [inMg({ value: 1, low: 1, high: 2 })]],
    [
      'Range',
      { low: { value: 1, code: 'g' }, high: { value: 2, code: 'kg' } },
      [
        { value: 1, code: 'g' },
        { value: 2, code: 'kg' },
      ],
    ],
    ['Range', {}, []],
    [
      'SampledData',
      { origin: { value: 10, ...mg }, factor: 2, data: '1 -3 E 4 x', dimensions: 1 },
      [inMg({ value: 4, low: 4, high: 18 })],
    ],
    [
      'SampledData',
      { origin: { value: 0 }, upperLimit: 9, lowerLimit: new Decimal('-1.0'), data: 'U L 3' },
      [{ value: -1, low: -1, high: 9 }],
    ],
    ['SampledData', { origin: { value: 0 }, data: 'E E' }, []],
  ])('%s %j', (type, value, expected) => {
    expect(entriesOf('quantity', type, value)).toEqual(expected);
  });
});

describe('uri (https://hl7.org/fhir/R5/search.html#uri)', () => {
  it('is the text as it stands', () => {
    expect(entriesOf('uri', 'uri', 'http://A/b')).toEqual([{ value: 'http://A/b' }]);
    expect(entriesOf('uri', 'canonical', 'http://A/b|1')).toEqual([{ value: 'http://A/b|1' }]);
    expect(entriesOf('uri', 'uri', '')).toEqual([]);
  });
});

describe('special', () => {
  it('gives no entry', () => {
    expect(entriesOf('special', 'string', 'x')).toEqual([]);
  });
});

describe('parameters of a type', () => {
  const row = (code: string, path: string, type: string, search: SearchType = 'token'): SearchRow => {
    const steps = path === '' ? [] : path.split('.').map((get) => ({ get }));
    return { code, type: search, url: '', paths: [{ text: path, steps, types: [type] }] };
  };
  const tables: ExtractorTables = {
    ...tablesWith('token', 'code'),
    search: [
      { type: 'Resource', parameters: [row('_id', 'id', 'id'), row('over', 'id', 'string')] },
      { type: 'Domain', base: 'Resource', parameters: [row('_lang', 'language', 'code')] },
      {
        type: 'Thing',
        base: 'Domain',
        parameters: [
          row('over', 'status', 'code'),
          {
            ...row('pair', 'part', 'Thing.part', 'composite'),
            components: [
              { code: 'code', type: 'token', paths: row('', 'code', 'CodeableConcept').paths },
              { code: 'value', type: 'quantity', paths: row('', 'value', 'Quantity').paths },
            ],
          },
        ],
      },
    ],
  };
  const extract = createValueExtractor({
    ...tables,
    primitives: [...tables.primitives, { name: 'id', base: 'string', json: 'string' }],
  });

  it('come from its base tables, too, unless it has one of the same code', () => {
    expect(extract({ resourceType: 'Thing', id: '1', language: 'de', status: 'on' })).toEqual(
      expect.arrayContaining([
        { kind: 'token', param: '_id', code: '1' },
        { kind: 'token', param: '_lang', code: 'de' },
        { kind: 'token', param: 'over', code: 'on' },
      ]),
    );
  });
  it('are none for an unknown or missing type', () => {
    expect(extract({ resourceType: 'Unheard', id: '1' })).toEqual([]);
    expect(extract({})).toEqual([]);
  });
  it('composite: the entries of its components from one element, if each has any (search.html#composite)', () => {
    const part = [
      { code: { coding: [{ code: 'a' }, { code: 'b' }] }, value: { value: 1 } },
      { code: { coding: [{ code: 'c' }] } },
      { code: { coding: [{ code: 'd' }] }, value: { value: 2 } },
    ];
    expect(extract({ resourceType: 'Thing', part })).toEqual([
      {
        kind: 'composite',
        param: 'pair',
        parts: [
          [
            { kind: 'token', param: 'code', code: 'a' },
            { kind: 'token', param: 'code', code: 'b' },
          ],
          [{ kind: 'quantity', param: 'value', value: 1 }],
        ],
      },
      {
        kind: 'composite',
        param: 'pair',
        parts: [[{ kind: 'token', param: 'code', code: 'd' }], [{ kind: 'quantity', param: 'value', value: 2 }]],
      },
    ]);
  });
});
