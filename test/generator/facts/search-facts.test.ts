import { beforeAll, describe, expect, it } from 'vitest';
import type { PathRow } from '../../../runtime/contract/index.js';
import type { Model, SearchParameterModel } from '../../../generator/model/model.js';
import { PATIENCE } from '../command.js';
import { ourModel } from '../our-model.js';
import { Walker } from '../walk-steps.js';

let model: Model;
beforeAll(async () => {
  model = await ourModel();
}, PATIENCE);

function parameterOf(type: string, code: string): SearchParameterModel {
  const found = tableOf(type).parameters.find((parameter) => parameter.code === code);
  expect(found, `${type}?${code}`).toBeDefined();
  return found!;
}

const tableOf = (type: string) => model.search.find((table) => table.type === type)!;
const stepsOf = (type: string, code: string) => parameterOf(type, code).paths.map(({ steps }) => steps);

/** The parameters of a type with those that it inherits. */
function allOf(type: string | undefined): readonly SearchParameterModel[] {
  const table = model.search.find((each) => each.type === type);
  return table === undefined ? [] : [...table.parameters, ...allOf(table.base)];
}

describe('search parameters (search.html)', () => {
  it('inherit from Resource and DomainResource', () => {
    expect(tableOf('Patient').base).toBe('DomainResource');
    expect(tableOf('DomainResource').base).toBe('Resource');
    expect(tableOf('Bundle').base).toBe('Resource');
    expect(allOf('Bundle').map(({ code }) => code)).toContain('_lastUpdated');
  });

  it('are 1,969 own pairs of concrete types: those of CapabilityStatement-base but three that have no value; and 17 of ViewDefinition', () => {
    const concrete = new Set(model.capabilities.map(({ type }) => type));
    const own = model.search.filter(({ type }) => concrete.has(type)).flatMap(({ parameters }) => parameters);
    expect(own).toHaveLength(1972 - 3 + 17);
  });

  it('have at least one branch each, but for those that are read off no element', () => {
    const without = model.search.flatMap(({ type, parameters }) =>
      parameters.filter(({ paths }) => paths.length === 0).map(({ code }) => `${type}?${code}`),
    );
    expect(without).toEqual([
      'DomainResource?_text',
      'Resource?_content',
      'Resource?_filter',
      'Resource?_has',
      'Resource?_list',
      'Resource?_query',
      'Resource?_text',
      'Resource?_type',
    ]);
  });

  it('compile unions into one branch for each type, each once', () => {
    expect(stepsOf('Patient', 'phone')).toEqual([
      [{ get: 'telecom' }, { where: [{ get: 'system' }], equals: 'phone' }],
    ]);
    expect(parameterOf('Condition', 'patient').paths.map(({ text }) => text)).toEqual([
      'Condition.subject.where(resolve() is Patient)',
    ]);
  });

  it('compile where(resolve() is T), ofType(), as, extension(), first() and exists() into steps', () => {
    expect(stepsOf('Condition', 'patient')).toEqual([[{ get: 'subject' }, { refers: 'Patient' }]]);
    expect(stepsOf('Observation', 'value-quantity')[0]).toEqual([{ get: 'valueQuantity' }]);
    expect(stepsOf('Patient', 'deceased')).toEqual([
      [{ choose: { deceasedBoolean: 'boolean', deceasedDateTime: 'dateTime' } }, { notFalse: true }],
    ]);
    expect(stepsOf('Appointment', 'date')).toEqual([
      [
        {
          union: [[{ choose: { start: 'instant' } }], [{ get: 'requestedPeriod' }, { choose: { start: 'dateTime' } }]],
        },
        { index: 0 },
      ],
    ]);
    expect(stepsOf('Bundle', 'composition')).toEqual([
      [{ get: 'entry' }, { index: 0 }, { get: 'resource' }, { is: 'Composition' }],
    ]);
  });

  it('of code elements know the system of a required binding that draws on one alone', () => {
    const system = (type: string, code: string): unknown => parameterOf(type, code).paths[0]?.system;
    expect(system('Patient', 'gender')).toBe('http://hl7.org/fhir/administrative-gender');
    expect(system('Observation', 'status')).toBe('http://hl7.org/fhir/observation-status');
    // A CodeableConcept names its own, a language has a grammar and no table.
    expect(system('Observation', 'code')).toBeUndefined();
    expect(system('Resource', '_language')).toBeUndefined();
  });

  it('that are composite have components, each with a type and a path from the value of the composite', () => {
    const composites = model.search.flatMap(({ parameters }) => parameters).filter(({ type }) => type === 'composite');
    expect(composites.length).toBeGreaterThan(26);
    for (const { code, components = [] } of composites) {
      expect(components.length, code).toBeGreaterThan(1);
      expect(components.every(({ paths }) => paths.length > 0)).toBe(true);
    }
    expect(parameterOf('Observation', 'component-code-value-quantity').components).toMatchObject([
      { code: 'component-code', type: 'token', paths: [{ steps: [{ get: 'code' }] }] },
      { code: 'component-value-quantity', type: 'quantity', paths: [{ steps: [{ get: 'valueQuantity' }] }] },
    ]);
  });
});

