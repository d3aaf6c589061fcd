import { parameter } from '../../service/stored-parameters/stored-parameters-subject.js';

/** Patients whose number is the same modulo this are found by the same values. */
export const KINDS = 50;

const at = (name: string): string => `http://example.org/${name}`;

/** A Patient of a kind; each of its values tells the kind. */
export function patientOf(id: string, kind: number): Readonly<Record<string, unknown>> {
  const concept = (code: string): object => ({ coding: [{ system: 'urn:kind', code }] });
  return {
    resourceType: 'Patient',
    id,
    name: [{ family: `Family${kind}`, given: [`Given${kind}`], prefix: [`P${kind}`], suffix: [`S${kind}`] }],
    gender: 'female',
    birthDate: String(1900 + kind),
    multipleBirthInteger: kind + 1,
    telecom: [
      { system: 'phone', value: `phone${kind}` },
      { system: 'email', value: `mail${kind}` },
    ],
    generalPractitioner: [{ reference: `Practitioner/p${kind}` }, { reference: `Organization/o${kind}` }],
    communication: [{ language: concept(`language${kind}`) }],
    maritalStatus: concept(`status${kind}`),
    extension: [
      { url: at('colour'), valueCoding: { system: 'urn:kind', code: `colour${kind}` } },
      { url: at('shape'), valueCoding: { system: 'urn:kind', code: `shape${kind}` } },
      { url: at('place'), valueUri: `urn:place:${kind}` },
      { url: at('plan'), valueUri: `urn:plan:${kind}` },
      { url: at('age'), valueInteger: 1900 + kind },
      { url: at('visit'), valueDateTime: String(1700 + kind) },
    ],
  };
}

/** What finds a kind. */
interface Way {
  readonly definition: Readonly<Record<string, unknown>>;
  /** Behind the code in a search. */
  readonly value: (kind: number) => string;
}

/** A parameter, and another definition of it that finds no Patient by the values of the first, and none the other way round. */
export interface Shape {
  readonly code: string;
  readonly first: Way;
  readonly second: Way;
}

const shape = (
  code: string,
  more: Readonly<Record<string, unknown>>,
  first: readonly [expression: string, value: Way['value']],
  second: readonly [expression: string, value: Way['value']],
): Shape => {
  const way = ([expression, value]: typeof first): Way => ({
    definition: parameter(code, { ...more, expression }),
    value,
  });
  return { code, first: way(first), second: way(second) };
};

const component = (last: string): object[] => [
  { definition: 'http://hl7.org/fhir/SearchParameter/individual-gender', expression: 'gender' },
  { definition: 'http://hl7.org/fhir/SearchParameter/individual-phone', expression: last },
];

const composite = (last: string, value: Way['value']): Way => ({
  definition: parameter('x-both', { type: 'composite', expression: 'Patient', component: component(last) }),
  value,
});

/** Parameters of ten shapes. */
export const SHAPES: readonly Shape[] = [
  // Plain.
  shape('x-plain', { type: 'string' }, ['Patient.name.prefix', (k) => `:exact=P${k}`], ['Patient.name.suffix', (k) => `:exact=S${k}`]), // prettier-ignore
  // ofType.
  shape('x-birth', { type: 'number' }, ['Patient.multipleBirth.ofType(integer)', (k) => `=${k + 1}`], [`Patient.extension('${at('age')}').value.ofType(integer)`, (k) => `=${1900 + k}`]), // prettier-ignore
  // where.
  shape('x-phone', { type: 'string' }, ["Patient.telecom.where(system = 'phone').value", (k) => `:exact=phone${k}`], ["Patient.telecom.where(system = 'email').value", (k) => `:exact=mail${k}`]), // prettier-ignore
  // Extensions, of a Coding and of a uri.
  shape('x-colour', {}, [`Patient.extension('${at('colour')}').value.ofType(Coding)`, (k) => `=colour${k}`], [`Patient.extension('${at('shape')}').value.ofType(Coding)`, (k) => `=shape${k}`]), // prettier-ignore
  shape('x-place', { type: 'uri' }, [`Patient.extension('${at('place')}').value.ofType(uri)`, (k) => `=urn:place:${k}`], [`Patient.extension('${at('plan')}').value.ofType(uri)`, (k) => `=urn:plan:${k}`]), // prettier-ignore
  // Composite.
  {
    code: 'x-both',
    first: composite("telecom.where(system = 'phone')", (k) => `=female$phone${k}`),
    second: composite("telecom.where(system = 'email')", (k) => `=female$mail${k}`),
  },
  // What only the library knows.
  shape('x-whole', { type: 'string' }, ["Patient.name.select(family & ' ' & given.first())", (k) => `:exact=Family${k}%20Given${k}`], ["Patient.name.select(given.first() & ' ' & family)", (k) => `:exact=Given${k}%20Family${k}`]), // prettier-ignore
  // References to some types alone.
  shape('x-doctor', { type: 'reference', target: ['Practitioner', 'Organization'] }, ['Patient.generalPractitioner.where(resolve() is Practitioner)', (k) => `=Practitioner/p${k}`], ['Patient.generalPractitioner.where(resolve() is Organization)', (k) => `=Organization/o${k}`]), // prettier-ignore
  // Dates.
  shape('x-when', { type: 'date' }, ['Patient.birthDate', (k) => `=${1900 + k}`], [`Patient.extension('${at('visit')}').value.ofType(dateTime)`, (k) => `=${1700 + k}`]), // prettier-ignore
  // Alternatives.
  shape('x-tongue', {}, ['Patient.communication.language | Patient.gender', (k) => `=language${k}`], ['Patient.maritalStatus | Patient.gender', (k) => `=status${k}`]), // prettier-ignore
];
