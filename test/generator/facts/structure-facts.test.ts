import { beforeAll, describe, expect, it } from 'vitest';
import type { Element, Model, Structure } from '../../../generator/model/model.js';
import { PATIENCE } from '../command.js';
import { ourModel } from '../our-model.js';

let model: Model;
beforeAll(async () => {
  model = await ourModel();
}, PATIENCE);

function structure(name: string): Structure {
  const found = model.structures.find((each) => each.name === name);
  expect(found, name).toBeDefined();
  return found!;
}

function element(type: string, name: string): Element {
  const found = structure(type).elements.find((each) => each.name === name);
  expect(found, `${type}.${name}`).toBeDefined();
  return found!;
}

const own = ({ elements, inherited }: Structure): readonly Element[] => elements.slice(inherited);

/** All that a type stands on: `Patient` -> DomainResource, Resource, Base. */
function basesOf(name: string): readonly string[] {
  const { base } = structure(name);
  return base === undefined ? [] : [base, ...basesOf(base)];
}

describe('types (resourcelist.html, datatypes.html)', () => {
  it('158 resource types of R5 and one of SQL on FHIR, in code-point order, each with a capability row', () => {
    const names = model.structures
      .filter(({ kind, abstract }) => kind === 'resource' && !abstract)
      .map(({ name }) => name);
    expect(names).toHaveLength(159);
    expect(names).toEqual([...names].sort());
    expect(model.capabilities.map(({ type }) => type)).toEqual(names);
  });

  it('a resource stands on DomainResource or Resource; interfaces such as CanonicalResource are no types of content', () => {
    expect(basesOf('Patient')).toEqual(['DomainResource', 'Resource', 'Base']);
    expect(basesOf('Bundle')).toEqual(['Resource', 'Base']);
    expect(basesOf('HumanName')).toEqual(['DataType', 'Element', 'Base']);
    expect(basesOf('Patient.contact')).toEqual(['BackboneElement', 'Element', 'Base']);
    expect(basesOf('Timing.repeat')).toEqual(['Element', 'Base']);
    expect(structure('CanonicalResource').abstract).toBe(true);
  });

  it('what a type inherits stands at its front, element for element', () => {
    for (const { name, base, inherited, elements } of model.structures) {
      const front = elements.slice(0, inherited).map((each) => each.name);
      expect(front, name).toEqual(base === undefined ? [] : structure(base).elements.map((each) => each.name));
    }
  });

  it('Age is a Quantity with no element of its own, and with a rule of its own', () => {
    expect(structure('Age').base).toBe('Quantity');
    expect(own(structure('Age'))).toEqual([]);
    expect(structure('Age').rules).toContain('age-1');
    expect(structure('Quantity').rules).not.toContain('age-1');
  });

  it('the id of an element is any string, only that of a resource is an id (package trap 2)', () => {
    expect(element('Element', 'id').types).toEqual(['string']);
    expect(element('ElementDefinition', 'id').types).toEqual(['string']);
    expect(element('Patient.contact', 'id').types).toEqual(['string']);
    expect(element('Resource', 'id').types).toEqual(['id']);
    expect(element('Patient', 'id').types).toEqual(['id']);
    const typedId = model.structures.flatMap((each) =>
      own(each).filter(({ name, types }) => name === 'id' && types[0] === 'id'),
    );
    expect(typedId.map(({ path }) => path)).toEqual(['Resource.id']);
  });

  it('an element is an attribute in XML where its representation says so (xml.html)', () => {
    expect(element('Element', 'id').xml).toBe('attribute');
    expect(element('Extension', 'url').xml).toBe('attribute');
    expect(element('Narrative', 'div')).toMatchObject({ types: ['xhtml'], xml: 'xhtml', min: 1 });
    expect(element('Resource', 'id').xml).toBeUndefined();
  });
});

