import { describe, expect, test } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { Decimal } from '../../../runtime/fhir/decimal.js';
import type { FhirError } from '../../../runtime/fhir/errors.js';
import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { diff } from '../../conformance/patch/diff.js';
import { createPatchModel } from '../../../runtime/patch/fhirpath/fhirpath-model.js';
import { applyFhirPathPatch } from '../../../runtime/patch/fhirpath/fhirpath-patch.js';
import { patchOf } from '../../conformance/patch/fhirpath-patch.js';
import type { Step } from '../../conformance/patch/fhirpath-patch-cases.js';

const model = createPatchModel(tables);
const url = 'http://example.org/x';
const extension = {
  part: [
    { name: 'url', valueUri: url },
    { name: 'value', valueString: 'v' },
  ],
};
const extended = { extension: [{ url, valueString: 'v' }] };

type Row = readonly [name: string, input: JsonObject, step: Step, output: JsonObject];

/** Rows are of a Patient unless they name another type. */
const typed = (content: JsonObject): Resource => ({ resourceType: 'Patient', ...content });

const ROWS: readonly Row[] = [
  [
    'replace a choice by another type',
    { deceasedBoolean: false, _deceasedBoolean: { id: 'a' } },
    { type: 'replace', path: 'Patient.deceased', value: { valueDateTime: '2020' } },
    { deceasedDateTime: '2020' },
  ],
  [
    'add a choice',
    { resourceType: 'Observation' },
    { type: 'add', path: 'Observation', name: 'value', value: { valueQuantity: { value: new Decimal('1.00') } } },
    { resourceType: 'Observation', valueQuantity: { value: new Decimal('1.00') } },
  ],
  ['delete a choice', { deceasedBoolean: false }, { type: 'delete', path: 'Patient.deceased' }, {}],
  [
    'a date where there is a dateTime',
    { contact: [{ period: { start: '2020' } }] },
    { type: 'add', path: 'Patient.contact.period', name: 'end', value: { valueDate: '2021-12-01' } },
    { contact: [{ period: { start: '2020', end: '2021-12-01' } }] },
  ],
  [
    'extend a primitive',
    { birthDate: '2020' },
    { type: 'add', path: 'Patient.birthDate', name: 'extension', value: extension },
    { birthDate: '2020', _birthDate: extended },
  ],
  [
    'extend one of a list',
    { name: [{ given: ['a', 'b'] }] },
    { type: 'add', path: 'Patient.name.given[1]', name: 'extension', value: extension },
    { name: [{ given: ['a', 'b'], _given: [null, extended] }] },
  ],
  [
    'take an extension from one of a list',
    { name: [{ given: ['a', 'b'], _given: [null, extended] }] },
    { type: 'delete', path: `Patient.name.given[1].extension('${url}')` },
    { name: [{ given: ['a', 'b'] }] },
  ],
  [
    'take the extension that was all there was',
    { name: [{ given: [null, 'b'], _given: [extended, null] }] },
    { type: 'delete', path: 'Patient.name.given[0].extension' },
    { name: [{ given: ['b'] }] },
  ],
  [
    'delete a primitive that has only extensions',
    { _birthDate: extended, active: true },
    { type: 'delete', path: 'Patient.birthDate' },
    { active: true },
  ],
  [
    'insert before one with an extension',
    { name: [{ given: ['a'], _given: [extended] }] },
    { type: 'insert', path: 'Patient.name[0].given', index: 0, value: { valueString: 'n' } },
    { name: [{ given: ['n', 'a'], _given: [null, extended] }] },
  ],
  [
    'insert one with nothing but an extension',
    { name: [{ given: ['a'] }] },
    { type: 'insert', path: 'Patient.name[0].given', index: 1, value: { _valueString: extended } },
    { name: [{ given: ['a', null], _given: [null, extended] }] },
  ],
  [
    'move one with an extension',
    { name: [{ given: ['a', 'b', 'c'], _given: [extended, null, null] }] },
    { type: 'move', path: "Patient.name.where(given = 'a' or true).given", source: 0, destination: 2 },
    { name: [{ given: ['b', 'c', 'a'], _given: [null, null, extended] }] },
  ],
  [
    'insert into a list that is not there',
    {},
    { type: 'insert', path: 'Patient.name', index: 0, value: { valueHumanName: { text: 'a' } } },
    { name: [{ text: 'a' }] },
  ],
  [
    'the list of a path with criteria',
    { name: [{ use: 'usual' }, { use: 'official', given: ['a'] }] },
    { type: 'insert', path: "Patient.name.where(use = 'official').given", index: 1, value: { valueString: 'b' } },
    { name: [{ use: 'usual' }, { use: 'official', given: ['a', 'b'] }] },
  ],
  [
    'delete the last of a list',
    { name: [{ text: 'a' }], active: true },
    { type: 'delete', path: 'Patient.name[0]' },
    { active: true },
  ],
  ['delete what is not there', { active: true }, { type: 'delete', path: 'Patient.name[3].given' }, { active: true }],
  [
    'parts within parts, lists, choices and extensions',
    { resourceType: 'Observation' },
    {
      type: 'add',
      path: 'Observation',
      name: 'component',
      value: {
        part: [
          { name: 'code', part: [{ name: 'text', valueString: 't', _valueString: { id: 'i' } }] },
          { name: 'value', valueInteger: 7 },
          { name: 'extension', ...extension },
          { name: 'interpretation', valueCodeableConcept: { text: '1' } },
          { name: 'interpretation', valueCodeableConcept: { text: '2' } },
        ],
      },
    },
    {
      resourceType: 'Observation',
      component: [
        {
          code: { text: 't', _text: { id: 'i' } },
          valueInteger: 7,
          ...extended,
          interpretation: [{ text: '1' }, { text: '2' }],
        },
      ],
    },
  ],
  [
    'narrative by parts',
    {},
    {
      type: 'add',
      path: 'Patient',
      name: 'text',
      value: {
        part: [
          { name: 'status', valueCode: 'generated' },
          { name: 'div', valueString: '<div/>' },
        ],
      },
    },
    { text: { status: 'generated', div: '<div/>' } },
  ],
  [
    'a contained resource',
    {},
    { type: 'add', path: 'Patient', name: 'contained', value: { resource: { resourceType: 'Organization', id: 'o' } } },
    { contained: [{ resourceType: 'Organization', id: 'o' }] },
  ],
  [
    'within a contained resource',
    { contained: [{ resourceType: 'Organization', id: 'o', active: true }] },
    {
      type: 'replace',
      path: "Patient.contained.where(id = 'o').ofType(Organization).active",
      value: { valueBoolean: false },
    },
    { contained: [{ resourceType: 'Organization', id: 'o', active: false }] },
  ],
  [
    'a resource in a Bundle',
    { resourceType: 'Bundle', entry: [{ resource: { resourceType: 'Patient' } }] },
    { type: 'add', path: 'Bundle.entry[0].resource', name: 'active', value: { valueBoolean: true } },
    { resourceType: 'Bundle', entry: [{ resource: { resourceType: 'Patient', active: true } }] },
  ],
  [
    'the root by the name of a type that it specialises',
    {},
    { type: 'add', path: 'DomainResource', name: 'language', value: { valueCode: 'en' } },
    { language: 'en' },
  ],
  [
    'div behind a call',
    { text: { status: 'empty', div: '<div>1</div>' } },
    { type: 'replace', path: "Patient.text.where(status = 'empty').div", value: { valueString: '<div>2</div>' } },
    { text: { status: 'empty', div: '<div>2</div>' } },
  ],
  [
    'criteria on numbers that kept their text',
    {
      resourceType: 'Observation',
      component: [{ valueQuantity: { value: new Decimal('1.0') } }, { valueQuantity: { value: new Decimal('2.50') } }],
    },
    { type: 'delete', path: 'Observation.component.where(value.value > 2)' },
    { resourceType: 'Observation', component: [{ valueQuantity: { value: new Decimal('1.0') } }] },
  ],
  [
    'the part previousValue is of no effect',
    { active: true },
    { type: 'replace', path: 'Patient.active', previousValue: { valueBoolean: true }, value: { valueBoolean: false } },
    { active: false },
  ],
];

