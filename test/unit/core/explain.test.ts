import { beforeAll, describe, expect, it } from 'vitest';
import { explain } from '../../../generator/explain.js';
import { GeneratorError } from '../../../generator/generator-error.js';
import type { Model } from '../../../generator/model/model.js';
import { ourModel } from '../../generator/our-model.js';

let model: Model;

beforeAll(async () => {
  model = await ourModel();
});

/** What is said, line by line, without what aligns it. */
const lines = (path: string): string[] =>
  explain(model, path)
    .split('\n')
    .map((line) => line.trim().replaceAll(/ {2,}/g, '  '));

/** The refusal: its message, then its details. */
function refusal(path: string): string[] {
  try {
    explain(model, path);
  } catch (error) {
    if (error instanceof GeneratorError) return [error.message, ...error.details];
    throw error;
  }
  return [];
}

describe('kiln explain of a type', () => {
  it('shows a resource type: elements, inherited ones marked, rules, searches, operations, compartments', () => {
    const said = lines('Patient');
    expect(said.slice(0, 4)).toEqual([
      'Patient: resource, extends DomainResource',
      'Information about an individual or animal receiving health care services',
      'http://hl7.org/fhir/StructureDefinition/Patient',
      'elements:',
    ]);
    expect(said).toEqual(
      expect.arrayContaining([
        'meta  0..1  Meta  (of DomainResource)',
        'deceased[x]  0..1  boolean | dateTime',
        'contact  0..*  Patient.contact',
        'dom-4 (error): If a resource is contained in another resource, it SHALL NOT have a meta.versionId or a meta.lastUpdated',
        'birthdate  date  Patient.birthDate',
        '$match  type  Find patient matches using MPI based logic',
        'in compartments of Patient, Practitioner, RelatedPerson',
      ]),
    );
  });

  it('shows a backbone type with its cardinality', () => {
    const said = lines('Patient.contact');
    expect(said[0]).toBe('Patient.contact: backbone, extends BackboneElement, 0..*');
    expect(said).toContain('relationship  0..*  CodeableConcept');
  });

  it('shows a datatype and an abstract type', () => {
    expect(lines('Age')[0]).toBe('Age: datatype, extends Quantity');
    expect(lines('DomainResource')[0]).toBe('DomainResource: abstract resource, extends Resource');
  });

  it('shows a primitive', () => {
    expect(lines('positiveInt')).toEqual(
      expect.arrayContaining(['positiveInt: primitive, extends integer', 'json: number', 'min: 1', 'max: 2147483647']),
    );
  });
});

describe('kiln explain of an element', () => {
  it('shows its type, texts, binding with codes, flags and the searches that look at it', () => {
    expect(lines('Patient.gender')).toEqual([
      'Patient.gender  0..1  code',
      'male | female | other | unknown',
      '',
      'Administrative Gender - the gender that the patient is considered to have for administration and record keeping purposes.',
      '',
      'in Patient',
      'bound (required) to http://hl7.org/fhir/ValueSet/administrative-gender',
      'codes:',
      'male, female, other, unknown',
      'part of the summary',
      'searched by:',
      'Patient?gender  token',
    ]);
  });

  it('goes on into datatypes', () => {
    expect(lines('Patient.contact.name')[0]).toBe('Patient.contact.name  0..1  HumanName');
    expect(lines('Patient.name.family')[0]).toBe('HumanName.family  0..1  string');
    expect(lines('Observation.valueQuantity.unit')[0]).toBe('Quantity.unit  0..1  string');
    expect(lines('CodeSystem.concept.concept.display')[0]).toBe('CodeSystem.concept.display  0..1  string');
  });

  it('shows targets', () => {
    expect(lines('Patient.generalPractitioner')).toContain(
      'Reference to: Organization, Practitioner, PractitionerRole',
    );
  });

  it('shows where an inherited one comes from, and the searches at that place', () => {
    const said = lines('Patient.meta');
    expect(said).toContain('in Patient, inherited from DomainResource');
    expect(said).toContain('Resource?_tag  token');
  });

  it.each(['Observation.value[x]', 'Observation.value'])('shows the choice %s with all its forms', (path) => {
    const said = lines(path);
    expect(said[0]).toMatch(/^Observation\.value\[x\] {2}0\.\.1 {2}Quantity \| CodeableConcept \| string \|/);
    expect(said).toContain('valueQuantity, valueCodeableConcept, valueString, valueBoolean, valueInteger, valueRange,');
    expect(said).toContain('Observation?value-quantity  quantity');
    expect(said).not.toContain('Observation?component-value-quantity  quantity');
  });

  it('shows one form of a choice', () => {
    const said = lines('Observation.valueQuantity');
    expect(said[0]).toBe('Observation.valueQuantity  0..1  Quantity, one form of value[x]');
    expect(said).not.toContain('Reference to: MolecularSequence');
  });
});

