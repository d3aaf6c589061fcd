import { describe, expect, it } from 'vitest';
import { readReference } from '../../../runtime/path/reference-text.js';

describe('literal references (https://hl7.org/fhir/R5/references.html#literal)', () => {
  it.each([
    ['Patient/1', { type: 'Patient', id: '1' }],
    ['Patient/1/_history/2', { type: 'Patient', id: '1', version: '2' }],
    ['http://a.org/fhir/Patient/1', { type: 'Patient', id: '1', base: 'http://a.org/fhir' }],
    ['https://a.org/Patient/1/_history/v2', { type: 'Patient', id: '1', version: 'v2', base: 'http://a.org' }],
  ])('%s', (text, expected) => {
    expect(readReference(text)).toEqual(expected);
  });
  it.each([
    '',
    '/',
    '#a',
    '1',
    'Patient',
    'Patient/',
    '/Patient/1',
    'x/Patient/1',
    'http:/Patient/1',
    'http:///Patient/1',
    'patient/1',
    'Patient/1/_history/',
    'Patient/_history/1',
    '/_history/1',
    'Patient/1#x',
    'Patient?identifier=x|1/2',
    `Patient/${'1'.repeat(65)}`,
    'urn:uuid:c757873d-ec9a-4326-a141-556f43239520',
    'urn:oid:1.2.3',
    'http://hl7.org/fhir/StructureDefinition/a_b',
  ])('%j is none', (text) => {
    expect(readReference(text)).toBeUndefined();
  });
});