describe('recursion (elementdefinition.html, contentReference)', () => {
  it('is a name met again', () => {
    expect(element('Questionnaire.item', 'item').types).toEqual(['Questionnaire.item']);
    expect(element('Parameters.parameter', 'part').types).toEqual(['Parameters.parameter']);
    expect(element('ExampleScenario.process.step.alternative', 'step').types).toEqual(['ExampleScenario.process.step']);
  });

  it('is found in 27 elements of R5 and two of ViewDefinition', () => {
    const recursive = model.structures
      .filter(({ kind }) => kind === 'backbone')
      .flatMap((each) => own(each).filter(({ path, types }) => types.some((type) => path.startsWith(`${type}.`))));
    expect(recursive).toHaveLength(27 + 2);
  });

  it('another 51 elements have the content of one beside them', () => {
    const backbones = new Set(model.structures.filter(({ kind }) => kind === 'backbone').map(({ name }) => name));
    const references = model.structures
      .flatMap((each) => own(each))
      .filter(({ path, types }) => backbones.has(types[0] ?? '') && types[0] !== path);
    expect(references.filter(({ path, types }) => !path.startsWith(`${types[0] ?? ''}.`))).toHaveLength(78 - 27);
    expect(element('Observation.component', 'referenceRange').types).toEqual(['Observation.referenceRange']);
  });
});

describe('choice elements (formats.html#choice)', () => {
  it('keep the stem as name and have each type once', () => {
    expect(element('Observation', 'value')).toMatchObject({ choice: true, path: 'Observation.value[x]' });
    expect(element('Observation', 'value').types).toContain('Quantity');
    expect(element('Patient', 'deceased').types).toEqual(['boolean', 'dateTime']);
    for (const { path, types } of model.structures.flatMap(({ elements }) => elements)) {
      expect(new Set(types).size, path).toBe(types.length);
    }
  });

  it('that are open have 54 types', () => {
    expect(element('Extension', 'value').types).toHaveLength(54);
    expect(element('Parameters.parameter', 'value').types).toHaveLength(54);
  });

  it('alone have more than one type', () => {
    const several = model.structures.flatMap(({ elements }) => elements).filter(({ types }) => types.length > 1);
    expect(several.filter(({ choice }) => choice !== true)).toEqual([]);
  });

  it('with one type left are choice elements all the same', () => {
    const one = model.structures.flatMap(own).filter(({ choice, types }) => choice === true && types.length === 1);
    expect(one.every(({ path }) => path.endsWith('[x]'))).toBe(true);
  });
});

describe('elements', () => {
  it('hold any resource as Resource', () => {
    expect(element('Bundle.entry', 'resource').types).toEqual(['Resource']);
    expect(element('DomainResource', 'contained')).toMatchObject({ types: ['Resource'], max: '*' });
    expect(element('Parameters.parameter', 'resource').types).toEqual(['Resource']);
  });

  it('that refer know the types they may refer to; none named, or Resource, is any (references.html)', () => {
    expect(element('Patient', 'managingOrganization').targets).toEqual({ Reference: ['Organization'] });
    expect(element('MedicationRequest', 'medication').targets).toEqual({ CodeableReference: ['Medication'] });
    expect(element('Provenance', 'target').targets).toBeUndefined();
  });

  it('are bound without the version of the package (package trap 8)', () => {
    const bindings = model.structures.flatMap(({ elements }) =>
      elements.flatMap(({ binding, bound }) => [binding, bound]),
    );
    expect(bindings.filter((binding) => binding?.valueSet.includes('|'))).toEqual([]);
    expect(element('Patient', 'gender').binding).toEqual({
      strength: 'required',
      valueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender',
    });
    // An example binds nothing: it is text for people.
    expect(element('Condition', 'code')).not.toHaveProperty('binding');
    expect(element('Condition', 'code').bound?.strength).toBe('example');
  });

  it('are modifiers and parts of a summary where they say so', () => {
    expect(element('Patient', 'active')).toMatchObject({ modifier: true, summary: true });
    expect(element('Patient', 'photo')).not.toHaveProperty('summary');
  });
});

