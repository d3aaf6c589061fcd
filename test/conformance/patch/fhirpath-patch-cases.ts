/** One operation, its parts by name; a text stands for the string that a part mostly is. */
export type Step = Readonly<Record<string, string | number | Readonly<Record<string, unknown>>>>;

/** A patch, and what it makes of a Patient. */
export interface PatchCase {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly patch: readonly Step[];
  /** Undefined where the patch has to fail. */
  readonly output?: Readonly<Record<string, unknown>>;
  /** Whether the patch is also what is expected for the difference of the two. */
  readonly both: boolean;
}

const identifiers = (...values: readonly number[]): Readonly<Record<string, unknown>> => ({
  identifier: values.map((value) => ({ system: 'http://example.org', value: `value ${value}` })),
});
const third = { valueIdentifier: { system: 'http://example.org', value: 'value 3' } };
const move = (source: number, destination: number): Step => ({
  type: 'move',
  path: 'Patient.identifier',
  source,
  destination,
});
const contact = (gender: string | undefined, text: string | undefined): Readonly<Record<string, unknown>> => ({
  contact: [{ ...(text && { name: { text } }), ...(gender && { gender }) }],
});

/**
 * The cases of FHIR's own tests for FHIRPath Patch (`r5/patch/fhir-path-tests.xml` of fhir-test-cases), in JSON and
 * without the `resourceType`.
 */
