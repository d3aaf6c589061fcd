import { describe, expect, it } from 'vitest';
import { tables } from '../../../generated/tables.js';
import { Decimal } from '../../../runtime/fhir/decimal.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { processorTime } from '../../processor-time.js';

const validate = createValidator(tables);
/** Code and expression of each fault. */
const faults = (resource: unknown): string[] =>
  validate(resource).map(({ code, expression }) => `${code} ${expression}`);
const patient = (content: object): string[] => faults({ resourceType: 'Patient', ...content });
const observation = (content: object): string[] =>
  faults({ resourceType: 'Observation', status: 'final', code: { text: 'x' }, ...content });
const DIV = '<div xmlns="http://www.w3.org/1999/xhtml"/>';
const texts = (resource: object): string[] => validate(resource).map(({ text }) => text);

describe('what XML could not hold (xml.html), because what is accepted can be asked for in XML', () => {
  it('U+FFFE and U+FFFF, in text of any kind and length', () => {
    for (const bad of ['\ufffe', '\uffff', `${'x'.repeat(50)}\uffff`]) {
      expect(
        patient({ language: bad, implicitRules: bad, name: [{ text: bad }], contact: [{ name: { text: bad } }] }),
      ).toEqual([
        'bad-primitive Patient.language',
        'bad-primitive Patient.implicitRules',
        'bad-primitive Patient.name[0].text',
        'bad-primitive Patient.contact[0].name.text',
      ]);
    }
    expect(patient({ name: [{ text: '\ufffd \u{1fffe} \ud7ff\ue000' }] })).toEqual([]);
  });
  it('a narrative that is not well-formed: what and where', () => {
    const resource = {
      resourceType: 'Patient',
      text: { status: 'generated', div: `${DIV.slice(0, -2)}>\n <p>a<br></p></div>` },
    };
    expect(texts(resource)).toEqual([
      'Patient.text.div: no narrative in XHTML: line 2, column 10: expected "</br>", not "</p>"',
    ]);
    expect(texts({ resourceType: 'Patient', text: { status: 'generated', div: '<div>x</div>' } })[0]).toContain(
      'the div needs xmlns="http://www.w3.org/1999/xhtml"',
    );
    expect(patient({ text: { status: 'generated', div: DIV } })).toEqual([]);
  });
});

describe('unknown properties (json.html#json)', () => {
  it('are told with the nearest names', () => {
    expect(texts({ resourceType: 'Patient', birthdate: '2020' })).toEqual([
      'Patient.birthdate: Patient has no property "birthdate"; did you mean "birthDate" or "_birthDate"?',
    ]);
    expect(texts({ resourceType: 'Patient', contact: [{ nmae: {}, gender: 'male' }] })).toEqual([
      'Patient.contact[0].nmae: Patient.contact has no property "nmae"; it has id, extension, modifierExtension, relationship, name, telecom, address, gender, organization, period',
    ]);
  });
  it('a choice without its type is told the types', () => {
    expect(texts({ resourceType: 'Patient', deceased: true })[0]).toMatch(
      /did you mean "deceasedBoolean" or "deceasedDateTime"/,
    );
  });
  it('names of objects that JavaScript has are no exception', () => {
    expect(patient({ constructor: 1, toString: 1, hasOwnProperty: 1 })).toEqual([
      'unknown-property Patient.constructor',
      'unknown-property Patient.toString',
      'unknown-property Patient.hasOwnProperty',
    ]);
    const text = '{"resourceType":"Patient","__proto__":{"x":1},"name":[{"__proto__":1,"text":"x"}]}';
    expect(faults(JSON.parse(text))).toEqual([
      'unknown-property Patient.__proto__',
      'unknown-property Patient.name[0].__proto__',
    ]);
  });
  it('a name that is no identifier, or endless, does not get into the expression', () => {
    expect(patient({ 'a b': 1 })).toEqual(['unknown-property Patient']);
    expect(patient({ name: [{ ['x'.repeat(1e6)]: 1 }] })).toEqual(['unknown-property Patient.name[0]']);
    expect(texts({ resourceType: 'Patient', ['x'.repeat(1e6)]: 1 })[0]!.length).toBeLessThan(500);
  });
  it('comments of old are named', () => {
    expect(texts({ resourceType: 'Patient', fhir_comments: ['x'] })[0]).toMatch(/comments are no longer part of FHIR/);
  });
  it('complex elements and ids have no sibling', () => {
    expect(patient({ name: [{ text: 'x' }], _name: [{ id: 'x' }], id: 'x', _id: { id: 'x' } })).toEqual([
      'unknown-property Patient._name',
      'unknown-property Patient._id',
    ]);
    expect(patient({ text: { status: 'generated', div: DIV, _div: { id: 'x' } } })).toEqual([
      'unknown-property Patient.text._div',
    ]);
  });
});