describe('compiled steps', () => {
  /** Every branch, those of components too: where it starts and what it is. */
  function branches(): { readonly name: string; readonly root: readonly string[]; readonly path: PathRow }[] {
    return model.search.flatMap(({ type, parameters }) =>
      parameters.flatMap(({ code, paths, components = [] }) => [
        ...paths.map((path) => ({ name: `${type}?${code}`, root: [type], path })),
        ...components.flatMap((component) =>
          component.paths.map((path) => ({
            name: `${type}?${code}/${component.code}`,
            root: [...new Set(paths.flatMap(({ types }) => types))],
            path,
          })),
        ),
      ]),
    );
  }

  it('lead through elements that exist, to values of the types that they tell', () => {
    const walker = new Walker(
      model.structures.map((structure) => ({ ...structure, elements: structure.elements.slice(structure.inherited) })),
    );
    const faults = branches().flatMap(({ name, root, path }) =>
      root.flatMap((from) => {
        const walk = walker.walk(from, path.steps);
        const told = [...path.types].sort().join();
        const ends = walk.types.join() === told ? [] : [`reaches ${walk.types.join()} and tells ${told}`];
        return [...walk.faults, ...ends].map((fault) => `${name}: ${path.text}: ${fault}`);
      }),
    );
    expect(faults).toEqual([]);
  });

  it('are there for as many branches as the release has', () => {
    const all = model.search.flatMap(({ parameters }) => parameters).flatMap(({ paths }) => paths);
    expect(all.length).toBeGreaterThanOrEqual(1995);
  });
});

describe('sort slots', () => {
  it('are unique among what a type has and inherits, and below 14', () => {
    for (const { type } of model.search) {
      const slots = allOf(type).flatMap(({ slot }) => slot ?? []);
      expect(new Set(slots).size, type).toBe(slots.length);
      expect(slots.every((slot) => Number.isInteger(slot) && slot >= 0 && slot < 14)).toBe(true);
    }
  });

  it('are for parameters of one sortable value: string, date, number and quantity that are read off an element, and no union', () => {
    for (const { code, type, paths, slot, unionOf } of model.search.flatMap(({ parameters }) => parameters)) {
      const sortable =
        ['string', 'date', 'number', 'quantity'].includes(type) && paths.length > 0 && unionOf === undefined;
      expect(slot !== undefined, code).toBe(sortable);
    }
  });

  it('are the same in every type for what Resource defines', () => {
    expect(parameterOf('Resource', '_lastUpdated').slot).toBe(13);
    expect(parameterOf('Patient', 'birthdate').slot).toBeLessThan(11);
  });
});