describe('kiln explain of a search parameter', () => {
  it('shows what it looks at, as values of which type', () => {
    expect(lines('Patient?name')).toEqual(
      expect.arrayContaining(['Patient?name: string search parameter', 'looks at:', 'Patient.name  HumanName']),
    );
  });

  it('takes a whole search, and an inherited parameter', () => {
    expect(lines('Observation?date=ge2020')[0]).toBe('Observation?date: date search parameter');
    expect(lines('Patient?_id:not=1')[0]).toBe('Patient?_id: token search parameter, inherited from Resource');
  });

  it('says of a definition that serves many types what concerns this one', () => {
    expect(lines('Observation?date')).toContain('Clinically relevant time/time-period for observation');
    expect(explain(model, 'Observation?date')).not.toContain('CarePlan');
  });

  it('says which references lead up a hierarchy', () => {
    expect(lines('Location?partof')).toContain('hierarchy: its references lead up, level by level');
    expect(lines('Location.partOf')).toContain('hierarchy: refers to what this is below');
    expect(explain(model, 'Location?organization')).not.toContain('hierarchy');
    expect(explain(model, 'Patient.link.other')).not.toContain('hierarchy');
  });

  it('shows components', () => {
    const said = lines('Observation?code-value-quantity');
    expect(said).toEqual(expect.arrayContaining(['components:', 'value-quantity (quantity)']));
    expect(said).toContain('value.ofType(Quantity)  Quantity');
  });
});

describe('kiln explain of an operation', () => {
  it('shows how it is called, its parameters and scopes', () => {
    expect(lines('Patient/$everything')).toEqual(
      expect.arrayContaining([
        '$everything: Fetch Patient Record',
        'called by GET or POST on type, instance',
        '_since  in  0..1  instant',
        'type  Patient.rs, and r or s on each type concerned; what lacks it is left out; more with: security context',
      ]),
    );
  });

  it('shows all of a name where no type is given, and those of every type on any', () => {
    expect(lines('$export').filter((line) => line.startsWith('$export:'))).toHaveLength(3);
    expect(lines('Flag/$validate')[0]).toBe('$validate: Validate a resource');
  });
});

describe('kiln explain of what is not there', () => {
  it.each([
    ['patinet', 'patinet: no type patinet; did you mean Patient?'],
    ['patient', 'patient: no type patient; did you mean Patient?'],
    ['Patient.brithDate', 'Patient.brithDate: Patient has no element brithDate; did you mean birthDate?'],
    [
      'Observation.valueQuanity',
      'Observation.valueQuanity: Observation has no element valueQuanity; did you mean valueQuantity?',
    ],
    ['Patient?famly', 'Patient?famly: Patient has no search parameter famly; did you mean family?'],
    ['Pateint?name', 'Pateint?name: no resource type Pateint; did you mean Patient?'],
    ['$evrything', '$evrything: no operation $evrything; did you mean $everything?'],
    ['', ': a path begins with a type, such as Patient'],
  ])('%s is refused with the nearest names', (path, message) => {
    expect(refusal(path)[0]).toBe(message);
  });

  it('lists what there is beside it', () => {
    expect(refusal('Patient.contact.x')[1]).toBe(
      'known here: id, extension, modifierExtension, relationship, name, telecom, address, gender, organization, period',
    );
    expect(refusal('Observation/$match')).toEqual([
      'Observation/$match: $match is not an operation of Observation',
      'known here: Patient',
    ]);
  });

  it('says why a path cannot go on', () => {
    expect(refusal('Patient.birthDate.x')).toEqual([
      'Patient.birthDate.x: birthDate is a date, which has no elements to go on to',
    ]);
    expect(refusal('Observation.value.unit')[0]).toBe(
      'Observation.value.unit: value[x] has several types; name one form',
    );
  });
});
