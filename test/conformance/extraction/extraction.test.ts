import { afterAll, describe, expect, it } from 'vitest';
import { tables } from '../../../generated/tables.js';
import { compare, contest, contests, tableTypes, type Branch } from './extraction-branches.js';
import { exampleFiles, readExample } from '../formats/examples.js';
import { mutants } from './extraction-mutants.js';
import { createFilledResources } from './filled-resource.js';

const compiled = contests(tables);
const branches = [...compiled.values()].flat().map(({ branch }) => branch);
const own = branches.filter(({ component }) => !component).length;
/** Enough that every type of the open choices and every code that a path asks for has its turn, and for gaps. */
const VARIANTS = 130;
const fill = createFilledResources(tables);
const filled = new Map(
  tables.resourceTypes.map((type) => [type, Array.from({ length: VARIANTS }, (_, variant) => fill(type, variant))]),
);

/** How often branches were evaluated, and how many values they reached. */
interface Tally {
  readonly evaluated: Map<Branch, number>;
  readonly differences: string[];
}

function compete(tally: Tally, resource: Record<string, unknown>, from: string): void {
  for (const type of tableTypes(tables, String(resource['resourceType']))) {
    for (const each of compiled.get(type) ?? []) {
      const { count, difference } = compare(each, resource);
      tally.evaluated.set(each.branch, (tally.evaluated.get(each.branch) ?? 0) + count);
      if (difference !== undefined) tally.differences.push(`${from}: ${difference}`);
    }
  }
}

const reports: string[] = [];
afterAll(() => {
  for (const line of reports) console.log(line);
});

function report(where: string, { evaluated }: Tally): void {
  const reached = branches.filter((branch) => (evaluated.get(branch) ?? 0) > 0);
  const reachedOwn = reached.filter(({ component }) => !component).length;
  reports.push(
    `${where}: ${reachedOwn} of ${own} branches and ${reached.length - reachedOwn} of ${branches.length - own} ` +
      'branches of components reach a value',
  );
}

describe('the steps of every branch reach the values, in the order and of the types, that the FHIRPath library reaches with its text', () => {
  it('in the official examples', () => {
    const tally: Tally = { evaluated: new Map(), differences: [] };
    for (const file of exampleFiles()) compete(tally, readExample(file).resource, file);
    report('examples', tally);
    expect(tally.differences.slice(0, 20)).toEqual([]);
    const idle = branches.filter((branch) => !tally.evaluated.has(branch)).map(({ name }) => name.split('.')[0]);
    expect([...new Set(idle)], 'types without an example').toEqual(['AdverseEvent', 'ViewDefinition']);
  }, 120_000);

  it('in resources that have every element, where every branch reaches some', () => {
    const tally: Tally = { evaluated: new Map(), differences: [] };
    for (const [type, resources] of filled) {
      resources.forEach((resource, variant) => {
        compete(tally, resource, `${type} ${variant}`);
      });
    }
    report('filled resources', tally);
    expect(tally.differences.slice(0, 20)).toEqual([]);
    expect(
      branches.filter((branch) => !tally.evaluated.get(branch)).map(({ name, text }) => `${name}: ${text}`),
    ).toEqual([]);
  }, 120_000);

  it('and the comparison fails when any step of any branch is altered', () => {
    const survivors: string[] = [];
    let count = 0;
    for (const branch of branches) {
      const type = branch.name.split('.')[0] ?? '';
      const resources = filled.get(type) ?? filled.get('Patient') ?? [];
      for (const { what, steps } of mutants(branch.steps)) {
        count++;
        const mutant = contest({ ...branch, steps });
        if (!resources.some((resource) => compare(mutant, resource).difference !== undefined)) {
          survivors.push(`${branch.name}: ${what}`);
        }
      }
    }
    reports.push(`${count} altered branches, ${survivors.length} unnoticed`);
    expect(survivors).toEqual([]);
  }, 120_000);
});