describe('fhirpatch.html: what operations do', () => {
  test.each(ROWS)('%s', async (_, input, step, output) => {
    const resource = typed(input);
    const before = writeJson(resource);
    expect(await applyFhirPathPatch(resource, patchOf(step), model)).toEqual(typed(output));
    expect(writeJson(resource)).toBe(before);
  });

  test('operations run in turn, and what an earlier one empties keeps its place until the end', async () => {
    const resource = typed({ contact: [{ gender: 'male' }, { gender: 'male' }] });
    const patch = patchOf(
      { type: 'delete', path: 'Patient.contact[0].gender' },
      { type: 'replace', path: 'Patient.contact[1].gender', value: { valueCode: 'other' } },
    );
    expect(await applyFhirPathPatch(resource, patch, model)).toEqual(typed({ contact: [{ gender: 'other' }] }));
  });

  test('what is not touched keeps the text of its numbers', async () => {
    const text =
      '{"resourceType":"Observation","status":"final","valueQuantity":{"value":1.00},"referenceRange":[{"low":{"value":1e3}}]}';
    const patch = patchOf({ type: 'delete', path: 'Observation.status' });
    const result = await applyFhirPathPatch(readJson(text) as Resource, patch, model);
    expect(writeJson(result)).toBe(text.replace('"status":"final",', ''));
  });
});

