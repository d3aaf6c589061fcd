import { beforeAll, describe, expect, it } from 'vitest';
import type { FhirElement } from '../../../generator/load/fhir-json.js';
import type { Model } from '../../../generator/model/model.js';
import { PATIENCE } from '../command.js';
import { ourModel } from '../our-model.js';
import { R5, readPackage } from '../release.js';

let model: Model;
/** Paths of the package's elements with a type that says whether it is a hierarchy. */
let marked: { readonly path: string; readonly isHierarchy: boolean }[];
beforeAll(async () => {
  model = await ourModel();
  const { structures } = await readPackage(R5);
  const types = structures.filter(({ derivation }) => derivation !== 'constraint');
  marked = types.flatMap(({ snapshot }) => snapshot.element).flatMap(marksOf);
}, PATIENCE);

function marksOf({ path, type = [] }: FhirElement) {
  return type
    .flatMap(({ extension = [] }) => extension)
    .filter(({ url }) => url.endsWith('/structuredefinition-hierarchy'))
    .map(({ valueBoolean }) => ({ path, isHierarchy: valueBoolean === true }));
}

describe('hierarchies of resources (StructureDefinition-structuredefinition-hierarchy)', () => {
  it('24 elements are marked as one, 5 as none: the elements of the model say the same', () => {
    expect(marked.filter(({ isHierarchy }) => isHierarchy)).toHaveLength(24);
    expect(marked.filter(({ isHierarchy }) => !isHierarchy)).toHaveLength(5);
    const elements = model.structures.flatMap((structure) => structure.elements.slice(structure.inherited));
    const told = elements.filter(({ hierarchy }) => hierarchy === true).map(({ path }) => path);
    expect(told.sort()).toEqual(marked.flatMap(({ path, isHierarchy }) => (isHierarchy ? path : [])).sort());
  });

  it('each reference parameter that looks at such an element, and at nothing else, is one', () => {
    const paths = new Set(marked.flatMap(({ path, isHierarchy }) => (isHierarchy ? path : [])));
    const rows = model.search.flatMap(({ type, parameters }) => parameters.map((row) => ({ type, row })));
    const named = rows.filter(
      ({ row }) => row.type === 'reference' && row.paths.length === 1 && paths.has(row.paths[0]!.text),
    );
    const told = rows.filter(({ row }) => row.hierarchy === true).map(({ type, row }) => `${type}?${row.code}`);
    expect(told).toEqual(named.map(({ type, row }) => `${type}?${row.code}`));
    expect(told).toEqual([
      'CarePlan?based-on',
      'CarePlan?part-of',
      'CarePlan?replaces',
      'Communication?part-of',
      'Device?parent',
      'Encounter?part-of',
      'EncounterHistory?encounter',
      'Location?partof',
      'Organization?partof',
      'Procedure?part-of',
      'ResearchStudy?part-of',
      'Specimen?parent',
      'StructureDefinition?base',
      'Task?part-of',
    ]);
  });
});
