import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { Decimal } from '../../../runtime/fhir/decimal.js';
import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';
import { baseKey } from '../../../runtime/path/base-key.js';
import { OwnBases } from '../../../runtime/path/own-bases.js';
import { compileView } from '../../../runtime/views/compile-view.js';
import { readView } from '../../../runtime/views/read-view.js';

const context = { now: new Date('2026-01-02T03:04:05Z'), bases: new OwnBases([baseKey('https://our.example/fhir')]) };
const compile = (view: JsonObject) => compileView(readView(view), tables, context);
const ofColumns = (resource: string, ...paths: readonly string[]): JsonObject => ({
  resource,
  select: [{ column: paths.map((path, i) => ({ name: `c${i}`, path })) }],
});
const rowsOf = (view: JsonObject, resource: JsonObject) => compile(view).rowsOf(resource as Resource);

describe('a view', () => {
  const column = { name: 'a', path: 'id' };
  it.each<[string, JsonObject, RegExp]>([
    ['of no such type', ofColumns('Pateint', 'id'), /^resource: there is no resource type Pateint; did you mean Patient\?/],
    ['without columns', { resource: 'Patient', select: [{ forEach: 'name' }] }, /^select: has no column/],
    ['with an unknown member', { resource: 'Patient', select: [{ columns: [] }] }, /^select\[0\]: has no member "columns"/],
    ['with a name twice', { resource: 'Patient', select: [{ column: [column] }, { column: [column] }] }, /^select\[1\]\.column\[0\]\.name/],
    ['with an ill-formed name', { resource: 'Patient', select: [{ column: [{ ...column, name: '1a' }] }] }, /column\[0\]\.name/],
    ['with a name of two words', { resource: 'Patient', select: [{ column: [{ ...column, name: 'my col' }] }] }, /name: is "my col"; a name has a letter/],
    ['without the name of a column', { resource: 'Patient', select: [{ column: [{ path: 'id' }] }] }, /name: is required/],
    ['with two iterations', { resource: 'Patient', select: [{ forEach: 'name', repeat: ['name'], column: [column] }] }, /^select\[0\]: has both forEach and repeat/],
    ['with an unknown function', ofColumns('Patient', 'name.given.foo()'), /^select\[0\]\.column\[0\]\.path: .*foo\(\)/],
    ['of too much text', { ...ofColumns('Patient', 'id'), where: Array.from({ length: 21 }, () => ({ path: `id = '${'x'.repeat(9900)}'` })) }, /^where\[20\]\.path: and the paths before it have more than 200000 characters together/],
    ['that resolves', ofColumns('Patient', 'managingOrganization.resolve().name'), /resolve\(\)/],
    ['with a constant that has a meaning', { ...ofColumns('Patient', 'id'), constant: [{ name: 'rowIndex', valueString: 'x' }] }, /^constant\[0\]\.name/],
    ['with a condition of texts', { ...ofColumns('Patient', 'id'), where: [{ path: 'gender' }] }, /^where\[0\]\.path: gives code/],
    ['with a complex column', ofColumns('Patient', 'name'), /HumanName/],
    ['with branches of other types', { resource: 'Patient', select: [{ unionAll: [{ column: [column] }, { column: [{ name: 'a', path: 'active' }] }] }] }, /^select\[0\]\.unionAll\[1\]/],
  ])('%s is refused before the first row', (_title, view, message) => {
    expect(() => compile(view)).toThrow(message);
  }); // prettier-ignore

  it('is refused with all of its faults', () => {
    expect(() => compile(ofColumns('Patient', 'a(', 'b('))).toThrow(/column\[0\].*column\[1\]/s);
  });

  it('is refused where it is nested too deeply', () => {
    let select: JsonObject = { column: [column] };
    for (let i = 0; i < 20; i++) select = { select: [select] };
    expect(() => compile({ resource: 'Patient', select: [select] })).toThrow(/nested more than 20/);
  });

  it('warns of what R5 does not name, which is empty', () => {
    const view = ofColumns('Patient', 'nmae.family');
    expect(compile(view).warnings).toEqual([
      { place: 'select[0].column[0].path', text: expect.stringContaining('nmae') as string },
    ]);
    expect(rowsOf(view, { resourceType: 'Patient' })).toEqual([[null]]);
  });

  it.each([
    ['subject.getReferenceKey(Patien)', 'there is no resource type Patien; did you mean Patient?'],
    ['subject.getReferenceKey(Resource)', 'there is no resource type Resource'],
    ['status.getReferenceKey(Patient)', 'getReferenceKey() is for a Reference, and this is code'],
    ['valueQuantity.value', 'write value.ofType(Quantity)'],
  ])('warns of %s', (path, text) => {
    const { warnings } = compile(ofColumns('Observation', path, 'subject.getReferenceKey(FHIR.Patient)'));
    expect(warnings.map((each) => each.text)).toEqual([expect.stringContaining(text)]);
  });

  it('has types from paths', () => {
    const { columns } = compile(
      ofColumns(
        'Observation',
        'status',
        'value.ofType(Quantity).value',
        'issued',
        '1 = 1',
        '%rowIndex',
        'getResourceKey()',
      ),
    );
    expect(columns.map(({ kind }) => kind)).toEqual(['text', 'decimal', 'instant', 'boolean', 'integer', 'text']);
  });

  it('keeps digits', () => {
    const value = new Decimal('5.40');
    expect(
      rowsOf(ofColumns('Observation', 'value.ofType(Quantity).value'), {
        resourceType: 'Observation',
        valueQuantity: { value },
      }),
    ).toEqual([[value]]);
  });

  it('fails on a value that the type of its column does not hold', () => {
    const view = { resource: 'Patient', select: [{ column: [{ name: 'a', path: 'birthDate', type: 'integer' }] }] };
    expect(() => rowsOf(view, { resourceType: 'Patient', id: 'x', birthDate: '2020' })).toThrow(
      /^Patient\/x: the column a/,
    );
  });

  it('ends a repeat without end', () => {
    const view = { resource: 'Patient', select: [{ repeat: ['$this'], column: [column] }] };
    expect(() => rowsOf(view, { resourceType: 'Patient', id: 'x' })).toThrow(/levels deep/);
  });

  it('ends a product of 100,000 rows', () => {
    const given = Array.from({ length: 60 }, (_, i) => `n${i}`);
    const select = ['a', 'b', 'c'].map((name) => ({ forEach: 'name.given', column: [{ name, path: '$this' }] }));
    expect(() => rowsOf({ resource: 'Patient', select }, { resourceType: 'Patient', name: [{ given }] })).toThrow(
      /more than 100000 rows/,
    );
  });

  it.each([
    ['Patient/1', '1'],
    ['Patient/1/_history/2', '1'],
    ['https://our.example/fhir/Patient/1', '1'],
    ['https://other.example/fhir/Patient/1', null],
    ['urn:uuid:53fefa32-fcbb-4ff8-8a92-55ee120877b7', null],
    ['#p', null],
    ['Patient?identifier=1', null],
    ['Group/1', null],
  ])('has the key of %s', (reference, key) => {
    const resource = { resourceType: 'Observation', subject: { reference } };
    expect(rowsOf(ofColumns('Observation', 'subject.getReferenceKey(Patient)'), resource)).toEqual([[key]]);
  });

  it.each([
    ['2010', '2010-01-01T00:00:00.000+14:00', '2010-12-31T23:59:59.999-12:00'],
    ['2012-02', '2012-02-01T00:00:00.000+14:00', '2012-02-29T23:59:59.999-12:00'],
    ['2010-10-10T10:11:12Z', '2010-10-10T10:11:12.000Z', '2010-10-10T10:11:12.999Z'],
    ['2010-10-10T10:11:12.5+02:00', '2010-10-10T10:11:12.500+02:00', '2010-10-10T10:11:12.599+02:00'],
  ])('has the boundaries of %s', (effectiveDateTime, low, high) => {
    const paths = ['low', 'high'].map((end) => `effective.ofType(dateTime).${end}Boundary()`);
    expect(rowsOf(ofColumns('Observation', ...paths), { resourceType: 'Observation', effectiveDateTime })).toEqual([
      [low, high],
    ]);
  });

  it.each([
    [1, 0.95, 1.05],
    [new Decimal('5.40'), 5.395, 5.405],
    [-0.5, -0.55, -0.45],
  ])('has the boundaries of %s', (value, low, high) => {
    const paths = ['low', 'high'].map((end) => `value.ofType(Quantity).value.${end}Boundary()`);
    expect(
      rowsOf(ofColumns('Observation', ...paths), { resourceType: 'Observation', valueQuantity: { value } }),
    ).toEqual([[low, high]]);
  });
});
