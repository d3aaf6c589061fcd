import { parameter } from './stored-parameters-subject.js';

const at = (name: string): string => `http://example.org/${name}`;

/** Parameters of every form, in the order of their codes. */
export const PARAMETERS = [
  parameter('x-born', {
    type: 'date',
    expression: `Patient.birthDate.extension.where(url = '${at('born')}').value.ofType(dateTime)`,
  }),
  parameter('x-children', { type: 'number', expression: 'Patient.name.given.count()' }),
  parameter('x-colour', { expression: `Patient.extension('${at('colour')}').value.ofType(Coding)` }),
  parameter('x-extension', { type: 'uri', expression: 'Patient.extension.url', modifier: ['missing'] }),
  parameter('x-friend', {
    type: 'reference',
    target: ['Practitioner'],
    expression: `Patient.extension('${at('friend')}').value.ofType(Reference)`,
  }),
  parameter('x-given', { type: 'string', expression: "Patient.name.given.join('+')" }),
  parameter('x-measure', { base: ['Observation'], type: 'quantity', expression: 'Observation.value.ofType(Quantity)' }),
  parameter('x-measured', {
    base: ['Observation'],
    type: 'composite',
    expression: 'Observation',
    component: [
      { definition: 'http://hl7.org/fhir/SearchParameter/clinical-code', expression: 'code' },
      { definition: 'http://example.org/SearchParameter/x-measure', expression: 'value.ofType(Quantity)' },
    ],
  }),
  parameter('x-phone', { type: 'string', expression: "Patient.telecom.where(system = 'phone').value" }),
  parameter('x-prefix', { type: 'string', expression: 'Patient.name.prefix' }),
  parameter('x-single', { expression: 'Patient.name.suffix.single()' }),
  parameter('x-story', { base: ['DomainResource'], expression: 'DomainResource.text.status' }),
  parameter('x-tongue', {
    base: ['Patient', 'Practitioner'],
    expression: 'Patient.communication.language | Practitioner.communication.language',
  }),
  parameter('x-visit', {
    type: 'date',
    expression: `Patient.extension('${at('visit')}').value.ofType(dateTime)`,
    comparator: ['eq', 'ge'],
    multipleOr: false,
    multipleAnd: false,
  }),
];

const concept = (code: string): object => ({ coding: [{ system: 'urn:test', code }] });

const GERMAN = { coding: [{ system: 'urn:ietf:bcp:47', code: 'de' }] };

/** One that each finds, and one that none does. */
export const RESOURCES = [
  {
    resourceType: 'Practitioner',
    id: 'dora',
    name: [{ family: 'Quill' }],
    communication: [{ language: GERMAN }],
  },
  {
    resourceType: 'Patient',
    id: 'yes',
    _birthDate: { id: 'b', extension: [{ url: at('born'), valueDateTime: '1990-01-02T03:04:05Z' }] },
    text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">x</div>' },
    name: [{ prefix: ['Dame'], given: ['Ann', 'Bea'] }],
    telecom: [
      { system: 'phone', value: '0123' },
      { system: 'email', value: '0999' },
    ],
    communication: [{ language: GERMAN }],
    extension: [
      { url: at('colour'), valueCoding: { system: 'urn:test', code: 'red' } },
      { url: at('friend'), valueReference: { reference: 'Practitioner/dora' } },
      { url: at('visit'), valueDateTime: '2024-05-06' },
    ],
  },
  { resourceType: 'Patient', id: 'no', name: [{ given: ['Cleo'] }], telecom: [{ system: 'email', value: '0123' }] },
  {
    resourceType: 'Observation',
    id: 'yes',
    status: 'final',
    code: concept('mass'),
    subject: { reference: 'Patient/yes' },
    valueQuantity: { value: 5, system: 'http://unitsofmeasure.org', code: 'kg', unit: 'kg' },
  },
  {
    resourceType: 'Observation',
    id: 'no',
    status: 'final',
    code: concept('size'),
    subject: { reference: 'Patient/no' },
    valueQuantity: { value: 7, system: 'http://unitsofmeasure.org', code: 'kg', unit: 'kg' },
  },
];

/** Searches by these parameters, and what they find. */
export const SEARCHES: readonly (readonly [search: string, found: readonly string[]])[] = [
  ['Patient?x-born=1990-01-02T03:04:05Z', ['Patient/yes']],
  ['Patient?x-children=2', ['Patient/yes']],
  ['Patient?x-colour=urn:test|red', ['Patient/yes']],
  ['Patient?x-colour:not=red', ['Patient/no']],
  [`Patient?x-extension=${at('friend')}`, ['Patient/yes']],
  ['Patient?x-extension:missing=true', ['Patient/no']],
  ['Patient?x-friend=Practitioner/dora', ['Patient/yes']],
  ['Patient?x-friend.name=quill', ['Patient/yes']],
  ['Practitioner?_has:Patient:x-friend:x-prefix=dame', ['Practitioner/dora']],
  ['Patient?x-prefix=dame&_include=Patient:x-friend', ['Patient/yes', 'Practitioner/dora']],
  ['Practitioner?_revinclude=Patient:x-friend', ['Practitioner/dora', 'Patient/yes']],
  ['Patient?x-given=ann%2Bbea', ['Patient/yes']],
  ['Observation?x-measure=5000|http://unitsofmeasure.org|g', ['Observation/yes']],
  ['Observation?x-measured=mass$5', ['Observation/yes']],
  ['Observation?x-measured=mass$7', []],
  ['Observation?_sort=-x-measure', ['Observation/no', 'Observation/yes']],
  ['Observation?_sort=x-measure', ['Observation/yes', 'Observation/no']],
  ['Observation?subject:Patient.x-colour=red', ['Observation/yes']],
  ['Patient?x-phone=01', ['Patient/yes']],
  ['Patient?x-story=generated', ['Patient/yes']],
  ['Patient?x-tongue=de', ['Patient/yes']],
  ['Practitioner?x-tongue=de', ['Practitioner/dora']],
  ['Patient?x-visit=2024-05', ['Patient/yes']],
  ['Patient?x-visit=ge2024', ['Patient/yes']],
];

