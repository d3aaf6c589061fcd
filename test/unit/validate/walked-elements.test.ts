import { describe, expect, it } from 'vitest';

import { extension, profile, rows, slice, snapshot } from './defined.js';
import { check } from './made.js';

const section = { code: { text: 'a' } };
const composition = (...sections: object[]): Record<string, unknown> => ({
  resourceType: 'Composition',
  section: sections,
});

describe('below an element that is defined like another one (https://hl7.org/fhir/R5/elementdefinition-definitions.html#ElementDefinition.contentReference)', () => {
  it('a differential may walk, at any depth', async () => {
    const deep = profile('deep', 'Composition', [
      { path: 'section.section.title', min: 1 },
      { path: 'section.section.section.code', min: 1 },
    ]);
    const made = snapshot(deep);
    expect(made.get('Composition.section.section.title')).toMatchObject({ min: 1, type: [{ code: 'string' }] });
    expect(made.get('Composition.section.section')?.contentReference).toBeUndefined();
    expect(made.get('Composition.section.title')?.min).toBe(0);
    // The walk ends there: the next one is like the first again, as the resource defines it.
    expect(made.get('Composition.section.section.section.section')?.contentReference).toBe(
      'http://hl7.org/fhir/StructureDefinition/Composition#Composition.section',
    );
    const inner = { title: 't', section: [{}, section] };
    expect(await check(composition({ section: [inner, {}] }, {}), rows(deep))).toEqual([
      'error cardinality Composition.section[0].section[0].section[0].code',
      'error cardinality Composition.section[0].section[1].title',
    ]);
  });

  it('what a profile says about the other one does not count there', async () => {
    const outer = profile('outer', 'Questionnaire', [
      { path: 'item.text', min: 1 },
      { path: 'item.item.prefix', min: 1 },
    ]);
    expect(snapshot(outer).get('Questionnaire.item.item.text')?.min).toBe(0);
    const item = [{ linkId: '1', type: 'group', text: 't', item: [{ linkId: '2', type: 'group' }] }];
    expect(await check({ resourceType: 'Questionnaire', status: 'draft', item }, rows(outer))).toEqual([
      'error cardinality Questionnaire.item[0].item[0].prefix',
    ]);
  });

  it('where the differential repeats the type of the element', () => {
    const repeated = profile('repeated', 'PlanDefinition', [
      { path: 'action.action', type: [{ code: 'BackboneElement' }] },
      { path: 'action.action.title', min: 1 },
    ]);
    expect(snapshot(repeated).get('PlanDefinition.action.action.title')?.min).toBe(1);
    const only = profile('only', 'PlanDefinition', [{ path: 'action.action', type: [{ code: 'BackboneElement' }] }]);
    expect(snapshot(only).get('PlanDefinition.action.action')).toMatchObject({
      contentReference: 'http://hl7.org/fhir/StructureDefinition/PlanDefinition#PlanDefinition.action',
    });
    expect(snapshot(only).get('PlanDefinition.action.action')?.type).toBeUndefined();
  });

  it('in slices', async () => {
    const sliced = profile('sliced', 'Parameters', [
      { path: 'parameter.part', slicing: { discriminator: [{ type: 'value', path: 'name' }], rules: 'closed' } },
      { path: 'parameter.part', sliceName: 'foo', min: 1, max: '1' },
      { path: 'parameter.part.name', fixedString: 'foo' },
      { path: 'parameter.part.value[x]', type: [{ code: 'Coding' }] },
      { path: 'parameter.part.value[x].code', min: 1 },
    ]);
    const made = snapshot(sliced);
    expect(made.get('Parameters.parameter.part:foo.value[x].code')?.min).toBe(1);
    expect(made.get('Parameters.parameter.part:foo.part')?.slicing).toBeUndefined();
    const of = (...part: object[]): Record<string, unknown> => ({
      resourceType: 'Parameters',
      parameter: [{ name: 'a', part }],
    });
    const right = { name: 'foo', valueCoding: { code: 'c' } };
    expect(await check(of(right), rows(sliced))).toEqual([]);
    expect(await check(of({ name: 'foo', valueCoding: {} }, { name: 'bar' }), rows(sliced))).toEqual([
      'error slicing Parameters.parameter[0].part[1]',
      'error cardinality Parameters.parameter[0].part[0].value.code',
    ]);
  });
});