describe('resources and resourceType (json.html#resources)', () => {
  it.each([[null], [undefined], [5], ['Patient'], [[]], [{}], [{ resourceType: 1 }], [new Decimal('1.0')]])(
    '%j is none',
    (value) => {
      expect(faults(value)).toEqual([expect.stringMatching(/^(?:not-a-resource|null-value) Resource$/)]);
    },
  );
  it('a type that nobody knows', () => {
    expect(faults({ resourceType: 'Pateint' })).toEqual(['unknown-resource-type Pateint.resourceType']);
    for (const resourceType of ['Resource', 'DomainResource', 'HumanName', 'Patient.contact', '__proto__', '']) {
      expect(validate({ resourceType })[0]?.code).toBe('unknown-resource-type');
    }
  });
  it('a resource where a datatype should be', () => {
    expect(patient({ name: [{ resourceType: 'HumanName', text: 'x' }] })).toEqual([
      'misplaced-resource Patient.name[0].resourceType',
    ]);
  });
  it('elements that are called resourceType are left alone (Consent.provision)', () => {
    const provision = [{ resourceType: [{ code: 'x' }] }];
    expect(faults({ resourceType: 'Consent', status: 'active', provision })).toEqual([]);
  });
  it('within others: contained, entries, parameters', () => {
    expect(patient({ contained: [{ resourceType: 'Group', id: 'x', name: 5 }, { id: 'x' }, null] })).toEqual(
      [
        'missing-element Patient.contained[0].type',
        'missing-element Patient.contained[0].membership',
        'wrong-type Patient.contained[0].name',
        'not-a-resource Patient.contained[1]',
        'null-value Patient.contained[2]',
      ].sort((a, b) => order(a) - order(b)),
    );
    expect(
      faults({ resourceType: 'Bundle', type: 'batch', entry: [{ resource: { resourceType: 'Patient', x: 1 } }] }),
    ).toEqual(['unknown-property Bundle.entry[0].resource.x']);
    expect(faults({ resourceType: 'Parameters', parameter: [{ name: 'x', resource: { resourceType: 'Y' } }] })).toEqual(
      ['unknown-resource-type Parameters.parameter[0].resource.resourceType'],
    );
  });
  const order = (fault: string): number => (fault.startsWith('wrong-type') ? 0 : fault.includes('[0]') ? 1 : 2);
  it('only the id of a resource has the form of an id', () => {
    expect(patient({ id: 'a_b' })).toEqual(['bad-primitive Patient.id']);
    expect(patient({ name: [{ id: 'a_b[x]:c', text: 'x' }] })).toEqual([]);
  });
});

describe('cardinality (json.html#arrays)', () => {
  it('missing elements, each of them', () => {
    expect(faults({ resourceType: 'Observation' })).toEqual([
      'missing-element Observation.status',
      'missing-element Observation.code',
    ]);
    expect(texts({ resourceType: 'Patient', link: [{ type: 'refer' }] })).toEqual([
      'Patient.link[0]: "other" is required',
    ]);
    expect(validate({ resourceType: 'Patient', link: [{ type: 'refer' }] })[0]).toMatchObject({
      code: 'missing-element',
      issue: 'required',
      expression: 'Patient.link[0].other',
      path: ['link', 0],
    });
  });
  it('a required primitive may have extensions instead of a value', () => {
    const extension = [{ url: 'http://x', valueCode: 'unknown' }];
    expect(observation({ status: undefined })).toContain('wrong-type Observation.status');
    expect(faults({ resourceType: 'Observation', _status: { extension }, code: { text: 'x' } })).toEqual([]);
    expect(faults({ resourceType: 'Observation', _status: { id: 'x' }, code: { text: 'x' } })).toEqual([
      'no-content Observation.status',
    ]);
  });
  it('arrays where they should be and only there', () => {
    expect(patient({ name: { text: 'x' }, gender: ['male'], maritalStatus: [{ text: 'x' }] })).toEqual([
      'not-an-array Patient.name',
      'too-many Patient.gender',
      'too-many Patient.maritalStatus',
    ]);
    expect(patient({ name: [[{ text: 'x' }]] })).toEqual(['wrong-type Patient.name[0]']);
  });
  it('nothing is empty', () => {
    expect(patient({ name: [], contact: [{}], maritalStatus: {}, gender: '', photo: [{ title: '' }] })).toEqual([
      'empty-array Patient.name',
      'empty-object Patient.contact[0]',
      'empty-object Patient.maritalStatus',
      'empty-string Patient.gender',
      'empty-string Patient.photo[0].title',
    ]);
  });
  it('null stands for nothing', () => {
    expect(patient({ gender: null, name: [null], contact: null })).toEqual([
      'null-value Patient.gender',
      'null-value Patient.name[0]',
      'null-value Patient.contact',
    ]);
  });
});

