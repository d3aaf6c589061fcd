import { describe, expect, it } from 'vitest';

import { extension, profile, rows, slice, snapshot } from './defined.js';
import { check } from './made.js';

const observation = { resourceType: 'Observation', status: 'final', code: {} };
const codes = (types: readonly { readonly code: string }[] | undefined): string[] | undefined =>
  types?.map(({ code }) => code);

describe('how often an extension may be there: a profile says so (https://hl7.org/fhir/R5/defining-extensions.html#cardinality)', () => {
  const once = extension('once', [{ path: 'value[x]', type: [{ code: 'string' }] }]);
  const often = extension('often', [{ path: 'value[x]', type: [{ code: 'string' }] }], '*');
  const of = (...urls: string[]): Record<string, unknown> => ({
    resourceType: 'Patient',
    extension: urls.map((url) => ({ url, valueString: 'a' })),
  });

  it('in a snapshot, whatever the differential says', () => {
    const user = profile('user', 'Patient', [
      { ...slice('once', once.url), max: '3' },
      { ...slice('none', once.url), max: '0' },
      slice('often', often.url),
    ]);
    const made = snapshot(user, once, often);
    expect(made.get('Patient.extension:once')?.max).toBe('1');
    expect(made.get('Patient.extension:none')?.max).toBe('0');
    expect(made.get('Patient.extension:often')?.max).toBe('*');
  });

  it('in a profile with a slice of it', async () => {
    const user = profile('user', 'Patient', [slice('once', once.url)]);
    expect(await check(of(once.url), rows(user, once))).toEqual([]);
    expect(await check(of(once.url, once.url), rows(user, once))).toContain('error slicing Patient.extension');
  });

  it('without one nothing is refused; $validate says what the definition expects, on primitives and in other extensions too', async () => {
    const told = { tellsAll: true };
    const user = profile('user', 'Patient', []);
    const all = rows({ ...user, differential: { element: [{ path: 'Patient' }] } }, once, often);
    expect(await check(of(once.url, often.url, often.url), all, told)).toEqual([]);
    expect(await check(of(once.url, often.url, once.url), all)).toEqual([]);
    expect(await check(of(once.url, often.url, once.url), all, told)).toEqual([
      'information cardinality Patient.extension',
    ]);
    const { extension: twice } = of(once.url, once.url) as { extension: object[] };
    const nested = {
      resourceType: 'Patient',
      _birthDate: { extension: twice },
      extension: [{ url: often.url, valueString: 'a', _valueString: { extension: twice } }],
    };
    expect((await check(nested, all, told)).sort()).toEqual([
      'information cardinality Patient.birthDate.extension',
      'information cardinality Patient.extension[0].value.extension',
    ]);
  });
});

describe('what slices require', () => {
  const one = extension('one', []);
  it('the element requires too, where the differential says nothing about it', async () => {
    const user = profile('user', 'Patient', [{ ...slice('one', one.url), min: 1 }]);
    const made = snapshot(user, one);
    expect(made.get('Patient.extension')).toMatchObject({
      min: 1,
      slicing: { discriminator: [{ type: 'value', path: 'url' }], rules: 'open' },
    });
    // It is told once, of the slice.
    expect(await check({ resourceType: 'Patient' }, rows(user, one))).toEqual(['error slicing Patient.extension']);
    const said = profile('said', 'Patient', [
      { path: 'extension', min: 0 },
      { ...slice('one', one.url), min: 1 },
    ]);
    expect(snapshot(said, one).get('Patient.extension')?.min).toBe(0);
  });

  it('may not be more than there may be', () => {
    const much = profile('much', 'Patient', [
      { path: 'identifier', max: '1', slicing: { discriminator: [{ type: 'value', path: 'system' }], rules: 'open' } },
      { path: 'identifier', sliceName: 'a', min: 1 },
      { path: 'identifier', sliceName: 'b', min: 1 },
    ]);
    expect(() => snapshot(much)).toThrow(
      'the slices of Patient.identifier require 2 values; there may be no more than 1',
    );
  });
});

