import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { modifiersOf } from '../../../runtime/search/parse/modifiers.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import { utc } from '../../../runtime/indexing/values/zone.js';

const definitions = searchDefinitions(tables);

function parse(type: string, name: string, value: string): unknown {
  return parseCriterion(name, value, {
    rows: definitions.rowsOf(type),
    isResourceType: definitions.isResourceType,
    zone: utc,
    now: 0,
    own: new OwnBases(['http://here/fhir']),
    maxAlternatives: 10,
    hierarchy: { type, hierarchies: definitions.hierarchies() },
  });
}

function refusal(type: string, name: string, value: string): string {
  try {
    parse(type, name, value);
  } catch (error) {
    if (error instanceof FhirError) return `${error.status} ${error.code}: ${error.message}`;
    throw error;
  }
  return 'it is taken';
}

describe('hierarchies of resources', () => {
  it('are those of the types whose references lead up within the type', () => {
    expect(Object.fromEntries(definitions.hierarchies())).toEqual({
      CarePlan: ['based-on', 'part-of', 'replaces'],
      Communication: ['part-of'],
      Device: ['parent'],
      Encounter: ['part-of'],
      Location: ['partof'],
      Organization: ['partof'],
      Procedure: ['part-of'],
      ResearchStudy: ['part-of'],
      Specimen: ['parent'],
      Task: ['part-of'],
    });
  });
});

describe(':above and :below on references (search.html#modifierabove, #modifierbelow)', () => {
  const locations = { direction: 'below', type: 'Location', by: 'partof' };

  it.each([
    ['Procedure', 'location', 'Location/a', [{ ...locations, ids: ['a'] }]],
    ['Procedure', 'location', 'a', [{ ...locations, ids: ['a'] }]],
    ['Procedure', 'location', 'http://here/fhir/Location/a', [{ ...locations, ids: ['a'] }]],
    ['Procedure', 'location', 'a,b,Location/a', [{ ...locations, ids: ['a', 'b'] }]],
    ['Location', 'partof', 'a', [{ ...locations, ids: ['a'] }]],
    // The type that is searched has several: the parameter says which.
    ['CarePlan', 'replaces', 'a', [{ direction: 'below', type: 'CarePlan', by: 'replaces', ids: ['a'] }]],
    ['CarePlan', 'based-on', 'CarePlan/a', [{ direction: 'below', type: 'CarePlan', by: 'based-on', ids: ['a'] }]],
    [
      'Observation',
      'subject',
      'Device/d,Location/a,Device/e',
      [
        { direction: 'below', type: 'Device', by: 'parent', ids: ['d', 'e'] },
        { ...locations, ids: ['a'] },
      ],
    ],
  ])('%s?%s:below=%s names resources of one hierarchy each', (type, code, value, hierarchies) => {
    expect(parse(type, `${code}:below`, value)).toEqual({ param: code, hierarchies });
  });

  it('go up or down', () => {
    expect(parse('Procedure', 'location:above', 'a')).toMatchObject({ hierarchies: [{ direction: 'above' }] });
  });

  const NO_VALUE = 'is Type/id, a resource of this server without its version';
  it.each([
    ['Observation', 'subject:below', 'a', 'needs the type before the id, as in Type/id'],
    ['Procedure', 'location:below', 'http://elsewhere/fhir/Location/a', NO_VALUE],
    ['Procedure', 'location:below', 'Location/a/_history/1', NO_VALUE],
    ['Procedure', 'location:below', 'Location/a|1', NO_VALUE],
    ['Procedure', 'location:below', 'urn:uuid:1', NO_VALUE],
    ['Procedure', 'location:below', 'Nothing/a', NO_VALUE],
    ['Procedure', 'location:below', 'Location/', NO_VALUE],
    ['Procedure', 'location:below', 'a,', 'has an empty value between its commas'],
    ['Procedure', 'location:below', 'Patient/a', 'never refers to Patient, but to Location'],
    [
      'Observation',
      'subject:above',
      'Patient/a',
      'refers to Patient, which has no hierarchy of references; those of CarePlan, Communication, Device, Encounter, Location, ' +
        'Organization, Procedure, ResearchStudy, Specimen, Task are followed',
    ],
    // Its hierarchy is one of another type.
    ['AuditEvent', 'entity:below', 'EncounterHistory/a', 'refers to EncounterHistory, which has no hierarchy'],
    [
      'ServiceRequest',
      'based-on:above',
      'CarePlan/a',
      'refers to CarePlan, which has several hierarchies: only based-on, part-of, replaces of CarePlan itself take :above',
    ],
  ])('%s?%s=%s is refused: %s', (type, name, value, why) => {
    expect(refusal(type, name, value)).toContain(`400 parameter-invalid: The parameter "${name}" ${why}`);
  });

  it('are told of the parameters that can refer into a hierarchy', () => {
    const told = (type: string, code: string): readonly string[] =>
      modifiersOf(definitions.rowsOf(type).get(code)!, { type, hierarchies: definitions.hierarchies() }).filter(
        (modifier) => modifier === 'above' || modifier === 'below',
      );
    expect(told('Procedure', 'location')).toEqual(['above', 'below']);
    expect(told('CarePlan', 'replaces')).toEqual(['above', 'below']);
    expect(told('Observation', 'patient')).toEqual([]);
    // Of canonicals it compares versions.
    expect(told('StructureDefinition', 'base')).toEqual(['below']);
    expect(told('Patient', 'name')).toEqual([]);
    expect(refusal('Patient', 'name:below', 'x')).toContain('400 modifier-unknown');
  });
});
