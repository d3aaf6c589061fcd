import { describe, expect, it } from 'vitest';
import type { PathRow, PathStep } from '../../../runtime/contract/search.js';
import { Decimal } from '../../../runtime/fhir/decimal.js';
import { compilePath } from '../../../runtime/path/compile-path.js';
import { processorTime } from '../../processor-time.js';

function reached(steps: readonly PathStep[], root: object, types: readonly string[] = ['string']): [unknown, string][] {
  const row: PathRow = { text: '', steps, types };
  const found: [unknown, string][] = [];
  compilePath(row)(root, (value, type) => found.push([value, type]));
  return found;
}

function values(steps: readonly PathStep[], root: object): unknown[] {
  return reached(steps, root).map(([value]) => value);
}

const name = [{ family: 'Chalmers', given: ['Peter', 'James'] }, { given: ['Jim'] }, {}];

describe('get', () => {
  it('flattens arrays at every step, in order', () => {
    expect(values([{ get: 'name' }, { get: 'given' }], { name })).toEqual(['Peter', 'James', 'Jim']);
  });
  it('reaches nothing through what is absent, null, or not an object', () => {
    for (const odd of [undefined, null, 'text', 5, true, [], [null], [[]]]) {
      expect(values([{ get: 'name' }, { get: 'given' }], { name: odd })).toEqual([]);
    }
  });
  it('never reads a property of text: the element `length` is no string length', () => {
    expect(values([{ get: 'note' }, { get: 'length' }], { note: 'abc' })).toEqual([]);
  });
  it('has no value for a primitive with nothing but extensions', () => {
    expect(values([{ get: 'birthDate' }], { _birthDate: { extension: [{ url: 'x' }] } })).toEqual([]);
    expect(values([{ get: 'given' }], { given: [null, 'b'], _given: [{ id: 'a' }, null] })).toEqual(['b']);
  });
  it('hands on Decimals as they are', () => {
    expect(values([{ get: 'value' }], { value: new Decimal('1.0') })).toEqual([new Decimal('1.0')]);
  });
  it('with no steps is the resource itself', () => {
    const root = { resourceType: 'Observation' };
    expect(reached([], root, ['Observation'])).toEqual([[root, 'Observation']]);
  });
});

describe('choose', () => {
  const value: PathStep = { choose: { valueQuantity: 'Quantity', valueString: 'string' } };
  it('gives the value and the type of its JSON name', () => {
    expect(reached([value], { valueString: 'x' }, ['Quantity', 'string'])).toEqual([['x', 'string']]);
    expect(reached([value], { valueQuantity: { value: 1 } }, [])).toEqual([[{ value: 1 }, 'Quantity']]);
  });
  it('loses the type at the next child and keeps it through a filter', () => {
    const root = { valueQuantity: { unit: 'g' } };
    expect(reached([value, { get: 'unit' }], root)).toEqual([['g', 'string']]);
    expect(reached([value, { where: [{ get: 'unit' }] }], root, [])).toEqual([[root.valueQuantity, 'Quantity']]);
  });
});

describe('where', () => {
  const phones: PathStep = { where: [{ get: 'system' }], equals: 'phone' };
  it('keeps what equals the one value reached', () => {
    const telecom = [{ system: 'phone', value: '1' }, { system: 'email' }, { value: '2' }, null, 'phone'];
    expect(values([{ get: 'telecom' }, phones], { telecom })).toEqual([telecom[0]]);
  });
  it('drops what reaches several values, though one is equal: collections of different size are not equal', () => {
    expect(values([{ get: 'a' }, phones], { a: { system: ['phone', 'phone'] } })).toEqual([]);
  });
  it('compares with a boolean', () => {
    const steps: PathStep[] = [{ get: 'a' }, { where: [{ get: 'active' }], equals: true }];
    expect(values(steps, { a: [{ active: true }, { active: false }, { active: 'true' }] })).toEqual([{ active: true }]);
  });
  it('without equals is exists(), and counts a primitive that has only extensions', () => {
    const steps: PathStep[] = [{ get: 'a' }, { where: [{ get: 'b' }] }];
    const a = [{ b: 'x' }, {}, { _b: { extension: [{ url: 'x' }] } }, { b: [] }, { b: null }];
    expect(values(steps, { a })).toEqual([a[0], a[2]]);
  });
  it('exists() of an extension', () => {
    const steps: PathStep[] = [{ get: 'item' }, { where: [{ extension: 'http://x' }] }, { get: 'linkId' }];
    const item = [
      { linkId: '1', extension: [{ url: 'http://x', valueBoolean: true }] },
      { linkId: '2', extension: [{ url: 'http://y' }] },
    ];
    expect(values(steps, { item })).toEqual(['1']);
  });
});