describe('slices of a choice', () => {
  it('close it where each type that it may have has its slice', async () => {
    const both = profile('both', 'Observation', [
      { path: 'value[x]', slicing: { rules: 'open' }, type: [{ code: 'Quantity' }, { code: 'string' }] },
      { path: 'value[x]', sliceName: 'valueQuantity' },
      { path: 'value[x].unit', min: 1 },
      { path: 'valueString', maxLength: 3 },
    ]);
    const made = snapshot(both);
    expect(made.get('Observation.value[x]')?.slicing).toEqual({
      discriminator: [{ type: 'type', path: '$this' }],
      rules: 'closed',
    });
    expect(codes(made.get('Observation.value[x]:valueQuantity')?.type)).toEqual(['Quantity']);
    expect(await check({ ...observation, valueString: 'abcd' }, rows(both))).toEqual([
      'error maxLength Observation.value',
    ]);
    expect(await check({ ...observation, valueQuantity: { value: 1 } }, rows(both))).toEqual([
      'error cardinality Observation.value.unit',
    ]);
    expect(await check({ ...observation, valueBoolean: true }, rows(both))).toContain('error type Observation.value');
  });

  it('leave it open where a type has none', () => {
    const some = profile('some', 'Observation', [{ path: 'valueString', maxLength: 3 }]);
    expect(snapshot(some).get('Observation.value[x]')).toMatchObject({ min: 0, slicing: { rules: 'open' } });
    expect(snapshot(some).get('Observation.value[x]')?.type).toHaveLength(13);
  });

  it('that are required are the only ones', async () => {
    const required = profile('required', 'Observation', [
      { path: 'value[x]', slicing: { rules: 'open' } },
      { path: 'value[x]', sliceName: 'valueString', min: 1 },
    ]);
    const element = snapshot(required).get('Observation.value[x]');
    expect(element).toMatchObject({ min: 1, slicing: { rules: 'closed' } });
    expect(codes(element?.type)).toEqual(['string']);
    // Slices of the base are no contradiction: they find nothing any more.
    const base = profile('base', 'Observation', [{ path: 'valueQuantity' }, { path: 'valueString' }]);
    const later = profile('later', 'Observation', [{ path: 'valueString', min: 1 }], { baseDefinition: base.url });
    expect(codes(snapshot(later, base).get('Observation.value[x]')?.type)).toEqual(['string']);
    expect(await check({ ...observation, valueQuantity: {} }, rows(later, base))).toContain(
      'error type Observation.value',
    );
    const two = profile('two', 'Observation', [
      { path: 'valueString', min: 1 },
      { path: 'valueQuantity', min: 0 },
    ]);
    expect(() => snapshot(two)).toThrow('has to be there as valueString, so that there can be no slice valueQuantity');
  });

  it('give the value of an extension its type, and are not sliced again', async () => {
    const parts = extension('parts', [
      { path: 'extension', sliceName: 'name', max: '1' },
      { path: 'extension.url', fixedUri: 'name' },
      { path: 'extension.valueString', sliceName: 'valueString' },
    ]);
    const made = snapshot(parts);
    expect(codes(made.get('Extension.extension:name.value[x]')?.type)).toEqual(['string']);
    expect([...made.keys()].filter((id) => id.endsWith('valueString'))).toEqual([
      'Extension.extension:name.value[x]:valueString',
    ]);
    const user = profile('user', 'Patient', [slice('parts', parts.url)]);
    const of = (value: object): Record<string, unknown> => ({
      resourceType: 'Patient',
      extension: [{ url: parts.url, extension: [{ url: 'name', ...value }] }],
    });
    expect(await check(of({ valueString: 'a' }), rows(user, parts))).toEqual([]);
    expect(await check(of({ valueBoolean: true }), rows(user, parts))).toContain(
      'error type Patient.extension[0].extension[0].value',
    );
  });
});

it('slicing says nothing about slices', () => {
  const other = extension('other', [{ path: 'value[x]', type: [{ code: 'Identifier' }] }], '*');
  const resliced = profile('resliced', 'Patient', [
    { path: 'extension', slicing: { discriminator: [{ type: 'value', path: 'url' }], rules: 'open' } },
    slice('other', other.url),
    { path: 'extension', sliceName: 'other/npi', max: '1' },
    { path: 'extension.valueIdentifier.type', min: 1 },
  ]);
  const made = snapshot(resliced, other);
  expect(made.get('Patient.extension:other')?.slicing).toBeUndefined();
  expect(made.get('Patient.extension:other/npi.value[x].type')?.min).toBe(1);
});

it('a binding may change the strength alone, or the value set', async () => {
  const rebound = profile('rebound', 'Patient', [{ path: 'maritalStatus', binding: { strength: 'required' } }]);
  expect(snapshot(rebound).get('Patient.maritalStatus')?.binding).toMatchObject({
    strength: 'required',
    valueSet: 'http://hl7.org/fhir/ValueSet/marital-status',
  });
  const isMember = (): boolean => false;
  const wrong = { resourceType: 'Patient', maritalStatus: { coding: [{ system: 'urn:s', code: 'x' }] } };
  expect(await check(wrong, rows(rebound), { bindings: { isMember } })).toEqual([
    'error binding Patient.maritalStatus',
  ]);
});
