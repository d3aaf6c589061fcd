import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { JsonObject } from '../../../runtime/fhir/resource.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { narrowByPath } from '../../../runtime/search/narrow-by-path.js';
import { compileView } from '../../../runtime/views/compile-view.js';
import { narrowWhere } from '../../../runtime/views/operations/narrow-where.js';
import { readView } from '../../../runtime/views/read-view.js';

/** The search by which the conditions of a view are narrowed. */
function narrowed(resource: string, paths: readonly string[], constant: readonly JsonObject[] = []): string {
  const view = compileView(
    readView({
      ...{ resourceType: 'ViewDefinition', status: 'active', resource, constant: [...constant] },
      select: [{ column: [{ name: 'id', path: 'id' }] }],
      where: paths.map((path) => ({ path })),
    }),
    tables,
    { now: new Date(0) },
  );
  return narrowWhere(view, searchDefinitions(tables).rowsOf(resource))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

describe('a condition of a view narrows the search for its resources', () => {
  it.each([
    ["status = 'final'", 'status=final'],
    ["Observation.status = 'final'", 'status=final'],
    ["'final' = %resource.status", 'status=final'],
    ["status = 'final' and code.coding.code = 'a'", 'status=final&code=a'],
    ["status in ('final' | 'amended')", 'status=final,amended'],
    ["status = 'final' or status = 'amended'", 'status=final,amended'],
    ["code.coding.exists(system = 'http://s' and code = 'a')", 'code=http://s|a'],
    ["code.coding.exists(code = 'a' and display = 'A')", 'code=a'],
    ["code.coding.exists(code = 'a' or code = 'b')", 'code=a,b'],
    ["code.coding.where(system = 'http://s').where(code = 'a|b,c').exists()", 'code=http://s|a\\|b\\,c'],
    ["code.coding.where(system = 'http://s').code = 'a'", 'code=a'],
    ["code.coding.exists(system = 'http://s' and %resource.code.coding.code contains 'a')", 'code=a'],
    ["code.coding.exists(code = 'a', code = 'b')", 'code=a'],
    ["code.coding.first().code = 'a'", 'code=a'],
    ["code.coding[1].code = 'a'", 'code=a'],
    ["code.exists(coding.exists(code = 'a'))", 'code=a'],
    ["code.coding.code contains 'a'", 'code=a'],
    ["subject.reference = 'Patient/1'", 'subject=Patient/1'],
    ['effective.ofType(dateTime) >= @2020-03-01', 'date=ge2020-02-28'],
    ['effective.ofType(dateTime) > @2020', 'date=ge2019-12-30'],
    ['effective.ofType(dateTime) < @2020-02', 'date=le2020-03-04'],
    ['@2020-02-01T10:00:00Z >= effective.ofType(dateTime)', 'date=le2020-02-03'],
  ])('%s', (path, search) => {
    const decoded = narrowed('Observation', [path]);
    expect(decoded).toBe(search);
  });

  it.each([
    ["status = 'final' or code.coding.code = 'a'"],
    ["status = 'final' or value.exists()"],
    ["status != 'final'"],
    ["(status = 'final').not()"],
    ["(status = 'final') = false"],
    ["status = 'final' implies code.exists()"],
    ["status = 'final' xor code.exists()"],
    ["iif(true, status, status) = 'final'"],
    ["status.upper() = 'FINAL'"],
    ["status = ' final'"],
    ["status = ''"],
    ["status ~ 'final'"],
    ['status and code.exists()'],
    ['code.coding.exists(code)'],
    ['status = code.coding.code'],
    ["subject.reference = 'http://other.example/Patient/1'"],
    ['component.exists(code.coding.code.empty())'],
    ["code.coding.all(code = 'a')"],
    ["code.coding.where(code = 'a').empty()"],
    ["code.coding.exists(code = 'a').not()"],
    ['value.ofType(Quantity).value > 20'],
    ['effective.ofType(dateTime) = @2020-01-01'],
    ['effective.ofType(dateTime) > @0999-01-01'],
    ["effective.ofType(dateTime) > '2020-01-01'"],
    ["code.coding.exists(system = 'http://s')"],
    ["code.exists(status = 'final', coding.code = 'a')"],
    ["contained.exists(Observation.status = 'final')"],
    ["status = '\\uD800'"],
    ['status = @T10:00'],
    ['status in (@2020-01-01T)'],
    ["value.ofType(string) = '\\u0301'"],
    ['effective.ofType(dateTime) > @2020-13-45'],
    ['effective.ofType(dateTime) > @2020-01-05T00:00:00+99:00'],
    [`status = '${'x'.repeat(201)}'`],
  ])('%s does not', (path) => {
    expect(narrowed('Observation', [path])).toBe('');
  });

  it('but no boolean beside others, for what has no value or several counts as true there', () => {
    expect(narrowed('Patient', ['active'])).toBe('active=true');
    expect(narrowed('Patient', ["active and gender = 'male'", 'identifier.exists(%resource.active)'])).toBe('gender=male'); // prettier-ignore
    expect(narrowed('Group', ['characteristic.exclude and name.exists()'])).toBe('');
  });

  it('by twenty parameters, each once', () => {
    const paths = Array.from({ length: 1000 }, (_, i) => `code.coding.code contains '${i >> 1}'`);
    const wanted = Array.from({ length: 20 }, (_, i) => `code=${i}`);
    expect(narrowed('Observation', paths)).toBe(wanted.join('&'));
    expect(narrowed('Observation', [paths.slice(0, 200).join(' and ')])).toBe(wanted.join('&'));
  });

  it('but no parameter of the store, whose expression may fail on some resources', () => {
    const rows = searchDefinitions(tables).rowsOf('Patient');
    const stored = new Map([...rows].map(([code, row]) => [code, { ...row, isStored: true } as const]));
    const test = { path: 'Patient.gender', operator: '=', values: ['male'] } as const;
    expect([narrowByPath(test, rows), narrowByPath(test, stored)]).toEqual([['gender', 'male'], undefined]);
  });

  it('by all conditions, constants and booleans', () => {
    const constant = [{ name: 'wanted', valueCode: 'male' }];
    expect(narrowed('Patient', ['active', 'gender = %wanted', "identifier.exists(system = 'urn:x' and value = '1')"], constant)).toBe('active=true&gender=male&identifier=urn:x|1'); // prettier-ignore
    expect(narrowed('Patient', ['active = false', 'birthDate = @1990-01-01', "name.family = 'F'"])).toBe(
      'active=false&birthdate=1990-01-01&family:exact=F',
    );
    const at = [{ name: 'at', valueDate: '1990-01-01' }];
    expect(narrowed('Patient', ['birthDate >= %at'], at)).toBe('birthdate=ge1989-12-30');
  });
});
