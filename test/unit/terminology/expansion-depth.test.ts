import { expect, it } from 'vitest';

import type { Resource } from '../../../runtime/fhir/resource.js';
import { expand, type ExpansionOptions } from '../../../runtime/terminology/expand.js';
import { ANY_LANGUAGE } from '../../../runtime/terminology/systems/languages.js';
import { ANY_VERSION, createResolver } from '../../../runtime/terminology/resolver.js';

const OPTIONS: ExpansionOptions = {
  ...{ activeOnly: false, excludeNested: false, excludeNotForUI: false, includeDesignations: false },
  ...{ designations: undefined, languages: ANY_LANGUAGE, properties: new Set(), excludedSystems: new Set() },
};
const URL = 'http://deep.example';
const COUNT = 5000;
const VALUE_SET: Resource = { resourceType: 'ValueSet', url: URL, compose: { include: [{ system: URL }] } };

interface Tree {
  readonly code: string;
  readonly contains?: readonly Tree[];
}
const codesIn = (trees: readonly Tree[] = []): string[] =>
  trees.flatMap(({ code, contains }) => [code, ...codesIn(contains)]);
const depthOf = (trees: readonly Tree[] = []): number =>
  trees.reduce((most, { contains }) => Math.max(most, 1 + depthOf(contains)), 0);

it.each([
  ['a chain of parents', (i: number) => (i === 0 ? undefined : i - 1)],
  ['a circle of parents', (i: number) => (i + 1) % COUNT],
])('the expansion of %s has every code once, and is not nested without end', async (_, parentOf) => {
  const concept = Array.from({ length: COUNT }, (_each, i) => {
    const parent = parentOf(i);
    return { code: `c${i}`, ...(parent !== undefined && { property: [{ code: 'parent', valueCode: `c${parent}` }] }) };
  });
  const property = [{ code: 'parent', uri: 'http://hl7.org/fhir/concept-properties#parent', type: 'code' }];
  const system = { resourceType: 'CodeSystem', url: URL, content: 'complete', property, concept } as Resource;
  const resolver = createResolver((type) => Promise.resolve(type === 'CodeSystem' ? system : VALUE_SET));
  const used = { systems: new Set<string>(), valueSets: new Set<string>() };
  const found = await expand(VALUE_SET, OPTIONS, { resolver, versions: ANY_VERSION, signal: undefined, used });
  const trees = found['contains'] as unknown as readonly Tree[];
  const codes = codesIn(trees);
  expect(codes).toHaveLength(COUNT);
  expect(new Set(codes).size).toBe(COUNT);
  expect(depthOf(trees)).toBe(50);
});