const some = typed({
  active: true,
  birthDate: '2020',
  name: [{ given: ['a', 'b'] }, { text: 'c' }],
  deceasedBoolean: true,
});
const value = { valueString: 'x' };

/** Code of the failure, and what its text says. */
const FAULTS: readonly (readonly [step: Step, code: string, text: RegExp])[] = [
  [
    { type: 'add', path: 'Patient', name: 'active', value: { valueBoolean: false } },
    'patch-target',
    /active is there already/,
  ],
  [{ type: 'add', path: 'Patient', name: 'nome', value }, 'patch-target', /Patient has no element nome/],
  [
    { type: 'add', path: 'Patient', name: 'deceasedBoolean', value },
    'patch-target',
    /named without its type: deceased/,
  ],
  [
    { type: 'add', path: 'Patient.name', name: 'text', value },
    'patch-target',
    /finds 2 elements .*: Patient\.name\[0\], Patient\.name\[1\]$/,
  ],
  [{ type: 'delete', path: 'Patient.descendants()' }, 'patch-target', /, Patient\.[^,]*, Patient\.[^,]*…$/],
  [{ type: 'add', path: 'Patient.contact', name: 'gender', value }, 'patch-target', /finds nothing/],
  [{ type: 'add', path: 'Patient.id', name: 'extension', value: extension }, 'patch-target', /finds nothing/],
  [
    { type: 'add', path: 'Patient', name: 'gender', value: { valueBoolean: true } },
    'patch-target',
    /takes code, not boolean/,
  ],
  [
    { type: 'add', path: 'Patient', name: 'multipleBirth', value },
    'patch-target',
    /takes boolean, integer, not string/,
  ],
  [
    { type: 'add', path: 'Patient', name: 'contact', value: { part: [{ name: 'foo', ...value }] } },
    'patch-target',
    /has no element foo/,
  ],
  [{ type: 'add', path: 'Patient', name: 'gender', value: {} }, 'patch-invalid', /there are 0/],
  [
    { type: 'add', path: 'Patient', name: 'gender', value: { valueCodee: 'x' } },
    'patch-invalid',
    /valueCodee is none of them/,
  ],
  [
    { type: 'add', path: 'Patient', name: 'extension', value: { valueExtension: extended.extension[0] as JsonObject } },
    'patch-invalid',
    /given by parts named url and value/,
  ],
  [
    { type: 'add', path: 'Patient', name: 'gender', value: { ...value, valueCode: 'x' } },
    'patch-invalid',
    /there are 2/,
  ],
  [{ type: 'add', path: 'Patient', value }, 'patch-invalid', /add needs the part name/],
  [
    { type: 'insert', path: 'Patient.name', index: 3, value: { valueHumanName: {} } },
    'patch-target',
    /index 3 is beyond the end/,
  ],
  [
    { type: 'insert', path: 'Patient.name', value: { valueHumanName: {} } },
    'patch-invalid',
    /insert needs the part index/,
  ],
  [
    { type: 'insert', path: 'Patient.name[0]', index: 0, value: { valueHumanName: {} } },
    'patch-target',
    /ends in its name/,
  ],
  [{ type: 'insert', path: "Patient.name.where(text = 'c')", index: 0, value }, 'patch-invalid', /ends in its name/],
  [{ type: 'delete', path: 'Patient.name' }, 'patch-target', /finds 2 elements/],
  [{ type: 'delete', path: 'Patient' }, 'patch-target', /cannot delete the resource itself/],
  [{ type: 'delete', path: 'Observation.name' }, 'patch-target', /begins with Observation/],
  [{ type: 'delete', path: 'Patient.deceasedBoolean' }, 'patch-target', /named without its type: deceased/],
  [{ type: 'delete', path: 'Patient.name.count()' }, 'patch-target', /gives a value/],
  [{ type: 'replace', path: 'Patient.gender', value }, 'patch-target', /finds nothing/],
  [{ type: 'replace', path: 'Patient.active', value }, 'patch-target', /takes boolean, not string/],
  [{ type: 'replace', path: 'Patient.active' }, 'patch-invalid', /replace needs the part value/],
  [{ type: 'move', path: 'Patient.name', source: 2, destination: 0 }, 'patch-target', /source 2 is beyond the end/],
  [
    { type: 'move', path: 'Patient.name', source: 0, destination: 2 },
    'patch-target',
    /destination 2 is beyond the end/,
  ],
  [{ type: 'drop', path: 'Patient.name' }, 'patch-invalid', /the type is one of add, insert/],
  [{ type: 'delete', path: 'Patient.name', nothing: 'x' }, 'patch-invalid', /no part nothing/],
  [{ type: 'delete', path: "Patient.name.where(use = 'x'" }, 'patch-invalid', /nothing closes/],
  [{ type: 'delete', path: 'Patient.name)' }, 'patch-invalid', /closes nothing/],
  [{ type: 'delete', path: "Patient.name.where(use = 'x)" }, 'patch-invalid', /cannot be read/],
  [{ type: 'delete', path: '('.repeat(1000) }, 'patch-invalid', /nested 16 deep/],
  [{ type: 'delete', path: '' }, 'patch-invalid', /empty/],
  [{ type: 'delete', path: `1${'+1'.repeat(200)}` }, 'patch-invalid', /at most 128/],
  [{ type: 'delete', path: 'x'.repeat(2001) }, 'patch-invalid', /at most 2000 characters/],
  [{ type: 'delete', path: 'Patient.name.where(' + 'a and '.repeat(20) + ')' }, 'patch-invalid', /cannot be read/],
  [{ type: 'delete', path: 'Patient.link.other.resolve()' }, 'patch-invalid', /resolve\(\) is not allowed/],
  [{ type: 'delete', path: "Patient.maritalStatus.memberOf('x')" }, 'patch-invalid', /memberOf\(\) is not allowed/],
  [{ type: 'delete', path: "Patient.name.`trace`('x')" }, 'patch-invalid', /trace\(\) is not allowed/],
  [
    { type: 'delete', path: "Patient.name.where(text.matches('(a+)+$'))" },
    'patch-invalid',
    /matches\(\) is not allowed/,
  ],
  [{ type: 'delete', path: 'Patient.repeat(name)' }, 'patch-invalid', /repeat\(\) is not allowed/],
  [{ type: 'delete', path: 'Patient.name.where(1, 2)' }, 'patch-invalid', /where\(\) takes 1 arguments/],
  [{ type: 'delete', path: '%terminologies.expand()' }, 'patch-invalid', /variables \(%name\)/],
  [{ type: 'delete', path: '%`context`.name' }, 'patch-invalid', /variables \(%name\)/],
  [{ type: 'delete', path: "Patient.where(name.given.startsWith('a')).name" }, 'patch-target', /cannot be evaluated/],
  [{ type: 'delete', path: 'Patient.where(birthDate + 1 year > @2000).name' }, 'patch-target', /finds 2 elements/],
  [{ type: 'delete', path: 'Patient.name | Patient.contact' }, 'patch-invalid', /no "\|"/],
  [{ type: 'delete', path: "'a'" + '.select($this & $this)'.repeat(18) }, 'patch-too-large', /too long a text/],
];