describe('refers: where(resolve() is T)', () => {
  const steps: PathStep[] = [{ get: 'subject' }, { refers: 'Patient' }];
  const keeps = (subject: unknown, rest: object = {}): boolean => values(steps, { subject, ...rest }).length > 0;
  it.each([
    'Patient/1',
    'Patient/1/_history/2',
    'http://example.org/fhir/Patient/1',
    'https://example.org/Patient/a.b-c/_history/3',
  ])('%s tells', (reference) => {
    expect(keeps({ reference })).toBe(true);
    expect(keeps({ reference: reference.replace('Patient', 'Group') })).toBe(false);
  });
  it('believes the text more than Reference.type', () => {
    expect(keeps({ reference: 'Group/1', type: 'Patient' })).toBe(false);
  });
  it.each([undefined, 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520', 'http://example.org/x', 'Patient?name=x'])(
    'asks Reference.type where the text (%s) does not tell',
    (reference) => {
      expect(keeps({ reference, type: 'Patient' })).toBe(true);
      expect(keeps({ reference, type: 'http://hl7.org/fhir/StructureDefinition/Patient' })).toBe(true);
      expect(keeps({ reference, type: 'Group' })).toBe(false);
      expect(keeps({ reference })).toBe(false);
    },
  );
  it('#id is the contained resource, # the root', () => {
    const contained = [{ resourceType: 'Patient', id: 'p' }, { resourceType: 'Group', id: 'g' }, null, 7];
    expect(keeps({ reference: '#p' }, { contained })).toBe(true);
    expect(keeps({ reference: '#g' }, { contained })).toBe(false);
    expect(keeps({ reference: '#nowhere' }, { contained })).toBe(false);
    expect(keeps({ reference: '#' }, { resourceType: 'Patient' })).toBe(true);
    expect(keeps({ reference: '#' }, { resourceType: 'Group' })).toBe(false);
  });
  it('takes bare text, too (canonicals, URIs)', () => {
    expect(keeps('http://example.org/Patient/1')).toBe(true);
  });
});

describe('is', () => {
  it('keeps resources of the type and tells it', () => {
    const entry = [{ resource: { resourceType: 'Composition' } }, { resource: { resourceType: 'Patient' } }];
    const steps: PathStep[] = [{ get: 'entry' }, { get: 'resource' }, { is: 'Composition' }];
    expect(reached(steps, { entry }, ['Resource'])).toEqual([[{ resourceType: 'Composition' }, 'Composition']]);
  });
});

describe('extension', () => {
  it('finds those of a primitive beside it', () => {
    const steps: PathStep[] = [{ get: 'birthDate' }, { extension: 'u' }, { choose: { valueDateTime: 'dateTime' } }];
    const root = {
      birthDate: '2020-01-01',
      _birthDate: { extension: [{ url: 'u', valueDateTime: '2020-01-01T10:00Z' }] },
    };
    expect(reached(steps, root)).toEqual([['2020-01-01T10:00Z', 'dateTime']]);
  });
  it('of the resource', () => {
    const steps: PathStep[] = [{ extension: 'u' }, { choose: { valueString: 'string' } }];
    expect(
      values(steps, {
        extension: [
          { url: 'u', valueString: 'a' },
          { url: 'v', valueString: 'b' },
        ],
      }),
    ).toEqual(['a']);
  });
});

describe('index', () => {
  it('counts over all values found so far', () => {
    expect(values([{ get: 'name' }, { get: 'given' }, { index: 2 }], { name })).toEqual(['Jim']);
    expect(values([{ get: 'name' }, { index: 1 }, { get: 'given' }], { name })).toEqual(['Jim']);
    expect(values([{ get: 'name' }, { index: 9 }], { name })).toEqual([]);
  });
  it('counts a primitive without value', () => {
    const root = { given: [null, 'b'], _given: [{ id: 'x' }, null] };
    expect(values([{ get: 'given' }, { index: 0 }], root)).toEqual([]);
    expect(values([{ get: 'given' }, { index: 1 }], root)).toEqual(['b']);
  });
  it('keeps the type that a choice told', () => {
    const steps: PathStep[] = [{ choose: { valueQuantity: 'Quantity', valueString: 'string' } }, { index: 0 }];
    expect(reached(steps, { valueQuantity: 1 }, [])).toEqual([[1, 'Quantity']]);
  });
});

describe('union', () => {
  it('goes way by way and drops equal values', () => {
    const steps: PathStep[] = [{ union: [[{ get: 'a' }], [{ get: 'b' }, { get: 'c' }]] }];
    expect(values(steps, { a: [{ x: 1, y: 2 }, 2], b: { c: [{ y: 2, x: 1 }, 3, 3] } })).toEqual([{ x: 1, y: 2 }, 2, 3]);
  });
  it('before a position', () => {
    const steps: PathStep[] = [{ union: [[{ get: 'a' }], [{ get: 'b' }]] }, { get: 'start' }, { index: 0 }];
    expect(values(steps, { b: [{ start: '1' }, { start: '2' }] })).toEqual(['1']);
  });
});

describe('notFalse: x.exists() and x != false', () => {
  const steps: PathStep[] = [
    { choose: { deceasedBoolean: 'boolean', deceasedDateTime: 'dateTime' } },
    { notFalse: true },
  ];
  it.each<[object, boolean]>([
    [{}, false],
    [{ deceasedBoolean: false }, false],
    [{ deceasedBoolean: true }, true],
    [{ deceasedDateTime: '2015' }, true],
    [{ _deceasedBoolean: { extension: [{ url: 'x' }] } }, true],
  ])('%j is %s', (root, expected) => {
    expect(reached(steps, root)).toEqual([[expected, 'boolean']]);
  });
});

describe('what took a time that grew with the square of the resource', () => {
  /** Milliseconds for `count`: the best of three. */
  const time = (count: number, make: (count: number) => object, steps: readonly PathStep[]): number => {
    const root = make(count);
    return Math.min(
      ...[1, 2, 3].map(() => {
        const took = processorTime();
        reached(steps, root);
        return took();
      }),
    );
  };

  it.each<[string, (count: number) => object, readonly PathStep[]]>([
    [
      'a union of many different values',
      (count) => ({ all: Array.from({ length: count }, (_, i) => ({ start: `${i}` })) }),
      [{ union: [[{ get: 'first' }], [{ get: 'all' }, { get: 'start' }]] }, { index: 0 }],
    ],
    [
      'a union of many different objects',
      (count) => ({ all: Array.from({ length: count }, (_, i) => ({ start: `${i}` })) }),
      [{ union: [[{ get: 'all' }]] }],
    ],
    [
      'many references to many contained resources',
      (count) => ({
        contained: Array.from({ length: count }, (_, i) => ({ resourceType: 'Patient', id: `c${i}` })),
        all: Array.from({ length: count }, (_, i) => ({ reference: `#c${i}` })),
      }),
      [{ get: 'all' }, { refers: 'Patient' }],
    ],
  ])('%s', (_name, make, steps) => {
    // Each with each would be 100,000,000 comparisons, seconds.
    expect(time(10_000, make, steps)).toBeLessThan(300);
  });
});

describe('union', () => {
  it('keeps the first of equal values: numbers by value, objects whatever the order of their properties', () => {
    const all = [
      1,
      new Decimal('1.0'),
      '1',
      { a: 1, b: [2] },
      { b: [2], a: new Decimal('1.00') },
      { a: 1 },
      [1],
      true,
      'true',
    ];
    const found = values([{ union: [[{ get: 'all' }], [{ get: 'all' }]] }], { all: all.map((x) => [x]).flat() });
    expect(found).toEqual([1, '1', { a: 1, b: [2] }, { a: 1 }, [1], true, 'true']);
  });

  it('of two contained resources with one id the first counts', () => {
    const contained = [{ resourceType: 'Patient', id: 'x' }, { resourceType: 'Group', id: 'x' }, null, 5];
    const steps: PathStep[] = [{ get: 'subject' }, { refers: 'Patient' }];
    expect(values(steps, { contained, subject: { reference: '#x' } })).toHaveLength(1);
  });
});
