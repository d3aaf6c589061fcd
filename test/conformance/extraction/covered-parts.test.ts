import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { coverParts } from '../../../generator/model/covered-parts.js';
import type { SearchParameterModel } from '../../../generator/model/model.js';
import { coveringOf } from '../../../runtime/indexing/covering.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { createValueExtractor } from '../../../runtime/indexing/extract.js';
import { exampleFiles, readExample } from '../formats/examples.js';
import { createFilledResources } from './filled-resource.js';

const composites = tables.search.flatMap(({ type, parameters }) =>
  parameters
    .filter((row) => row.type === 'composite' && row.unionOf === undefined)
    .map((row) => ({ type, row, covering: coveringOf(row) })),
);
const covered = composites.filter(({ covering }) => covering !== undefined);
const extract = createValueExtractor(tables);

/** Values of parts that no entry of the covering parameter equals, and which composites were met. */
function uncovered(resource: Record<string, unknown>, met: Set<string>): readonly string[] {
  const type = String(resource['resourceType']);
  const entries = extract(resource);
  const known = new Set(entries.map((entry) => JSON.stringify({ ...entry, param: entry.param })));
  return entries.flatMap((entry: IndexEntry) => {
    if (entry.kind !== 'composite' || entry.isCovered !== true) return [];
    const found = covered.find((each) => each.type === type && each.row.code === entry.param)!;
    met.add(`${type}?${entry.param}`);
    return entry.parts.flatMap((part, i) => {
      const { param, kind } = found.covering![i]!;
      return part
        .filter((value) => value.kind !== kind || !known.has(JSON.stringify({ ...value, param })))
        .map(
          (value) => `${type}/${String(resource['id'])} ${entry.param}: ${JSON.stringify(value)} is none of ${param}`,
        );
    });
  });
}

describe('parts of composites that other parameters cover', () => {
  it('are most: all but those whose values no parameter of their type has', () => {
    expect(covered.length).toBe(71);
    expect(
      composites.filter(({ covering }) => covering === undefined).map(({ type, row }) => `${type}?${row.code}`),
    ).toEqual([
      'Composition?section-code-text',
      'Device?code-value-concept',
      'DeviceDefinition?specification-version',
      'Encounter?location-period',
      'Ingredient?strength-concentration-ratio',
      'Ingredient?strength-presentation-ratio',
      'Observation?code-value-string',
      'ResearchStudy?progress-status-state-actual',
      'ResearchStudy?progress-status-state-period',
      'ResearchStudy?progress-status-state-period-actual',
      'TestScript?scope-artifact-conformance',
      'TestScript?scope-artifact-phase',
    ]);
  });

  it('have no value that the parameter lacks, in the official examples', () => {
    const met = new Set<string>();
    expect(
      exampleFiles()
        .flatMap((file) => uncovered(readExample(file).resource, met))
        .slice(0, 5),
    ).toEqual([]);
    expect(met.size).toBeGreaterThan(20);
  }, 120_000);

  it('have none in resources that have every element, where each composite is met', () => {
    const fill = createFilledResources(tables);
    const met = new Set<string>();
    const faults = [...new Set(covered.map(({ type }) => type))].flatMap((type) =>
      Array.from({ length: 70 }, (_, variant) => uncovered(fill(type, variant), met)).flat(),
    );
    expect(faults.slice(0, 5)).toEqual([]);
    expect(covered.map(({ type, row }) => `${type}?${row.code}`).filter((name) => !met.has(name))).toEqual([]);
  }, 120_000);
});

describe('which parameter covers a part', () => {
  const path = (names: readonly string[], types: readonly string[], more = {}) => ({ text: names.join('.'), steps: names.map((get) => ({ get })), types, ...more }); // prettier-ignore
  const parameter = (code: string, type: SearchParameterModel['type'], paths: SearchParameterModel['paths']) => ({ id: code, code, type, url: code, description: '', paths }); // prettier-ignore
  const composite = {
    ...parameter('code-value', 'composite', [path([], ['Thing']), path(['component'], ['Thing.component'])]),
    components: [{ code: 'code', type: 'token' as const, paths: [path(['code'], ['Coding'])] }],
  };
  const coverOf = (...others: readonly SearchParameterModel[]): string | undefined =>
    coverParts([...others, composite]).at(-1)!.components![0]!.coveredBy;
  const both = [path(['code'], ['Coding']), path(['component', 'code'], ['Coding', 'CodeableConcept'])];

  it('is one that leads wherever the part does', () => {
    expect(coverOf(parameter('all-codes', 'token', both))).toBe('all-codes');
  });

  it('is the one that the definition names, where it leads there', () => {
    expect(coverOf(parameter('all-codes', 'token', both), parameter('code', 'token', both))).toBe('code');
    expect(coverOf(parameter('all-codes', 'token', both), parameter('code', 'token', both.slice(1)))).toBe('all-codes');
  });

  it.each([
    ['lacks a path', parameter('code', 'token', both.slice(0, 1))],
    ['is searched otherwise', parameter('code', 'string', both)],
    ['takes other types', parameter('code', 'token', [both[0]!, path(['component', 'code'], ['CodeableConcept'])])],
    ['knows another system', parameter('code', 'token', [path(['code'], ['Coding'], { system: 'urn:s' }), both[1]!])],
    [
      'takes some of the values',
      parameter('code', 'token', [{ ...both[0]!, steps: [{ get: 'code' }, { where: [{ get: 'x' }] }] }, both[1]!]),
    ],
  ])('is none that %s', (_what, other) => {
    expect(coverOf(other)).toBeUndefined();
  });
});
