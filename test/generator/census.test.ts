import { beforeAll, describe, expect, it } from 'vitest';
import { GeneratorError } from '../../generator/generator-error.js';
import type { SearchParameter, StructureDefinition } from '../../generator/load/fhir-json.js';
import { correct } from '../../generator/generate.js';
import { loadDefinitions } from '../../generator/load/definitions.js';
import { omitDefinitions } from '../../generator/load/errata.js';
import type { LoadedPackage } from '../../generator/load/package.js';
import { takeCensus, type Census } from '../../generator/verify/census.js';
import { verifyCensus } from '../../generator/verify/verify.js';
import { PATIENCE } from './command.js';
import { R5, R5_EXPANSIONS, readPackage } from './release.js';

const { errata, packages } = loadDefinitions('definitions');
const pin = packages.find(({ role }) => role === 'definitions')!;

let published: LoadedPackage;
let expansions: LoadedPackage;
let census: Census;
beforeAll(async () => {
  published = await readPackage(R5);
  expansions = await readPackage(R5_EXPANSIONS);
  census = countOf(published);
}, PATIENCE);

function countOf(loaded: LoadedPackage): Census {
  return takeCensus(loaded, omitDefinitions(loaded, errata), expansions);
}

/** What `verify` says of a package in which something is not as it was. */
function driftOf(change: Partial<LoadedPackage>): readonly string[] {
  try {
    verifyCensus(countOf({ ...published, ...change }), pin);
    return [];
  } catch (error) {
    expect((error as GeneratorError).message).toBe(
      'hl7.fhir.r5.core@5.0.0 is not what definitions/packages.json expects; npx kiln generate --accept takes what was counted',
    );
    return (error as GeneratorError).details;
  }
}

/** The numbers stand here once more, as they were counted by hand: a second witness of definitions/packages.json. */
describe('the counts of hl7.fhir.r5.core 5.0.0 and hl7.fhir.r5.expansions 5.0.0 come out', () => {
  it('158 concrete resource types and 4 abstract ones', () => {
    expect(census).toMatchObject({ resourceTypes: 158, abstractResourceTypes: 4 });
  });

  it('42 complex types, 6 abstract ones, 21 primitives', () => {
    expect(census).toMatchObject({ complexTypes: 42, abstractComplexTypes: 6, primitiveTypes: 21 });
  });

  it('63 profiles of resources', () => {
    expect(census).toMatchObject({ resourceProfiles: 63 });
  });

  it('8,896 snapshot elements, 5,805 declared, 316 in the largest type', () => {
    expect(census).toMatchObject({ resourceElements: 8896, declaredElements: 5805, largestResource: 316 });
  });

  it('241 choice elements in resources, 10 open ones of which 5 in resources', () => {
    expect(census).toMatchObject({ choiceElements: 241, openChoiceElements: 10, openChoiceElementsOfResources: 5 });
  });

  it('78 content references, 27 of them to an ancestor', () => {
    expect(census).toMatchObject({ contentReferences: 78, recursiveElements: 27 });
  });

  it('1,244 files of search parameters, 1,239 real; 1,972 own pairs, 4,342 with those of the bases', () => {
    expect(census).toMatchObject({
      searchParameterFiles: 1244,
      searchParameters: 1239,
      ownSearchPairs: 1972,
      allSearchPairs: 4342,
    });
  });

  it('search parameters by type: 514, 467, 88, 84, 31, 26, 15, 10, 4', () => {
    const types = ['token', 'reference', 'string', 'date', 'uri', 'composite', 'quantity', 'special', 'number'];
    const counts = types.map((type) => census[`searchParameters.${type}`]);
    expect(counts).toEqual([514, 467, 88, 84, 31, 26, 15, 10, 4]);
    expect(counts.reduce((sum: number, count) => sum + (count ?? 0), 0)).toBe(1239);
  });

  it('1,995 branches: 1,689 plain, 178 ofType, 63 resolve, 51 where, 8 as, 3 not false, 2 extension, 1 nested', () => {
    const kinds = ['plain', 'ofType', 'resolve', 'where', 'as', 'notFalse', 'extension', 'nested'];
    const counts = kinds.map((kind) => census[`branches.${kind}`]);
    expect(counts).toEqual([1689, 178, 63, 51, 8, 3, 2, 1]);
    expect(census['branches']).toBe(1995);
    expect(counts.reduce((sum: number, count) => sum + (count ?? 0), 0)).toBe(1995);
  });

  it('5 compartments, 73 types in that of a patient', () => {
    expect(census).toMatchObject({ compartments: 5, patientCompartmentTypes: 73 });
  });

  it('61 operation definitions, two of them examples', () => {
    expect(census).toMatchObject({ operationDefinitionFiles: 61, operations: 59 });
  });

  it('312 keys of invariants, 314 rules: 281 errors, 33 warnings of which 4 best practice; 286 expressions', () => {
    expect(census).toMatchObject({
      invariantKeys: 312,
      invariants: 314,
      errorInvariants: 281,
      warningInvariants: 33,
      bestPracticeInvariants: 4,
      distinctExpressions: 286,
    });
  });

  it('264 value sets of required bindings, 258 expanded, 261 decidable', () => {
    expect(census).toMatchObject({ requiredValueSets: 264, expandedValueSets: 258, decidableValueSets: 261 });
  });

  it('593 bindings name a version', () => {
    expect(census).toMatchObject({ versionedBindings: 593 });
  });

  it('and nothing else is counted than what the pin expects', () => {
    expect({ ...census }).toEqual(pin.expect);
  });
});