/** Searches that the definitions of these parameters do not admit, and our code of what is wrong. */
export const REFUSED_SEARCHES: readonly (readonly [search: string, code: string])[] = [
  ['Patient?x-visit=lt2030', 'prefix-unknown'],
  ['Patient?x-visit=2024,2025', 'parameter-invalid'],
  ['Patient?x-visit=2024&x-visit=2025', 'parameter-invalid'],
  [`Patient?x-extension:below=${at('friend')}`, 'modifier-unknown'],
  ['Practitioner?x-phone=1', 'parameter-unknown'],
];

/** What is not put into effect: what is changed of a good one, our code, the element, and some of the words. */
export const REFUSED: readonly (readonly [
  name: string,
  more: Readonly<Record<string, unknown>>,
  code: 'search-parameter-invalid' | 'search-parameter-conflict',
  element: string,
  words: RegExp,
])[] = [
  [
    'an element that there is not',
    { expression: 'Patient.active | Patient.nam.given' },
    'search-parameter-invalid',
    'expression',
    /\(character 26\): Patient has no element nam \(line 1, column \d+\)$/,
  ],
  [
    'a constraint, which would have to be evaluated',
    { constraint: 'active = true' },
    'search-parameter-invalid',
    'constraint',
    /put the condition into the expression/,
  ],
  [
    'what a primitive has not',
    { expression: 'Patient.birthDate.extensions' },
    'search-parameter-invalid',
    'expression',
    /date has no element extensions/,
  ],
  [
    'no FHIRPath',
    { expression: 'Patient.name.(given' },
    'search-parameter-invalid',
    'expression',
    /\(character 14\): expected a name/,
  ],
  [
    'an element that there is not, behind what only the library knows',
    { expression: "Patient.name.given.join('+') & Patient.nope" },
    'search-parameter-invalid',
    'expression',
    /\(character 40\): Patient has no element nope/,
  ],
  [
    'what tomorrow is another',
    { expression: 'Patient.birthDate < today()' },
    'search-parameter-invalid',
    'expression',
    /\(character 21\): the function today\(\)/,
  ],
  [
    'values of another type',
    { type: 'quantity', expression: 'Patient.name' },
    'search-parameter-invalid',
    'expression',
    /HumanName, which cannot be searched as quantity/,
  ],
  [
    'another type than base says',
    { expression: 'Observation.code' },
    'search-parameter-invalid',
    'expression',
    /starts from Patient/,
  ],
  ['no expression', { expression: undefined }, 'search-parameter-invalid', 'expression', /needs an expression/],
  [
    'too long',
    { expression: `Patient.${'a'.repeat(5000)}` },
    'search-parameter-invalid',
    'expression',
    /5008 characters, and may have 4000/,
  ],
  [
    'too many alternatives',
    { expression: Array.from({ length: 101 }, (_, i) => `Patient.name[${i}].use`).join(' | ') },
    'search-parameter-invalid',
    'expression',
    /101 alternatives/,
  ],
  ['processingMode', { processingMode: 'phonetic' }, 'search-parameter-invalid', 'processingMode', /only "normal" is/],
  ['special', { type: 'special' }, 'search-parameter-invalid', 'type', /"special" is not supported/],
  ['a code as the specification has them', { code: '_mine' }, 'search-parameter-invalid', 'code', /"_mine" cannot be/],
  [
    'a base that there is not',
    { base: ['Patience'] },
    'search-parameter-invalid',
    'base[0]',
    /"Patience" is no resource type/,
  ],
  [
    'a component that there is not',
    {
      type: 'composite',
      expression: 'Patient',
      component: [
        { definition: 'http://x/none', expression: 'name' },
        { definition: 'http://x/none', expression: 'name' },
      ],
    },
    'search-parameter-invalid',
    'component[0].definition',
    /names no parameter/,
  ],
  [
    'the code of a built-in one',
    { code: 'birthdate' },
    'search-parameter-conflict',
    'code',
    /Patient has the built-in parameter birthdate .* no other definition can replace; .* the status "draft"/,
  ],
  [
    'the same, of some type below',
    { base: ['Resource'], code: 'gender', expression: 'Resource.id' },
    'search-parameter-conflict',
    'code',
    /has the built-in parameter gender/,
  ],
  [
    'the url of a built-in one',
    { url: 'http://hl7.org/fhir/SearchParameter/Patient-active' },
    'search-parameter-conflict',
    'url',
    /url of a built-in/,
  ],
  [
    'the code of a stored one, of a type above',
    { base: ['DomainResource'], code: 'x-colour', expression: 'DomainResource.id' },
    'search-parameter-conflict',
    'code',
    /^SearchParameter\.code: Patient has the stored parameter x-colour \(http:\/\/example\.org\/SearchParameter\/x-colour\) already/,
  ],
  [
    'no FHIRPath, in a description of a built-in one: once it was stored',
    { url: 'http://hl7.org/fhir/SearchParameter/individual-gender', code: 'gender', expression: 'Patient.gender.((' },
    'search-parameter-invalid',
    'expression',
    /^SearchParameter\.expression: "Patient\.gender\.\(\(" \(character 16\): expected a name/,
  ],
  [
    'the url of a stored one',
    { url: 'http://example.org/SearchParameter/x-colour' },
    'search-parameter-conflict',
    'url',
    /^SearchParameter\.url: another active search parameter has the url/,
  ],
];
