import { expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { splitBranches } from '../../../runtime/path/expression/branches.js';
import { faultOfParameter, readParameterSet } from '../../../runtime/indexing/parameters/parameter-set.js';
import { processorTime } from '../../processor-time.js';
import { parameter } from '../../service/stored-parameters/stored-parameters-subject.js';
import { codesOf, context, failed, faultOf, stored, withStored } from './stored-extractor.js';

const GIVEN = 'http://hl7.org/fhir/SearchParameter/individual-given';
const composite = (count: number, expression: string) => ({
  type: 'composite',
  expression: 'Patient',
  component: Array.from({ length: count }, () => ({ definition: GIVEN, expression })),
});

it('brackets within brackets take time in proportion to the text', () => {
  const deep = `${'('.repeat(30_000)}a${')'.repeat(30_000)}`;
  let unions = 'a';
  for (let i = 0; i < 5000; i++) unions = `(b|${unions})`;
  const took = processorTime();
  expect(splitBranches(deep)).toEqual(['a']);
  expect(splitBranches(unions)).toHaveLength(5001);
  expect(took()).toBeLessThan(2000);
});

it('all together are bounded: some forty whose rows were larger than a text may be kept a store from being opened', () => {
  const expression = Array.from({ length: 6 }, (_, n) => `Resource.meta.tag[${n}]`).join(' | ');
  const wide = Array.from({ length: 60 }, (_, n) =>
    parameter(`x-${n + 10}`, { base: tables.resourceTypes, expression }),
  );
  const { parameters, refused } = readParameterSet(wide, context);
  const rows = parameters.flatMap((each) => [...each.rows]);
  expect(parameters.length).toBeGreaterThan(5);
  expect(JSON.stringify(rows).length).toBeLessThan(5_000_000);
  expect(refused.length).toBeGreaterThan(40);
  expect([...new Set(refused.map(({ fault }) => fault.text))]).toEqual([
    expect.stringMatching(/^all stored parameters in effect would be too large together/),
  ]);
});

it('what words are taken of is counted as values are', () => {
  const display = (n: number) => ({ code: `c${n}`, display: `word${n}` });
  const coding = Array.from({ length: 300 }, (_, n) => display(n));
  const each = Array.from({ length: 99 }, (_, n) => `Patient.maritalStatus.coding.skip(${n})`).join(' | ');
  const extract = withStored(
    parameter('x-many', { expression: each }),
    parameter('x-a', { expression: 'Patient.maritalStatus' }),
  );
  const entries = extract({ resourceType: 'Patient', maritalStatus: { text: 'happily', coding } });
  const words = stored(entries).filter(({ kind }) => kind === 'words');
  expect([failed(entries), words.map(({ param }) => param)]).toEqual([['x-many'], ['x-a']]);
});

it('a composite is bounded as its expression is: 16 kB took 26 seconds', () => {
  const deep = `${'('.repeat(1990)}name.given${')'.repeat(1990)}`;
  const took = processorTime();
  expect(faultOf(composite(4, deep))).toBeUndefined();
  expect(faultOf(composite(4, `(${deep}${' '.repeat(20)})`))).toBe(
    'component.0.expression has 4012 characters, and may have 4000',
  );
  expect(faultOf(composite(9, 'name.given'))).toBe('component has 9 components, and may have 8');
  const ways = Array.from({ length: 100 }, (_, n) => `name[${n}].given`).join('|');
  expect(faultOf(composite(8, ways))).toBeUndefined();
  expect(faultOf({ ...composite(8, ways), expression: 'Patient | Patient.where(active = true)' })).toBeUndefined();
  expect(faultOf({ ...composite(8, `${ways}|name.given`) })).toMatch(/^component.0.expression has 101 alternatives/);
  expect(faultOf({ ...composite(8, 'id'), base: ['DomainResource', ...tables.resourceTypes.slice(0, 120)] })).toMatch(
    /^expression /,
  );
  expect(took()).toBeLessThan(500);
});

it('what is tried is counted, not what a base has nothing to do with', () => {
  // As the definitions of the specification have it: each type by its name.
  const bases = tables.types.filter(({ name }) => tables.resourceTypes.includes(name)).map(({ name }) => name);
  const some = bases.slice(0, 60);
  const expression = some.map((name) => `${name}.id`).join(' | ');
  expect(faultOf({ base: some, expression })).toBeUndefined();
  const untold = Array.from({ length: 20 }, (_, n) => `meta.tag[${n}]`).join(' | ');
  expect(faultOf({ base: some, expression: untold })).toMatch(/^expression leads 1000 ways and more: .* name the type/);
});

it('a composite is read once, until what it is made of is another', () => {
  const part = parameter('x-part', { type: 'string', expression: 'Patient.name.given' });
  const whole = parameter('x-whole', {
    type: 'composite',
    expression: 'Patient',
    component: ['x-part', 'x-part'].map((code) => ({
      definition: `http://example.org/SearchParameter/${code}`,
      expression: 'name.given',
    })),
  });
  const read = (other: Readonly<Record<string, unknown>>) => {
    const { parameters } = readParameterSet([other, whole], context);
    return parameters.find(({ id }) => id === 'x-whole');
  };
  const first = read(part);
  expect(first).toBeDefined();
  expect(read({ ...part })).toBe(first);
  const coded = read({ ...part, code: 'x-other' });
  expect(coded?.rows.get('Patient')?.components?.map(({ code }) => code)).toEqual(['x-other', 'x-other']);
  expect(faultOfParameter(whole, [], context).fault?.isMissing).toBe(true);
  expect(read(part)?.rows).toEqual(first?.rows);
});

it('an alternative that none of the bases has is refused by name, not left out', () => {
  const both = { base: ['Patient', 'Practitioner'], type: 'string' };
  expect(
    faultOf({ ...both, expression: 'Patient.name.given | Practitioner.name.given | name.family' }),
  ).toBeUndefined();
  // The second is of one of them.
  expect(faultOf({ ...both, expression: 'name.given | contact.name.family' })).toBeUndefined();
  expect(faultOf({ ...both, expression: 'name.given | nam.family' })).toBe(
    'expression "nam.family" (character 14): Patient has no element nam',
  );
  expect(faultOf({ ...both, expression: 'name.given | Person.name.family' })).toBe(
    'expression "Person.name.family" starts from none of the types that base names: leave it out, or name its type there',
  );
  expect(faultOf({ base: ['Patient'], type: 'string', expression: 'Patient.name.given | Person.name.family' })).toMatch(
    /"Person.name.family" starts from none/,
  );
  expect(faultOf({ ...both, expression: "name.given | name.matches('a')" })).toMatch(/function matches\(\)/);
});

it('operators that bind less tightly than a union are read as such', () => {
  const patient = { resourceType: 'Patient', id: 'a', active: false, gender: 'male', name: [{ use: 'usual' }] };
  const find = (expression: string) => codesOf(expression, patient);
  // Taken apart, the second would find "male", and the third "usual".
  expect(find('Patient.active or Patient.active | false')).toEqual(['false']);
  expect(find("Patient.gender | Patient.name.use contains 'male'")).toEqual(['true']);
  expect(find("'female' in Patient.gender | Patient.name.use")).toEqual(['false']);
  expect(find('Patient.active implies Patient.active | false')).toEqual(['true']);
});

it.each([
  ['Patient.active is boolean', ['true']],
  ['Patient.active is FHIR.boolean', ['true']],
  ['Patient.active.not() is Boolean', ['true']],
  ['Patient.active.ofType(Boolean)', ['true']],
  ['Patient.name.family.ofType(System.String)', ['Grey']],
  ['Patient.descendants().ofType(boolean)', ['true']],
  ['Patient.descendants().ofType(date)', []],
  ['Patient.gender is string', ['true']],
  ['(Patient.name.family | Patient.gender).select($this as string)', ['Grey', 'male']],
  ['(1 + 1).ofType(Integer)', ['2']],
  ["'a'.ofType(String)", ['a']],
  // What is called alike in FHIR means that.
  ['Patient.active is Quantity', ['false']],
])('primitive types, and types of FHIRPath itself: %s', (expression, found) => {
  const patient = { resourceType: 'Patient', active: true, gender: 'male', name: [{ family: 'Grey' }] };
  expect(codesOf(expression, patient)).toEqual(found);
});

it.each(['Nothing', 'System.Nothing', 'System.boolean', 'FHIR.Boolean', 'Other.boolean'])(
  'there is no type %s',
  (name) => {
    expect(faultOf({ expression: `Patient.active is ${name}` })).toContain(`there is no type ${name}`);
    expect(faultOf({ expression: `Patient.active.ofType(${name})` })).toMatch(/no type|cannot be a Nothing/);
  },
);