describe('primitives and their siblings (json.html#primitive)', () => {
  const extension = [{ url: 'http://x', valueCode: 'unknown' }];
  const given = (given: unknown, _given?: unknown): string[] =>
    patient({ name: [{ ...(given === undefined ? {} : { given }), ...(_given === undefined ? {} : { _given }) }] });
  it('values', () => {
    expect(
      texts({ resourceType: 'Patient', birthDate: '2023-02-31', active: 'true', multipleBirthInteger: 1.5 }),
    ).toEqual([
      'Patient.birthDate: "2023-02-31" is no date: YYYY, YYYY-MM or YYYY-MM-DD, and a day of the calendar',
      'Patient.active: it is true or false (boolean), not a string',
      'Patient.multipleBirth: 1.5 is no integer: a whole number of 32 bits, without point and exponent',
    ]);
  });
  it('numbers keep their text', () => {
    const text = '{"resourceType":"Observation","status":"final","code":{"text":"x"},"valueQuantity":{"value":1.50}}';
    expect(faults(readJson(text))).toEqual([]);
    expect(faults(readJson('{"resourceType":"Patient","multipleBirthInteger":1.0}'))).toEqual([
      'bad-primitive Patient.multipleBirth',
    ]);
    expect(observation({ valueQuantity: new Decimal('1.0') })).toEqual(['wrong-type Observation.value']);
  });
  it('arrays are aligned', () => {
    expect(given(['a', null], [null, { extension }])).toEqual([]);
    expect(given(['a'], [null])).toEqual([]);
    expect(given(undefined, [{ extension }])).toEqual([]);
    expect(given(['a', null])).toEqual(['null-value Patient.name[0].given[1]']);
    expect(given(['a', null], [null, null])).toEqual(['null-value Patient.name[0].given[1]']);
    expect(given(['a', 'b'], [{ extension }])).toEqual(['misaligned-arrays Patient.name[0].given']);
    expect(given([null], [{ id: 'x' }])).toEqual(['no-content Patient.name[0].given[0]']);
    expect(given(undefined, [null])).toEqual(['null-value Patient.name[0].given[0]']);
    expect(given(['a'], { extension })).toEqual(['not-an-array Patient.name[0].given']);
  });
  it('siblings hold id and extensions', () => {
    expect(patient({ birthDate: '2020', _birthDate: { id: 'x' } })).toEqual([]);
    expect(patient({ _birthDate: { id: 'x', extension } })).toEqual([]);
    expect(patient({ birthDate: '2020', _birthDate: {} })).toEqual(['empty-object Patient.birthDate']);
    expect(patient({ birthDate: '2020', _birthDate: { value: 'x' } })).toEqual([
      'unknown-property Patient.birthDate.value',
    ]);
    expect(patient({ birthDate: '2020', _birthDate: 'x' })).toEqual(['wrong-type Patient.birthDate']);
    expect(patient({ birthDate: '2020', _birthDate: null })).toEqual(['null-value Patient.birthDate']);
    expect(validate({ resourceType: 'Patient', birthDate: '2020', _birthDate: {} })[0]?.path).toEqual(['_birthDate']);
  });
});

