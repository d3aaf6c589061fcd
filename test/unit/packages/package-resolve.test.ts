import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { describeFault } from '../../../runtime/packages/package-fault.js';
import { resolvePackages, type Candidate, type Choices } from '../../../runtime/packages/resolve.js';
import { compareVersions, satisfies } from '../../../runtime/packages/version-number.js';

/** `a.a@1.0.0 b.b@1.0.x`: a package and what it needs. */
function candidate(text: string, origin: Candidate['origin']): Candidate {
  const [self = '', ...needs] = text.split(' ');
  const [name = '', version = ''] = self.split('@');
  const dependencies = new Map(needs.map((each) => each.split('@') as [string, string]));
  return { name, version, dependencies, origin, label: origin === 'store' ? 'the store' : `${self}.tgz` };
}

function resolve(given: {
  direct: string[];
  folder?: string[];
  stored?: string[];
  overridden?: Record<string, Record<string, string>>;
  uses?: Record<string, string>;
  allowsDowngrade?: boolean;
}) {
  const choices: Choices = {
    direct: given.direct.map((text) => candidate(text, 'direct')),
    folder: (given.folder ?? []).map((text) => candidate(text, 'folder')),
    stored: (given.stored ?? []).map((text) => ({
      ...candidate(text, 'store'),
      overridden: given.overridden?.[text.split('@')[0]!] ?? {},
    })),
    uses: new Map(Object.entries(given.uses ?? {})),
    allowsDowngrade: given.allowsDowngrade ?? false,
    fhirVersion: '5.0.0',
  };
  const { chosen, faults } = resolvePackages(choices);
  const versions = [...chosen.values()].map(({ candidate: { name, version } }) => `${name}@${version}`).sort();
  return { versions, faults: faults.map(describeFault), chosen };
}