export const SPECIFIED: readonly PatchCase[] = [
  {
    name: 'no difference',
    input: { birthDate: '1920-01-01' },
    patch: [],
    output: { birthDate: '1920-01-01' },
    both: true,
  },
  {
    name: 'replace a primitive',
    input: { birthDate: '1920-01-01' },
    patch: [{ type: 'replace', path: 'Patient.birthDate', value: { valueDate: '1930-01-01' } }],
    output: { birthDate: '1930-01-01' },
    both: true,
  },
  {
    name: 'delete a primitive',
    input: { birthDate: '1920-01-01' },
    patch: [{ type: 'delete', path: 'Patient.birthDate' }],
    output: {},
    both: true,
  },
  {
    name: 'add a primitive',
    input: {},
    patch: [{ type: 'add', path: 'Patient', name: 'birthDate', value: { valueDate: '1930-01-01' } }],
    output: { birthDate: '1930-01-01' },
    both: true,
  },
  {
    name: 'replace a nested primitive',
    input: contact('male', 'a name'),
    patch: [{ type: 'replace', path: 'Patient.contact[0].gender', value: { valueCode: 'female' } }],
    output: contact('female', 'a name'),
    both: true,
  },
  {
    name: 'replace a nested primitive, two levels down',
    input: contact('male', 'a name'),
    patch: [{ type: 'replace', path: 'Patient.contact[0].name.text', value: { valueString: 'the name' } }],
    output: contact('male', 'the name'),
    both: true,
  },
  {
    name: 'delete a nested primitive',
    input: contact('male', 'a name'),
    patch: [{ type: 'delete', path: 'Patient.contact[0].gender' }],
    output: contact(undefined, 'a name'),
    both: true,
  },
  {
    name: 'delete a nested primitive, and with it what held it',
    input: contact('male', 'a name'),
    patch: [{ type: 'delete', path: 'Patient.contact[0].name.text' }],
    output: contact('male', undefined),
    both: false,
  },
  {
    name: 'add a nested primitive',
    input: contact(undefined, 'a name'),
    patch: [{ type: 'add', path: 'Patient.contact[0]', name: 'gender', value: { valueCode: 'male' } }],
    output: contact('male', 'a name'),
    both: true,
  },
  {
    name: 'add a complex value',
    input: {},
    patch: [
      { type: 'add', path: 'Patient', name: 'maritalStatus', value: { valueCodeableConcept: { text: 'married' } } },
    ],
    output: { maritalStatus: { text: 'married' } },
    both: true,
  },
  {
    name: 'replace a complex value',
    input: { maritalStatus: { id: '1', text: 'married' } },
    patch: [
      {
        type: 'replace',
        path: 'Patient.maritalStatus',
        value: { valueCodeableConcept: { id: '2', text: 'not married' } },
      },
    ],
    output: { maritalStatus: { id: '2', text: 'not married' } },
    both: true,
  },
  {
    name: 'delete a complex value',
    input: { maritalStatus: { text: 'married' } },
    patch: [{ type: 'delete', path: 'Patient.maritalStatus' }],
    output: {},
    both: true,
  },
  {
    name: 'add an anonymous type',
    input: {},
    patch: [
      {
        type: 'add',
        path: 'Patient',
        name: 'contact',
        value: { part: [{ name: 'name', valueHumanName: { text: 'a name' } }] },
      },
    ],
    output: contact(undefined, 'a name'),
    both: true,
  },
  {
    name: 'delete an anonymous type',
    input: contact(undefined, 'a name'),
    patch: [{ type: 'delete', path: 'Patient.contact[0]' }],
    output: {},
    both: true,
  },
  { name: 'list unchanged', input: identifiers(1, 2), patch: [], output: identifiers(1, 2), both: true },
  {
    name: 'list unchanged, contents changed',
    input: {
      identifier: [
        { id: 'a', system: 'http://example.org', value: 'value 1' },
        { id: 'b', system: 'http://example.org', value: 'value 2' },
      ],
    },
    patch: [
      { type: 'replace', path: 'Patient.identifier[0].value', value: { valueString: 'value 2' } },
      { type: 'replace', path: 'Patient.identifier[1].value', value: { valueString: 'value 1' } },
    ],
    output: {
      identifier: [
        { id: 'a', system: 'http://example.org', value: 'value 2' },
        { id: 'b', system: 'http://example.org', value: 'value 1' },
      ],
    },
    both: true,
  },
  ...[2, 1, 0].map((index): PatchCase => {
    const output = [1, 2];
    output.splice(index, 0, 3);
    return {
      name: `insert at ${index}`,
      input: identifiers(1, 2),
      patch: [{ type: 'insert', path: 'Patient.identifier', index, value: third }],
      output: identifiers(...output),
      both: true,
    };
  }),
  ...[0, 1, 2].map((index): PatchCase => ({
    name: `delete at ${index}`,
    input: identifiers(1, 2, 3),
    patch: [{ type: 'delete', path: `Patient.identifier[${index}]` }],
    output: identifiers(...[1, 2, 3].filter((_, i) => i !== index)),
    both: true,
  })),
  {
    name: 'move 3 to 1',
    input: identifiers(1, 2, 3, 4),
    patch: [move(3, 1)],
    output: identifiers(1, 4, 2, 3),
    both: true,
  },
  {
    name: 'move 3 to 0',
    input: identifiers(1, 2, 3, 4),
    patch: [move(3, 0)],
    output: identifiers(4, 1, 2, 3),
    both: true,
  },
  // Either of the two may be the one that moves.
  {
    name: 'move 3 to 2',
    input: identifiers(1, 2, 3, 4),
    patch: [move(3, 2)],
    output: identifiers(1, 2, 4, 3),
    both: false,
  },
  {
    name: 'move 0 to 3',
    input: identifiers(1, 2, 3, 4),
    patch: [move(0, 3)],
    output: identifiers(2, 3, 4, 1),
    both: true,
  },
  {
    name: 'move 1 to 0, then 2 to 1',
    input: identifiers(1, 2, 3, 4),
    patch: [move(1, 0), move(2, 1)],
    output: identifiers(2, 3, 1, 4),
    both: false,
  },
  {
    name: 'move three',
    input: identifiers(1, 2, 3, 4),
    patch: [move(3, 0), move(3, 1), move(3, 2)],
    output: identifiers(4, 3, 2, 1),
    both: false,
  },
  {
    name: 'add to what is missing',
    input: { identifier: [{ use: 'official', value: '123' }] },
    patch: [
      {
        type: 'add',
        path: "Patient.identifier.where(use = 'official').period",
        name: 'end',
        value: { valueDate: '2021-12-01' },
      },
    ],
    both: false,
  },
  {
    name: 'add to a list that is not there yet',
    input: {},
    patch: [{ type: 'add', path: 'Patient', name: 'identifier', value: third }],
    output: identifiers(3),
    both: true,
  },
  {
    name: 'narrative, and a name among others',
    input: {
      id: 'example',
      text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml"><b>Chalmers</b></div>' },
      active: true,
      name: [
        { use: 'official', family: 'Chalmers', given: ['Peter', 'James'] },
        { use: 'usual', given: ['Jim'] },
      ],
      birthDate: '1974-12-25',
      _birthDate: { extension: [{ url: 'http://example.org/birthTime', valueDateTime: '1974-12-25T14:35:45-05:00' }] },
      deceasedBoolean: false,
    },
    patch: [
      {
        type: 'replace',
        path: 'Patient.text.div',
        value: { valueString: '<div xmlns="http://www.w3.org/1999/xhtml"><b>Chalmers1</b></div>' },
      },
      { type: 'replace', path: 'Patient.name[0].family', value: { valueString: 'Chalmers1' } },
    ],
    output: {
      id: 'example',
      text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml"><b>Chalmers1</b></div>' },
      active: true,
      name: [
        { use: 'official', family: 'Chalmers1', given: ['Peter', 'James'] },
        { use: 'usual', given: ['Jim'] },
      ],
      birthDate: '1974-12-25',
      _birthDate: { extension: [{ url: 'http://example.org/birthTime', valueDateTime: '1974-12-25T14:35:45-05:00' }] },
      deceasedBoolean: false,
    },
    both: true,
  },
];
