import { describe, expect, it } from 'vitest';

import { canonicalUnit, toCanonical } from '../../../runtime/fhir/ucum/canonical.js';
import { check, made } from './made.js';

type Content = Record<string, unknown>;

const UCUM = 'http://unitsofmeasure.org';
const quantity = (value: number, code = 'g', comparator?: string): Content => ({
  ...{ value, system: UCUM, code },
  ...(comparator !== undefined && { comparator }),
});

/** Keys and places of what a profile with this element finds. */
async function found(path: string, element: Content, content: Content, more: Content = {}): Promise<string[]> {
  const [type = ''] = path.split('.');
  return check({ resourceType: type, ...content }, [made('limits', type, [{ path, ...element }])], more);
}

describe('maxLength', () => {
  const of = (family: string) => found('Patient.name.family', { maxLength: 3 }, { name: [{ family }] });
  it('counts characters, not code units', async () => {
    expect(await of('abc')).toEqual([]);
    expect(await of('𝒳𝒳𝒳')).toEqual([]);
    expect(await of('abcd')).toEqual(['error maxLength Patient.name[0].family']);
  });
});

describe('mustHaveValue', () => {
  const absent = { extension: [{ url: 'http://x.org/absent', valueCode: 'unknown' }] };
  it('admits no extension in place of the value', async () => {
    const of = (content: Content) => found('Patient.birthDate', { mustHaveValue: true }, content);
    expect(await of({})).toEqual([]);
    expect(await of({ birthDate: '2000', _birthDate: absent })).toEqual(['information extension Patient.birthDate.extension[0]']); // prettier-ignore
    expect(await of({ _birthDate: absent })).toContain('error mustHaveValue Patient.birthDate');
  });
});

describe('minValue and maxValue', () => {
  const broken = (key: string, path: string): string[] => [`error ${key} ${path}`];

  it('bound numbers, both ends included', async () => {
    const limits = { minValueInteger: 2, maxValueInteger: 4 };
    const of = (valueInteger: number) => found('Observation.value[x]', { type: [{ code: 'integer' }], ...limits }, { valueInteger }); // prettier-ignore
    for (const right of [2, 3, 4]) expect(await of(right)).toEqual([]);
    expect(await of(1)).toEqual(broken('minValue', 'Observation.value'));
    expect(await of(5)).toEqual(broken('maxValue', 'Observation.value'));
  });
  it('bound whole numbers of 64 bits, which are texts', async () => {
    const of = (size: string) => found('Patient.photo.size', { maxValueInteger64: '9007199254740992' }, { photo: [{ size }] }); // prettier-ignore
    expect(await of('9007199254740992')).toEqual([]);
    expect(await of('9007199254740993')).toEqual(broken('maxValue', 'Patient.photo[0].size'));
  });
  it('bound dates, unless their precision leaves it open', async () => {
    const limits = { minValueDate: '1900-06-01', maxValueDate: '2100' };
    const of = (birthDate: string) => found('Patient.birthDate', limits, { birthDate });
    for (const right of ['1900-06-01', '1900', '2100-12-31']) expect(await of(right)).toEqual([]);
    expect(await of('1900-05')).toEqual(broken('minValue', 'Patient.birthDate'));
    expect(await of('2101')).toEqual(broken('maxValue', 'Patient.birthDate'));
  });
  it('bound times by a duration before and after now', async () => {
    const now = (): number => Date.UTC(2020, 0, 1);
    const limits = { minValueQuantity: quantity(10, 'a'), maxValueQuantity: quantity(36, 'h') };
    const of = (birthDate: string) => found('Patient.birthDate', limits, { birthDate }, { now });
    for (const right of ['2010-01-01', '2010', '2020-01-02']) expect(await of(right)).toEqual([]);
    expect(await of('2009-12-30')).toEqual(broken('minValue', 'Patient.birthDate'));
    expect(await of('2020-01-04')).toEqual(broken('maxValue', 'Patient.birthDate'));
  });
  it('bound quantities, in their unit and in others; comparators count', async () => {
    const limits = { type: [{ code: 'Quantity' }], minValueQuantity: quantity(1, 'g'), maxValueQuantity: quantity(2, 'kg') }; // prettier-ignore
    const toCanonicalUnit = (value: number, code: string) => {
      const unit = canonicalUnit(code);
      return unit && { value: toCanonical(value, unit), unit: unit.unit };
    };
    const of = (valueQuantity: Content) =>
      found('Observation.value[x]', limits, { valueQuantity }, { toCanonicalUnit });
    for (const right of [quantity(1), quantity(1000, 'mg'), quantity(1, 's'), quantity(3, 'g', '<'), quantity(1, 'g', '>')])
      expect(await of(right)).toEqual([]); // prettier-ignore
    for (const low of [quantity(999, 'mg'), quantity(1, 'g', '<'), quantity(0.5, 'g', '<=')])
      expect(await of(low)).toEqual(broken('minValue', 'Observation.value'));
    for (const high of [quantity(2001), quantity(2, 'kg', '>')])
      expect(await of(high)).toEqual(broken('maxValue', 'Observation.value'));
  });
  it('of a profile replace those of its base, of whatever type', async () => {
    const base = made('base', 'Patient', [{ path: 'Patient.birthDate', minValueDate: '1900-01-01' }]);
    expect(base.root.children?.[0]).toEqual({ name: 'birthDate', minValue: '1900-01-01' });
  });
});

describe('aggregation', () => {
  const of = (aggregation: string[], reference: string, more: Content = {}) => {
    const type = [{ code: 'Reference', targetProfile: ['http://hl7.org/fhir/StructureDefinition/Organization'], aggregation }]; // prettier-ignore
    return found('Patient.managingOrganization', { type }, { managingOrganization: { reference }, ...more });
  };
  const contained = [{ resourceType: 'Organization', id: 'o' }];
  const wrong = ['error aggregation Patient.managingOrganization'];

  it('says whether what a reference leads to is contained', async () => {
    expect(await of(['contained'], '#o', { contained })).toEqual([]);
    expect(await of(['contained'], 'Organization/1')).toEqual(wrong);
    expect(await of(['referenced'], 'Organization/1')).toEqual([]);
    expect(await of(['referenced'], '#o', { contained })).toEqual(wrong);
    expect(await of(['referenced', 'contained'], '#o', { contained })).toEqual([]);
  });
  it('or in the same Bundle, where there is one', async () => {
    const type = (aggregation: string[]) => [{ code: 'Reference', targetProfile: ['http://hl7.org/fhir/StructureDefinition/Organization'], aggregation }]; // prettier-ignore
    const any = made('any', 'Bundle', []);
    const within = async (aggregation: string[], reference: string): Promise<string[]> => {
      const row = made('bundled', 'Patient', [{ path: 'Patient.managingOrganization', type: type(aggregation) }]);
      const patient = { resourceType: 'Patient', meta: { profile: [row.url] }, managingOrganization: { reference } };
      const entry = [{ resource: patient }, { resource: { resourceType: 'Organization', id: '1' } }];
      return check({ resourceType: 'Bundle', type: 'collection', entry }, [any, row]);
    };
    expect(await within(['bundled'], 'Organization/1')).toEqual([]);
    expect(await within(['referenced'], 'Organization/1')).toEqual([]);
    expect(await within(['contained'], 'Organization/1')).toHaveLength(1);
    expect(await within(['bundled'], 'Organization/2')).toEqual([
      'error aggregation Bundle.entry[0].resource.managingOrganization',
    ]);
    expect(await of(['bundled'], 'Organization/1')).toEqual([]);
  });
});
