import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { parseElements, selectElements } from '../../../runtime/format/summary-elements.js';
import { SUBSETTED } from '../../../runtime/fhir/meta.js';

const observation: Resource = {
  resourceType: 'Observation',
  id: 'o',
  implicitRules: 'r',
  text: { status: 'generated', div: '<div/>' },
  contained: [{ resourceType: 'Basic', id: 'b' }],
  modifierExtension: [{ url: 'u', valueCode: 'c' }],
  status: 'final',
  code: { text: 'c' },
  subject: { reference: 'Patient/1', display: 'P' },
  valueQuantity: { value: 1 },
  _issued: { id: 'i' },
  note: [{ text: 'n' }],
};
/** What stays whatever is asked for. */
const always = {
  resourceType: 'Observation',
  id: 'o',
  meta: { tag: [SUBSETTED] },
  implicitRules: 'r',
  modifierExtension: [{ url: 'u', valueCode: 'c' }],
  status: 'final',
  code: { text: 'c' },
};

const select = (text: string, types: string[] = ['Observation']): Resource =>
  selectElements(observation, parseElements(text, types, tables), tables);

describe('_elements (search.html#elements)', () => {
  it.each<[string, Record<string, unknown>]>([
    ['subject', { subject: observation['subject'] }],
    ['Observation.subject', { subject: observation['subject'] }],
    [' subject , note ', { subject: observation['subject'], note: observation['note'] }],
    ['subject,Observation.note', { subject: observation['subject'], note: observation['note'] }],
    ['text', { text: observation['text'] }],
    ['DomainResource.text', { text: observation['text'] }],
    ['*.text', { text: observation['text'] }],
    ['Resource.id', {}],
    ['value', { valueQuantity: { value: 1 } }],
    ['value[x]', { valueQuantity: { value: 1 } }],
    ['valueQuantity', { valueQuantity: { value: 1 } }],
    ['valueString', { valueQuantity: { value: 1 } }],
    ['issued', { _issued: { id: 'i' } }],
    ['contained', { contained: observation['contained'] }],
    ['bodySite', {}],
  ])('%s', (text, expected) => {
    const before = structuredClone(observation);
    expect(select(text)).toEqual({ ...always, ...expected });
    expect(observation).toEqual(before);
  });

  it('of a type of which nothing was said, the whole', () => {
    expect(select('Patient.name', ['Patient', 'Observation'])).toBe(observation);
    expect(select('Patient.name,Observation.note', [])).toEqual({ ...always, note: observation['note'] });
  });

  it('an element that one of the types has', () => {
    expect(select('birthDate', ['Patient', 'Observation'])).toEqual(always);
    expect(select('birthDate', [])).toEqual(always);
  });

  it.each([
    ['foo', 'Observation has no element \\"foo\\"'],
    ['subject,foo', 'Observation has no element'],
    ['', 'has no element'],
    ['subject,', 'has no element'],
    ['subject[x]', 'has no element'],
    ['Observation.foo', 'Observation has no element'],
    ['Patient.subject', 'Patient has no element'],
    ['constructor', 'has no element'],
    ['subject.reference', 'outermost elements only'],
    ['Observation.subject.reference', 'outermost elements only'],
    ['Nobody.name', 'outermost elements only'],
    ['HumanName.family', 'outermost elements only'],
  ])('%j is refused', (text, message) => {
    expect(() => parseElements(text, ['Observation'], tables)).toThrow(FhirError);
    expect(() => parseElements(text, ['Observation'], tables)).toThrow(message.replaceAll('\\', ''));
  });

  it('a name that none of several types has is refused', () => {
    expect(() => parseElements('foo', ['Patient', 'Observation'], tables)).toThrow(
      'none of the resource types asked for',
    );
    expect(() => parseElements('foo', [], tables)).toThrow(FhirError);
  });
});