describe('rules (conformance-rules.html#constraints)', () => {
  it('inv-1 is three rules with ids of their own (package trap 9)', () => {
    const rules = model.invariants.filter(({ id }) => id.startsWith('inv-1'));
    expect(rules.map(({ id }) => id)).toEqual(['inv-1@Parameters', 'inv-1@Task', 'inv-1@TestReport']);
    expect(new Set(rules.map(({ expression }) => expression)).size).toBe(3);
    expect(structure('Parameters.parameter').rules).toContain('inv-1@Parameters');
    expect(structure('Task').rules).toContain('inv-1@Task');
    expect(structure('TestReport.setup.action').rules).toContain('inv-1@TestReport');
  });

  it('stand where their focus is: on a type, or on an element', () => {
    expect(structure('Patient.contact').rules).toContain('pat-1');
    expect(structure('Patient').rules).not.toContain('pat-1');
    expect(structure('Patient').rules).toContain('dom-2');
    expect(element('Bundle', 'entry').rules ?? []).toEqual([]);
    expect(structure('Bundle.entry').rules).toContain('bdl-5');
  });

  it('are all used, and ele-1 and ext-1 are left to the structure', () => {
    const used = new Set(
      model.structures.flatMap(({ rules, elements }) => [...rules, ...elements.flatMap((each) => each.rules ?? [])]),
    );
    expect(model.invariants.map(({ id }) => id)).toEqual([...used].sort());
    expect(used.has('ele-1') || used.has('ext-1')).toBe(false);
    expect(model.invariants).toHaveLength(314 - 2 + 1 + 2);
  });
});

describe('primitives (datatypes.html#primitive)', () => {
  const pattern = (name: string) =>
    new RegExp(`^(?:${model.primitives.find((row) => row.name === name)?.pattern ?? ''})$`, 'u');

  it('are 21, and their patterns are regular expressions in Unicode mode without anchors', () => {
    expect(model.primitives).toHaveLength(21);
    for (const { name, pattern: text } of model.primitives) {
      expect(() => new RegExp(`^(?:${text ?? ''})$`, 'u'), name).not.toThrow();
      expect(text ?? '', name).not.toMatch(/^\^|\$$/);
    }
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['decimal', ['0', '-1.50', '1e5', '2.5E-10'], ['01', '1.', '.5', '1e', 'NaN']],
    ['dateTime', ['2024', '2024-02', '2024-02-29', '2024-02-29T23:59:60Z'], ['2024-02-29T10:00:00', '24-02-29']],
    ['id', ['a', 'A-1.b', 'x'.repeat(64)], ['', 'a b', 'a_b', 'x'.repeat(65)]],
    ['string', ['two words', 'a\nb', 'ü'], []],
    ['positiveInt', ['1', '10'], ['0', '-1', '01']],
    ['time', ['23:59:59', '00:00:00.5'], ['24:00:00', '10:00']],
    ['oid', ['urn:oid:1.2.3'], ['1.2.3', 'urn:oid:3']],
  ])('%s accepts %j and refuses %j', (name, accepted, refused) => {
    expect(accepted.filter((text) => !pattern(name).test(text))).toEqual([]);
    expect(refused.filter((text) => pattern(name).test(text))).toEqual([]);
  });

  it('integer64 is a string in JSON, bounds are text (json.html#primitive)', () => {
    const row = (name: string) => model.primitives.find((each) => each.name === name);
    expect(row('integer64')).toMatchObject({ json: 'string', min: '-9223372036854775808', max: '9223372036854775807' });
    expect(row('positiveInt')).toMatchObject({ base: 'integer', json: 'number', min: '1', max: '2147483647' });
    expect(row('code')).toMatchObject({ base: 'string', json: 'string' });
  });
});