describe('below a choice', () => {
  const patient = (...of: object[]): Record<string, unknown> => ({ resourceType: 'Patient', extension: of });

  it('that the same differential constrains to one type', async () => {
    const one = profile('one', 'Observation', [
      { path: 'value[x]', type: [{ code: 'Quantity' }] },
      { path: 'value[x].unit', min: 1 },
    ]);
    expect(snapshot(one).get('Observation.value[x].unit')?.min).toBe(1);
    const observation = { resourceType: 'Observation', status: 'final', code: {} };
    expect(await check({ ...observation, valueQuantity: { value: 1 } }, rows(one))).toEqual([
      'error cardinality Observation.value.unit',
    ]);
  });

  it('that the definition of the extension constrains to one type', async () => {
    const id = extension('id', [{ path: 'value[x]', min: 1, type: [{ code: 'Identifier' }] }]);
    const user = profile('user', 'Patient', [
      slice('id', id.url),
      { path: 'extension.value[x].use', min: 1 },
      { path: 'extension.value[x].system', patternUri: 'urn:a' },
    ]);
    expect(snapshot(user, id).get('Patient.extension:id.value[x].use')?.min).toBe(1);
    const of = (valueIdentifier: object): Record<string, unknown> => patient({ url: id.url, valueIdentifier });
    expect(await check(of({ use: 'usual', system: 'urn:a' }), rows(user, id))).toEqual([]);
    expect(await check(of({ system: 'urn:b' }), rows(user, id))).toEqual([
      'error cardinality Patient.extension[0].value.use',
      'error pattern Patient.extension[0].value.system',
    ]);
  });

  it('with the short name for the one type that it may have, means the choice itself', async () => {
    const text = extension('text', [{ path: 'value[x]', type: [{ code: 'string' }] }]);
    const user = profile('user', 'Patient', [slice('text', text.url), { path: 'extension.valueString', maxLength: 2 }]);
    const made = snapshot(user, text);
    expect(made.get('Patient.extension:text.value[x]')).toMatchObject({ maxLength: 2 });
    expect([...made.keys()].filter((id) => id.includes('valueString'))).toEqual([]);
    expect(await check(patient({ url: text.url, valueString: 'abc' }), rows(user, text))).toEqual([
      'error maxLength Patient.extension[0].value',
    ]);
  });

  it('of several references of different profiles, which are of one type', () => {
    const references = profile('references', 'Observation', [
      {
        path: 'subject',
        type: ['Patient', 'Group'].map((each) => ({
          code: 'Reference',
          targetProfile: [`http://hl7.org/fhir/StructureDefinition/${each}`],
        })),
      },
      { path: 'subject.display', min: 1 },
    ]);
    expect(snapshot(references).get('Observation.subject.display')?.min).toBe(1);
    const observation = { resourceType: 'Observation', status: 'final', code: {}, subject: {} };
    return expect(check(observation, rows(references))).resolves.toEqual([
      'error cardinality Observation.subject.display',
    ]);
  });

  it('of several types is refused; the text says how many, and which profile is missing', () => {
    const several = profile('several', 'Observation', [{ path: 'value[x].unit', min: 1 }]);
    expect(() => snapshot(several)).toThrow('it may be of 13 types, and has to be constrained to one first');
    const user = profile('user', 'Patient', [
      slice('id', 'http://x.org/nowhere'),
      { path: 'extension.value[x].use', min: 1 },
    ]);
    expect(() => snapshot(user)).toThrow('these profiles are not known here: http://x.org/nowhere');
  });
});

describe('below an element whose type has a profile', () => {
  it('the elements are those of the profile', async () => {
    const named = profile('named', 'HumanName', [{ path: 'family', min: 1 }]);
    const user = profile('user', 'Patient', [
      { path: 'name', type: [{ code: 'HumanName', profile: [named.url] }] },
      { path: 'name.given', min: 1 },
    ]);
    const made = snapshot(user, named);
    expect(made.get('Patient.name.family')?.min).toBe(1);
    expect(made.get('Patient.name.given')?.min).toBe(1);
    const found = await check(
      { resourceType: 'Patient', name: [{ given: ['A'] }, { family: 'B' }] },
      rows(user, named),
    );
    expect(new Set(found)).toEqual(
      new Set(['error cardinality Patient.name[0].family', 'error cardinality Patient.name[1].given']),
    );
  });

  it('also those of a complex extension, with its fixed url and without a value', async () => {
    const nation = extension('nation', [
      { path: 'extension', sliceName: 'code', min: 1, max: '1' },
      { path: 'extension.url', fixedUri: 'code' },
      { path: 'extension.value[x]', min: 1, type: [{ code: 'CodeableConcept' }] },
      { path: 'value[x]', max: '0' },
    ]);
    const user = profile('user', 'Patient', [
      slice('nation', nation.url),
      { path: 'extension.extension', sliceName: 'code' },
      { path: 'extension.extension.value[x].text', min: 1 },
    ]);
    const made = snapshot(user, nation);
    expect(made.get('Patient.extension:nation.url')).toMatchObject({ fixedUri: nation.url });
    expect(made.get('Patient.extension:nation.value[x]')?.max).toBe('0');
    expect(made.get('Patient.extension:nation.extension:code')).toMatchObject({ min: 1, max: '1' });
    expect(made.get('Patient.extension:nation.extension:code.value[x].text')?.min).toBe(1);
    const of = (valueCodeableConcept: object): Record<string, unknown> => ({
      resourceType: 'Patient',
      extension: [{ url: nation.url, extension: [{ url: 'code', valueCodeableConcept }] }],
    });
    expect(await check(of({ text: 'DE' }), rows(user, nation))).toEqual([]);
    expect(await check(of({ coding: [] }), rows(user, nation))).toEqual([
      'error cardinality Patient.extension[0].extension[0].value.text',
    ]);
  });
});
