import { observation, patient, right, text, wrong, type HardCase } from './hard-case.js';

const EXTENSION = { extension: [{ url: 'u:x', valueCode: 'a' }] };
const SUBSETTED = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'SUBSETTED' };
const org = (more: object): object => ({ resourceType: 'Organization', id: 'o', name: 'x', ...more });
const held = (contained: unknown): object => patient({ contained, managingOrganization: { reference: '#o' } });
const number = (value: string): string => text(`"extension":[{"url":"u:x","valueDecimal":${value}}]`);

/** Texts that are no JSON. */
const BROKEN: Readonly<Record<string, string>> = {
  'two commas': '"active":true,,"gender":"male"',
  'no comma': '"active":true "gender":"male"',
  'no colon': '"active" true',
  'a list that ends like an object': '"name":[{"family":"a"}}',
  'a list without commas': '"name":[{"family":"a"}{"family":"b"}]',
  'a name that is no text': '1:true',
  'a tab in a text': '"name":[{"family":"a\tb"}]',
  'an escape that is too short': String.raw`"name":[{"family":"\u00e"}]`,
  'an escape in capitals': String.raw`"name":[{"family":"\N"}]`,
  'the second half of a pair alone': String.raw`"name":[{"family":"\udc00"}]`,
  'a text that does not end': '"name":[{"family":"a}]',
  'a form feed between names': '"active":true,\f"gender":"male"',
  'a space without break between names': '"active":true,\u00a0"gender":"male"',
  'a line of comment': '"active":true // x\n',
  'a comment with #': '"active":true # x\n',
  'half of true': '"active":tru',
  undefined: '"active":undefined',
};

const NO_NUMBERS = ['0x10', 'Infinity', '-Infinity', '-', '--1', '1e', '1e+', '00.5', '-01', '1_000', '1,5', '.5e1'];

/** Names that come twice, wherever they are. */
const TWICE: Readonly<Record<string, string>> = {
  'in an extension': '"extension":[{"url":"u:x","valueCode":"a","valueCode":"a"}]',
  'in the second of a list': '"name":[{"family":"a"},{"family":"b","family":"b"}]',
  'in a contained resource': '"contained":[{"resourceType":"Organization","id":"o","name":"x","name":"x"}],"managingOrganization":{"reference":"#o"}',
  'resourceType of a contained resource': '"contained":[{"resourceType":"Organization","resourceType":"Organization","id":"o","name":"x"}],"managingOrganization":{"reference":"#o"}',
  'in meta': '"meta":{"source":"u:a","source":"u:a"}',
  'beside a primitive': '"birthDate":"2024","_birthDate":{"id":"a"},"_birthDate":{"id":"a"}',
  'with lists': '"name":[{"family":"a"}],"name":[{"family":"a"}]',
  'far from each other': '"active":true,"name":[{"family":"a"}],"gender":"male","active":true',
}; // prettier-ignore