describe('choices (formats.html#choice)', () => {
  it('have one type', () => {
    expect(observation({ valueString: 'x', valueInteger: 1 })).toEqual(['bad-choice Observation.value']);
    expect(observation({ _valueString: { id: 'x' }, valueString: 'x' })).toEqual([]);
    expect(observation({ valueString: 'x', valueQuantity: { vlaue: 1 } })).toEqual([
      'bad-choice Observation.value',
      'unknown-property Observation.value.vlaue',
    ]);
    expect(observation({ valueString: 'x', _valueInteger: { extension: [{ url: 'x', valueId: 'x' }] } })).toEqual([
      'bad-choice Observation.value',
    ]);
  });
  it('a required one counts in any type', () => {
    expect(texts({ resourceType: 'Parameters', parameter: [{ name: 'x', valueSting: 'x' }] })).toHaveLength(1);
  });
});

describe('extensions (extensibility.html#Extension, ext-1)', () => {
  const extension = (...extension: unknown[]): string[] => patient({ extension });
  const inner = { url: 'http://y', valueString: 'x' };
  it('have a url, and a value or extensions', () => {
    expect(extension({ url: 'http://x', valueString: 'x' }, { url: 'http://x', extension: [inner] })).toEqual([]);
    expect(extension({ url: 'http://x', _valueString: { extension: [inner] } })).toEqual([]);
    expect(extension({ url: 'http://x' })).toEqual(['bad-extension Patient.extension[0]']);
    expect(extension({ url: 'http://x', valueString: 'x', extension: [inner] })).toEqual([
      'bad-extension Patient.extension[0]',
    ]);
    expect(extension({ valueString: 'x' })).toEqual(['missing-element Patient.extension[0].url']);
    expect(extension({})).toEqual(['empty-object Patient.extension[0]']);
    expect(extension({ url: 'http://x', valueStrng: 'x' })).toEqual([
      'unknown-property Patient.extension[0].valueStrng',
    ]);
  });
});

describe('what is found is bounded', () => {
  it('at most 100 faults, then one that says there are more', () => {
    const name = Array.from({ length: 250 }, () => ({ x: 1 }));
    expect(patient({ name })).toHaveLength(101);
    expect(patient({ name }).at(-1)).toBe('more-faults Patient');
    expect(patient({ name: name.slice(0, 100) })).toHaveLength(100);
    expect(validate({ resourceType: 'Patient', name }, { maxFaults: 3 })).toHaveLength(4);
  });
  it('what comes after these is not looked at: millions of unknown members took a minute to explain', () => {
    let looked = 0;
    const names = Array.from({ length: 5000 }, () => ({ x: 1 }));
    const name = new Proxy(names, {
      get: (target, key) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) looked++;
        return Reflect.get(target, key) as unknown;
      },
    });
    expect(patient({ name })).toHaveLength(101);
    expect(looked).toBeLessThan(150);
    const unknown = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`unknown${n}`, 1]));
    const elapsed = processorTime();
    expect(patient(unknown)).toHaveLength(101);
    expect(elapsed()).toBeLessThan(1000);
  });
  it('depth', () => {
    let extension: object = { url: 'x', valueString: 'x' };
    for (let i = 0; i < 20_000; i++) extension = { url: 'x', extension: [extension] };
    expect(validate({ resourceType: 'Patient', extension: [extension] }).map(({ code }) => code)).toEqual([
      'nested-too-deeply',
    ]);
  });
  it('an object full of junk takes hardly longer than looking at it', () => {
    const junk = Array.from({ length: 100_000 }, (_, i) => [`valueStrinx${i}`, null]);
    const extension = Object.fromEntries([['url', 'x'], ['valueString', 'x'], ['valueCode', 'x'], ...junk]) as object;
    const look = processorTime();
    let keys = 0;
    for (const _ in extension) keys++;
    const looked = look();
    const took = processorTime();
    expect(patient({ extension: [extension] })).toHaveLength(101);
    expect(keys).toBe(100_003);
    expect(took()).toBeLessThan(10 * looked + 1_000);
  });
  it('one call leaves nothing behind for the next', () => {
    expect(patient({ x: 1 })).toHaveLength(1);
    expect(patient({ active: true })).toEqual([]);
    const kept = validate({ resourceType: 'Patient', x: 1 });
    validate({ resourceType: 'Patient', y: 1 });
    expect(kept).toHaveLength(1);
  });
});