describe('which packages are taken', () => {
  it('those that are needed, from the folder and the store, exact or by patch', () => {
    const given = {
      direct: ['a.a@1.0.0 b.b@1.0.x hl7.fhir.r5.core@5.0.0'],
      folder: ['b.b@1.0.2 c.c@2.0.0-ballot', 'b.b@1.0.10 c.c@2.0.0-ballot', 'b.b@1.1.0', 'x.x@1.0.0'],
      stored: ['c.c@2.0.0-ballot'],
    };
    expect(resolve(given)).toMatchObject({ versions: ['a.a@1.0.0', 'b.b@1.0.10', 'c.c@2.0.0-ballot'], faults: [] });
  });

  it('a circle is no fault', () => {
    const given = { direct: ['a.a@1.0.0 b.b@1.0.0'], folder: ['b.b@1.0.0 c.c@1.0.0', 'c.c@1.0.0 a.a@1.0.0'] };
    expect(resolve(given)).toMatchObject({ versions: ['a.a@1.0.0', 'b.b@1.0.0', 'c.c@1.0.0'], faults: [] });
  });

  it('what is missing is named with all who need it and what is there, also further down', () => {
    const given = {
      direct: ['a.a@1.0.0 t.t@6.5.0 m.m@1.0.0', 'e.e@1.0.0 t.t@6.5.0'],
      folder: ['t.t@7.0.1 z.z@current', 't.t@6.0.0', 'z.z@3.0.0'],
    };
    expect(resolve(given).faults).toEqual([
      't.t@6.5.0 (needed by a.a@1.0.0 and e.e@1.0.0) is missing; 6.0.0 and 7.0.1 are here: --use t.t@7.0.1',
      'm.m@1.0.0 (needed by a.a@1.0.0) is missing; put its archive beside the file, or name its folder with --from',
      'z.z@current (needed by t.t@7.0.1) names no fixed version; 3.0.0 is here: --use z.z@3.0.0',
    ]);
    const used = resolve({
      ...given,
      folder: [...given.folder, 'm.m@1.0.0'],
      uses: { 't.t': '7.0.1', 'z.z': '3.0.0' },
    });
    expect(used.faults).toEqual([]);
    expect(used.chosen.get('a.a')).toMatchObject({
      dependencies: { 't.t': '7.0.1', 'm.m': '1.0.0' },
      overridden: { 't.t': '6.5.0' },
    });
  });

  it('two that exclude each other need a word', () => {
    const given = {
      direct: ['a.a@1.0.0 b.b@1.0.0 c.c@1.0.0'],
      folder: ['b.b@1.0.0 c.c@2.0.0', 'c.c@1.0.0', 'c.c@2.0.0'],
    };
    expect(resolve(given).faults).toEqual([
      'b.b@1.0.0.tgz: b.b@1.0.0 needs c.c@2.0.0, but 1.0.0 is taken (needed by a.a@1.0.0); to take it for both: --use c.c@1.0.0',
    ]);
    expect(resolve({ ...given, uses: { 'c.c': '2.0.0' } })).toMatchObject({
      versions: ['a.a@1.0.0', 'b.b@1.0.0', 'c.c@2.0.0'],
      faults: [],
    });
  });

  it('an older one than is stored is refused, unless it is wanted', () => {
    const given = { direct: ['a.a@1.0.0'], stored: ['a.a@1.1.0-ballot'] };
    expect(resolve(given).faults).toEqual([
      'a.a@1.0.0.tgz: a.a@1.0.0 is older than 1.1.0-ballot, which is stored; to go back, say --downgrade',
    ]);
    expect(resolve({ ...given, allowsDowngrade: true }).faults).toEqual([]);
  });

  it('a newer one that a stored package excludes is refused', () => {
    const given = { direct: ['a.a@2.0.0'], stored: ['a.a@1.0.0', 'b.b@1.0.0 a.a@1.0.x'] };
    expect(resolve(given).faults).toEqual([
      'the store: b.b@1.0.0 needs a.a@1.0.x, but 2.0.0 is taken; to take it for both: --use a.a@2.0.0',
    ]);
    expect(resolve({ ...given, uses: { 'a.a': '2.0.0' } }).faults).toEqual([]);
  });

  // It had asked for --use again.
  it('what a stored package was given in place of what it asks for is given to it on', () => {
    const given = {
      direct: ['a.a@1.0.0 e.e@1.0.0'],
      stored: ['e.e@1.0.0 t.t@6.5.0', 't.t@7.0.1 e.e@0.9.0'],
      overridden: { 'e.e': { 't.t': '6.5.0' }, 't.t': { 'e.e': '0.9.0' } },
    };
    expect(resolve(given)).toMatchObject({ versions: ['a.a@1.0.0', 'e.e@1.0.0', 't.t@7.0.1'], faults: [] });
    expect(resolve({ ...given, overridden: {} }).faults).toHaveLength(2);
  });

  it('another core, the core itself, and two versions at once are refused', () => {
    const given = { direct: ['a.a@1.0.0 hl7.fhir.r4.core@4.0.1', 'a.a@1.1.0', 'hl7.fhir.r5.core@5.0.0'] };
    expect(resolve(given).faults).toEqual([
      'a.a@1.1.0.tgz: is another version of a.a@1.0.0, which a.a@1.0.0.tgz is; one version of a package can be there; give one of the two',
      'hl7.fhir.r5.core@5.0.0.tgz: is the core of FHIR: the server itself has it',
      'a.a@1.0.0.tgz: a.a@1.0.0 needs hl7.fhir.r4.core@4.0.1: another version of FHIR than 5.0.0',
    ]);
  });

  // semver 11.4
  it('versions are in order', () => {
    const order = ['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta.2', '1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.2', '1.0.10', '2.0.0']; // prettier-ignore
    fc.assert(
      fc.property(fc.nat(9), fc.nat(9), (a, b) => {
        expect(Math.sign(compareVersions(order[a]!, order[b]!))).toBe(Math.sign(a - b));
      }),
    );
    expect([satisfies('1.0.7', '1.0.x'), satisfies('1.1.0', '1.0.x'), satisfies('1.0.0', '1.0')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
