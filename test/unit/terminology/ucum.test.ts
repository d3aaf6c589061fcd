import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it, vi } from 'vitest';

import { GRAMMARS } from '../../../runtime/terminology/systems/grammar.js';
import { ATOMS, BASES, PREFIXES } from '../../../runtime/fhir/ucum/atoms.js';
import { canonicalUnit, toCanonical } from '../../../runtime/fhir/ucum/canonical.js';

/** The units as the National Library of Medicine has them, a dependency of the FHIRPath library. */
interface Known {
  readonly code: string;
  readonly magnitude: number;
  readonly dimensions: string;
}

function readKnown(): Known[] {
  const path = createRequire(import.meta.url).resolve('fhirpath/package.json');
  const file = createRequire(path).resolve('@lhncbc/ucum-lhc/data/ucumDefs.min.json');
  const { units } = JSON.parse(readFileSync(file, 'utf8')) as {
    units: { config: (string | [string])[]; data: unknown[][] };
  };
  const at = (name: string): number => units.config.findIndex((column) => String([column].flat()[0]) === name);
  return units.data
    .filter((row) => row[at('isSpecial_')] === false && row[at('isArbitrary_')] === false)
    .map((row) => ({
      code: String(row[at('csCode_')]),
      magnitude: Number(row[at('magnitude_')]),
      dimensions: JSON.stringify([row[at('dim_')], row[at('moleExp_')]]),
    }));
}

describe('units (ucum.org)', () => {
  const known = readKnown();

  it('every unit of ours is what the library has, and those that can be compared agree', () => {
    const differing: string[] = [];
    const dimensions = new Map<string, string>();
    let count = 0;
    for (const { code, magnitude, dimensions: theirs } of known) {
      const ours = canonicalUnit(code);
      // Units that begin with a division are not divided there.
      if (ours === undefined || code.startsWith('/')) continue;
      count++;
      const named = dimensions.get(ours.unit) ?? theirs;
      dimensions.set(ours.unit, named);
      if (named !== theirs) differing.push(`${code}: ${ours.unit}`);
      // They count moles as a number, and lengths in m, masses in g as we do.
      const moles = /mol|osm|eq|kat|U/.test(code) ? 6.0221367e23 : 1;
      const ratio = ours.factor / magnitude;
      const isSame = [1, moles, 1 / moles].some((each) => Math.abs(ratio * each - 1) < 1e-6);
      if (!isSame) differing.push(`${code}: ${ours.factor}, not ${magnitude}`);
    }
    expect(differing).toEqual([]);
    expect(count).toBeGreaterThan(500);
  });

  it('has no unit that the library does not know', () => {
    const codes = new Set(known.map(({ code }) => code));
    const unknown = Object.keys(ATOMS)
      .map((code) => (code === '10*' ? code : code.replace(/\*$/, '')))
      .filter((code) => !codes.has(code));
    expect(unknown).toEqual([]);
  });

  it.each([
    ['mg', 1, 'g', 0.001],
    ['mg/dL', 5.4, 'kg/m3', 0.054],
    ['mmol/L', 1, 'umol/mL', 1],
    ['10*3/uL', 5, '10*9/L', 5],
    ['mm[Hg]', 120, 'kPa', 15.99864],
    ['[degF]', 98.6, 'Cel', 37],
    ['/min', 60, 's-1', 1],
    ['{beats}/min', 60, 'Hz', 1],
    ['[lb_av]', 1, 'g', 453.59237],
    ['kg/(8.h.m2)', 8, 'kg/h/m2', 1],
    ['m[iU]/mL', 3, 'k[IU]/m3', 3],
    ['%', 50, '1', 0.5],
    ['d', 1, 'h', 24],
  ])('%s: %d are, in %s, %d', (code, value, other, same) => {
    const [one, two] = [canonicalUnit(code), canonicalUnit(other)];
    expect(one?.unit).toBe(two?.unit);
    expect(toCanonical(value, one!)).toBeCloseTo(toCanonical(same, two!), 9);
  });

  it.each([
    ['mg', 'mL'],
    ['mmol/L', 'mg/dL'],
    ['mmol/L', '/L'],
    ['[iU]', "[arb'U]"],
  ])('%s and %s cannot be compared', (one, two) => {
    expect(canonicalUnit(one)).toBeDefined();
    expect(canonicalUnit(one)?.unit).not.toBe(canonicalUnit(two)?.unit);
  });

  it.each([
    '',
    'x',
    'Mg/',
    'm g',
    'milligram',
    '[pH]',
    'dB',
    'k[in_i]',
    'm99',
    '((m',
    'toString',
    'm.{',
    'm'.repeat(200),
  ])('%s is none', (code) => {
    expect(canonicalUnit(code)).toBeUndefined();
  });

  it('what is equal in decimals is equal in the canonical unit', () => {
    const [mg, g] = [canonicalUnit('mg')!, canonicalUnit('g')!];
    for (let n = 1; n < 2000; n++) expect(toCanonical(n / 10, mg)).toBe(toCanonical(Number(`${n}e-4`), g));
  });

  it('no prefix hides a unit', () => {
    expect(canonicalUnit('cd')?.unit).toBe('cd');
    expect(canonicalUnit('min')?.unit).toBe('s');
    expect(BASES.length + Object.keys(PREFIXES).length).toBeGreaterThan(50);
  });
});

describe('the library of UCUM', () => {
  it('writes nothing to the console: once it wrote units that it failed on there, which clients had sent', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    const { check } = GRAMMARS.get('http://unitsofmeasure.org')!;
    for (const code of ['()96[iU]', '{g)[m}1', 'k-4JL*(2)3', 'a  b']) expect(await check(code)).toBeUndefined();
    expect(await check('kg')).toEqual({ display: 'kilogram' });
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });
});
