import { beforeAll, describe, expect, it } from 'vitest';
import type { Erratum } from '../../../generator/load/errata.js';
import { applyErrata, omitDefinitions } from '../../../generator/load/errata.js';
import { GeneratorError } from '../../../generator/generator-error.js';
import { loadDefinitions } from '../../../generator/load/definitions.js';
import type { LoadedPackage } from '../../../generator/load/package.js';
import { PATIENCE } from '../command.js';
import { R5, readPackage } from '../release.js';

const target = 'http://hl7.org/fhir/SearchParameter/Device-serial-number';
const erratum: Erratum = { package: 'hl7.fhir.r5.core', target, reason: 'A test.' };
const { errata } = loadDefinitions('definitions');

let published: LoadedPackage;
beforeAll(async () => {
  published = await readPackage(R5);
}, PATIENCE);

function faultsOf(...list: readonly Erratum[]): readonly string[] {
  try {
    applyErrata(published, list);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(GeneratorError);
    expect((error as GeneratorError).message).toMatch(/^definitions\/errata\.json: .* no longer apply/);
    return (error as GeneratorError).details;
  }
}

const parameterOf = (loaded: LoadedPackage) => loaded.searchParameters.find(({ url }) => url === target);

describe('a correction that no longer applies stops the generator and is named', () => {
  it.each<[string, Partial<Erratum>, string]>([
    [
      'its definition is gone',
      { target: 'http://hl7.org/fhir/SearchParameter/gone', omit: true },
      'http://hl7.org/fhir/SearchParameter/gone: hl7.fhir.r5.core@5.0.0 has no such definition',
    ],
    [
      'something else stands there',
      { path: '/code', was: 'serial', now: 'x' },
      `${target} /code: expected "serial", found "serial-number"`,
    ],
    [
      'nothing stands there',
      { path: '/nothing', was: 'x', now: 'y' },
      `${target} /nothing: expected "x", found undefined`,
    ],
    [
      'something stands where nothing should',
      { path: '/code', now: 'x' },
      `${target} /code: expected undefined, found "serial-number"`,
    ],
    [
      'what holds it is gone',
      { path: '/component/0/expression', was: 'x', now: 'y' },
      `${target} /component/0/expression: there is nothing at this place`,
    ],
    ['its path leads nowhere', { path: 'code', was: 'x' }, `${target} code: path is not a JSON pointer below the root`],
  ])('%s', (_title, change, fault) => {
    expect(faultsOf({ ...erratum, ...change })).toEqual([fault]);
  });

  it('all of them at once', () => {
    const wrong = { ...erratum, path: '/code', was: 'serial' };
    const gone = { ...erratum, target: 'http://hl7.org/x', omit: true as const };
    expect(faultsOf(wrong, gone)).toHaveLength(2);
  });

  it('but those of another package are left alone', () => {
    expect(faultsOf({ ...erratum, package: 'hl7.fhir.r6.core', target: 'http://hl7.org/x', omit: true })).toEqual([]);
  });
});

describe('corrections', () => {
  it('are made to copies: the package stays as published', () => {
    const lists = [published.searchParameters, published.operations, published.compartments].flat();
    const before = JSON.stringify(lists);
    const corrected = applyErrata(published, errata);
    expect(parameterOf(corrected)?.expression).toContain("where(code='SNO')");
    expect(parameterOf(published)?.expression).toContain("where(type='SNO')");
    expect(JSON.stringify(lists)).toBe(before);
    // So that they can be made again: now each `was` stands as it did.
    expect(() => applyErrata(published, errata)).not.toThrow();
  });

  it('touch no definition but their targets', () => {
    const corrected = applyErrata(published, errata);
    const targets = new Set(errata.map((each) => each.target));
    const untouched = published.searchParameters.filter(({ url }) => !targets.has(url));
    expect(corrected.searchParameters.filter(({ url }) => !targets.has(url))).toEqual(untouched);
  });

  it('replace, add and delete, also in an array', () => {
    const corrected = parameterOf(
      applyErrata(published, [
        { ...erratum, path: '/code', was: 'serial-number', now: 'serial' },
        { ...erratum, path: '/purpose', now: 'a test' },
        { ...erratum, path: '/type', was: 'string' },
        { ...erratum, path: '/base/0', was: 'Device' },
      ]),
    );
    expect(corrected).toMatchObject({ code: 'serial', purpose: 'a test', base: [] });
    expect(corrected).not.toHaveProperty('type');
  });

  it('are read as JSON pointers (RFC 6901 section 4)', () => {
    const corrected = applyErrata(published, [
      { ...erratum, path: '/a~1b~0c', now: 1 },
      { ...erratum, path: '/a~01', now: 2 },
    ]);
    expect(parameterOf(corrected)).toMatchObject({ 'a/b~c': 1, 'a~1': 2 });
  });

  it('leave whole definitions out, for the census before any other correction', () => {
    const left = omitDefinitions(published, [
      { ...erratum, omit: true },
      { ...erratum, path: '/code', was: 'nonsense' },
    ]);
    expect(parameterOf(left)).toBeUndefined();
    expect(left.searchParameters).toHaveLength(published.searchParameters.length - 1);
  });
});