/** RFC 8259 and https://hl7.org/fhir/R5/json.html, continued. */
export const FURTHER_JSON_CASES: readonly HardCase[] = [
  ...Object.entries(BROKEN).map(([name, members]) => wrong(name, text(members))),
  ...NO_NUMBERS.map((each) => wrong(`the number ${each}`, number(each))),
  ...Object.entries(TWICE).map(([name, members]) => wrong(`a name twice ${name}`, text(members))),
  right('one name in two objects', text('"name":[{"family":"a"},{"family":"b"}]')),
  // null
  ...['extension', 'contained', 'text', 'meta', 'id', 'name', 'birthDate', '_birthDate', 'implicitRules'].map((name) =>
    // A create ignores the id.
    wrong(`null for ${name}`, patient({ active: true, [name]: null }), name === 'id' ? { isCreated: true } : {}),
  ),
  wrong('null among extensions', patient({ extension: [null] })),
  wrong('null among contained', held([null, org({})])),
  wrong('null among profiles', patient({ meta: { profile: [null] } })),
  wrong('null among entries', { resourceType: 'Bundle', type: 'collection', entry: [null] }),
  wrong('null alone in a list of primitives', patient({ name: [{ given: [null] }] })),
  wrong('null alone beside a list', patient({ name: [{ family: 'x', _given: [null] }] })),
  right('an extension beside null', patient({ name: [{ given: [null], _given: [EXTENSION] }] })),
  right('a list of extensions alone', patient({ name: [{ _given: [EXTENSION] }] })),
  wrong('more beside a list than in it', patient({ name: [{ given: ['a'], _given: [null, EXTENSION] }] })),
  wrong('null in both lists', patient({ name: [{ given: ['a', null], _given: [EXTENSION, null] }] })),
  wrong('an empty list beside a list', patient({ name: [{ given: ['a'], _given: [] }] })),
  wrong('an empty object beside a list', patient({ name: [{ given: ['a'], _given: [{}] }] })),
  wrong('an id alone', patient({ _birthDate: { id: 'a' } })),
  wrong('an object with an id alone', patient({ name: [{ id: 'a' }] }), { isCreated: true }),
  // What has no sibling
  wrong('a sibling of the url of an extension', patient({ extension: [{ url: 'u:x', _url: EXTENSION, valueCode: 'a' }] })), // prettier-ignore
  wrong('a sibling of the id of an element', patient({ name: [{ id: 'a', _id: EXTENSION, family: 'x' }] })),
  wrong('a sibling of resourceType', patient({ active: true, _resourceType: EXTENSION })),
  wrong('a sibling of a contained resource', { ...held([org({})]), _contained: [EXTENSION] }),
  // Empty
  ...Object.entries({
    'meta {}': { meta: {} },
    'text {}': { text: {} },
    'contained []': { contained: [] },
    'contained [{}]': { contained: [{}] },
    'extension []': { extension: [] },
    'extension [{}]': { extension: [{}] },
    'an empty period': { name: [{ period: {} }] },
    'an empty given': { name: [{ given: [''] }] },
    'an empty list of given': { name: [{ given: [] }] },
    'an empty language': { language: '' },
    'an empty code': { gender: '' },
    'an empty reference': { managingOrganization: { reference: '' } },
  }).map(([name, more]) => wrong(name, patient({ active: true, ...more }))),
  wrong('an empty id', patient({ id: '' }), { isCreated: true }),
  wrong('a number as id', patient({ id: 5 }), { isCreated: true }),
  // Forms
  ...Object.entries({
    'meta []': { meta: [] },
    'contained {}': { contained: org({}) },
    'a text for a number': { multipleBirthInteger: '2' },
    'a number for a boolean': { active: 1 },
    'a boolean for a date': { birthDate: true },
    'a list of lists of texts': { name: [{ given: [['a']] }] },
    'an object for a list of texts': { name: [{ given: { 0: 'a' } }] },
    'a text for a coding': { maritalStatus: { coding: ['M'] } },
    'a text for a reference': { managingOrganization: 'Organization/1' },
    'a name in a name that there is not': { name: [{ surname: 'x' }] },
    'a name in meta that there is not': { meta: { version: '1' } },
    'a resource for a data type': { managingOrganization: org({}) },
  }).map(([name, more]) => wrong(name, patient({ active: true, ...more }))),
  wrong('contained without type', held([{ id: 'o', name: 'x' }])),
  wrong('contained of an abstract type', held([{ resourceType: 'Resource', id: 'o' }])),
  wrong('contained with an element that there is not', held([org({ colour: 'x' })])),
  wrong('an entry without type', { resourceType: 'Bundle', type: 'collection', entry: [{ fullUrl: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a', resource: { active: true } }] }), // prettier-ignore
  wrong('resourceType in a list', { resourceType: ['Patient'] }, { type: 'Patient' }),
  wrong('resourceType null', { resourceType: null }, { type: 'Patient' }),
  wrong('resourceType with a space', { resourceType: 'Patient ' }, { type: 'Patient' }),
  right('a required element that has extensions only', observation({ status: undefined, _status: EXTENSION })),
  wrong('a required element that has an id only', observation({ status: undefined, _status: { id: 'a' } })),
  // Extensions
  wrong('an extension with a relative url', patient({ extension: [{ url: 'abc', valueCode: 'a' }] })),
  wrong('a modifier extension with a relative url', patient({ modifierExtension: [{ url: 'abc', valueCode: 'a' }] })),
  wrong('an extension of a primitive with a relative url', patient({ _birthDate: { extension: [{ url: 'abc', valueCode: 'a' }] } })), // prettier-ignore
  wrong('an extension with an id alone', patient({ extension: [{ url: 'u:x', id: 'a' }] })),
  wrong('an extension with a url that has a space', patient({ extension: [{ url: 'http://x.org/a b', valueCode: 'a' }] })), // prettier-ignore
  wrong('an extension with a list of values', patient({ extension: [{ url: 'u:x', valueString: ['a'] }] })),
  wrong('an extension with an empty list within', patient({ extension: [{ url: 'u:x', extension: [] }] })),
  wrong('an extension within one, with a value of no type', patient({ extension: [{ url: 'u:x', extension: [{ url: 'a', valueFoo: 1 }] }] })), // prettier-ignore
  wrong('an extension within one, without anything', patient({ extension: [{ url: 'u:x', extension: [{ url: 'a' }] }] })), // prettier-ignore
  right('an extension with a value that is absent for a reason', patient({ extension: [{ url: 'u:x', _valueCode: EXTENSION }] })), // prettier-ignore
  wrong('a modifier extension in an extension', patient({ extension: [{ url: 'u:x', valueCode: 'a', modifierExtension: [{ url: 'u:y', valueCode: 'b' }] }] })), // prettier-ignore
  // https://hl7.org/fhir/R5/search.html#summary
  wrong('what a summary returned', patient({ active: true, meta: { tag: [SUBSETTED] } })),
];
