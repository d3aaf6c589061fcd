import { beforeAll, describe, expect, it } from 'vitest';
import type { Erratum } from '../../generator/load/errata.js';
import { loadDefinitions } from '../../generator/load/definitions.js';
import type { LoadedPackage } from '../../generator/load/package.js';
import { PATIENCE } from './command.js';
import { errataCasesR4B } from './errata-cases-r4b.js';
import { errataCases } from './errata-cases.js';
import type { ErratumCase } from './facts/errata-questions.js';
import { outcomeOf, R4B, R5, R5_EXPANSIONS, readPackage, readRelease, Remade, type Release } from './release.js';

const { errata } = loadDefinitions('definitions');
const keyOf = ({ package: name, target, path }: Pick<Erratum, 'package' | 'target' | 'path'>): string =>
  [name, target, path ?? ''].join(' ');

let expansions: LoadedPackage;
const releases = new Map<string, Release>();
beforeAll(async () => {
  expansions = await readPackage(R5_EXPANSIONS);
  for (const name of [R5, R4B]) releases.set(name, await readRelease(name));
}, PATIENCE);

describe('each correction of definitions/errata.json is needed', () => {
  const named = (cases: readonly ErratumCase[]) => cases.map((each): [string, ErratumCase] => [titleOf(each), each]);

  it.each(named(errataCases))('R5 %s', (_title, each) => {
    proves(each, releases.get(R5) as Release);
  });

  it.each(named(errataCasesR4B))('R4B %s', (_title, each) => {
    proves(each, releases.get(R4B) as Release);
  });

  it('and none is without a case here, no case without one', () => {
    const cases = [...errataCases, ...errataCasesR4B];
    expect(cases.map(keyOf).sort()).toEqual(errata.map(keyOf).sort());
  });
});

function titleOf({ target, path, question }: ErratumCase): string {
  return `${target.slice(target.indexOf('/fhir/') + 6)}${path === undefined ? '' : ` ${path.slice(0, 24)}`}: ${question}?`;
}

function proves(each: ErratumCase, release: Release): void {
  const all = release.definitions.errata;
  const others = all.filter((erratum) => keyOf(erratum) !== keyOf(each));
  expect(others, 'one erratum has this key').toHaveLength(all.length - 1);
  expect(outcomeOf(() => each.ask(new Remade(release, expansions, others)))).toEqual(each.without);
  expect(outcomeOf(() => each.ask(new Remade(release, expansions, all)))).toEqual(each.mended);
}