describe('fhirpatch.html: what is refused', () => {
  test.each(FAULTS)('%j', async (step, code, text) => {
    const fine = { type: 'delete', path: 'Patient.telecom' };
    const error = await applyFhirPathPatch(some, patchOf(fine, step), model).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    const [issue] = (error as FhirError).issues;
    expect(issue.text).toMatch(/^Operation \[1\]/);
    expect(issue.text).toMatch(text);
    expect(issue.expression).toMatch(/^Parameters\.parameter\[1\](\.part\[\d\])?$/);
  });

  test.each([
    ['index', { valueInteger: -1 }, /the part index has to be an integer from 0 on/],
    ['index', { valueString: '1' }, /the part index has to be an integer from 0 on/],
    ['path', { valueInteger: 1 }, /the part path has to be a string/],
    ['type', { valueCode: 'insert' }, /the part type is there twice/],
    ['pfad', { valueString: 'Patient.name' }, /there is no part pfad; there are type, path,/],
  ])('a part %s of %j is told by its name, and where it is', async (name, part, text) => {
    const operation = {
      name: 'operation',
      part: [
        { name: 'type', valueCode: 'insert' },
        { name, ...part },
      ],
    };
    const patch: Resource = { resourceType: 'Parameters', parameter: [operation] };
    const error = await applyFhirPathPatch(some, patch, model).catch((thrown: unknown) => thrown);
    const [issue] = (error as FhirError).issues;
    expect([issue.code, issue.text]).toEqual(['patch-invalid', expect.stringMatching(text)]);
    expect(issue.expression).toBe(`Parameters.parameter[0].part[${name === 'type' ? 0 : 1}]`);
  });

  test('what is said of a comparison that makes no sense has no values', async () => {
    const patch = patchOf({ type: 'delete', path: 'Patient.name.where(text > 1)' });
    const secret = typed({ name: [{ text: 'secret' }] });
    await expect(applyFhirPathPatch(secret, patch, model)).rejects.toThrow(/cannot be evaluated on this resource$/);
  });

  test('paths whose work grows with the square of the resource end in time', async () => {
    const entry = Array.from({ length: 3000 }, (_, i) => ({ fullUrl: `urn:uuid:${i}` }));
    const bundle: Resource = { resourceType: 'Bundle', entry };
    const patch = patchOf({
      type: 'delete',
      path: 'Bundle.select(entry.where(fullUrl.length() > 0).select(entry)).where(descendants().where(descendants().empty()).exists())',
    });
    const many = patchOf(...Array.from({ length: 1000 }, () => ({ type: 'delete', path: 'Bundle.entry.link' })));
    await expect(applyFhirPathPatch(bundle, many, model)).rejects.toMatchObject({ code: 'patch-too-large' });
    expect(await applyFhirPathPatch(bundle, patch, model)).toBe(bundle);
  });

  test.each([
    ['another resource', { resourceType: 'Patient' }],
    ['parameters that are no list', { resourceType: 'Parameters', parameter: {} }],
    ['a parameter of another name', { resourceType: 'Parameters', parameter: [{ name: 'x', part: [] }] }],
    ['a part that is null', { resourceType: 'Parameters', parameter: [{ name: 'operation', part: [null] }] }],
  ])('%s', async (_, patch: Resource) => {
    await expect(applyFhirPathPatch(some, patch, model)).rejects.toMatchObject({ code: 'patch-invalid' });
  });
});

test('a difference tells the value before where that is asked for, and of long lists what moves', () => {
  const was = typed({ active: true });
  const is = typed({ active: false });
  expect(diff(was, is, model, { previousValue: true })).toEqual(
    patchOf({
      type: 'replace',
      path: 'Patient.active',
      previousValue: { valueBoolean: true },
      value: { valueBoolean: false },
    }),
  );
  const list = (from: number, count: number): Resource =>
    typed({ name: Array.from({ length: count }, (_, i) => ({ text: `${from + i}` })) });
  expect(diff(list(0, 5000), list(1, 5000), model)['parameter']).toHaveLength(2);
  expect(() => diff(was, { resourceType: 'Basic' }, model)).toThrow(/one type/);
});