describe('a package that drifted is refused, each count by name', () => {
  it('the package as published is not', () => {
    expect(driftOf({})).toEqual([]);
  });

  it('a type too few', () => {
    const structures = published.structures.filter(({ id }) => id !== 'Basic');
    expect(driftOf({ structures })).toContain('resourceTypes: expected 158, counted 157');
  });

  it('an element too many', () => {
    const more = (definition: StructureDefinition): StructureDefinition => {
      const element = definition.snapshot.element.find(({ path }) => path === 'Basic.author')!;
      const added = { ...element, id: 'Basic.editor', path: 'Basic.editor', base: { path: 'Basic.editor' } };
      return { ...definition, snapshot: { element: [...definition.snapshot.element, added] } };
    };
    const structures = published.structures.map((each) => (each.id === 'Basic' ? more(each) : each));
    expect(driftOf({ structures })).toEqual([
      'resourceElements: expected 8896, counted 8897',
      'declaredElements: expected 5805, counted 5806',
    ]);
  });

  it('a search parameter of another type, with a branch more', () => {
    const change = (parameter: SearchParameter): SearchParameter =>
      parameter.id === 'Patient-active'
        ? { ...parameter, type: 'string', expression: 'Patient.active | Patient.photo' }
        : parameter;
    expect(driftOf({ searchParameters: published.searchParameters.map(change) })).toEqual([
      'searchParameters.string: expected 88, counted 89',
      'searchParameters.token: expected 514, counted 513',
      'branches: expected 1995, counted 1996',
      'branches.plain: expected 1689, counted 1690',
    ]);
  });

  it('an operation and a compartment too few', () => {
    const drift = driftOf({ operations: published.operations.slice(1), compartments: published.compartments.slice(1) });
    expect(drift).toEqual(
      expect.arrayContaining([
        'operationDefinitionFiles: expected 61, counted 60',
        'operations: expected 59, counted 58',
        'compartments: expected 5, counted 4',
      ]),
    );
  });

  it('a rule that became a warning', () => {
    const weaker = (definition: StructureDefinition): StructureDefinition =>
      JSON.parse(
        JSON.stringify(definition).replaceAll('"key":"pat-1","severity":"error"', '"key":"pat-1","severity":"warning"'),
      ) as StructureDefinition;
    const structures = published.structures.map((each) => (each.id === 'Patient' ? weaker(each) : each));
    expect(driftOf({ structures })).toEqual([
      'errorInvariants: expected 281, counted 280',
      'warningInvariants: expected 33, counted 34',
    ]);
  });

  it('a count that is not pinned, and a pin that is not counted', () => {
    expect(() => verifyCensus({ ...census, unpinned: 1 }, pin)).toThrow(GeneratorError);
    expect(() => verifyCensus(census, { ...pin, expect: { ...pin.expect, uncounted: 1 } })).toThrow(GeneratorError);
  });
});

it('an erratum whose target is gone is reported itself, not the counts that it changes', () => {
  const target = errata.find(({ omit, package: name }) => omit === true && name === pin.name)!.target;
  const gone = errata.map((erratum) =>
    erratum.target === target ? { ...erratum, target: `${target}-gone` } : erratum,
  );
  const act = (): unknown => correct(published, expansions, gone, pin);
  expect(act).toThrow('definitions/errata.json: corrections that no longer apply');
  expect(() => correct(published, expansions, errata, pin)).not.toThrow();
  // The counts differ as well: that is what was reported.
  expect(takeCensus(published, omitDefinitions(published, gone), expansions)).not.toEqual(census);
});
