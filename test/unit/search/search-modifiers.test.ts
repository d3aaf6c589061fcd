import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import type { SearchRow, SearchType } from '../../../runtime/contract/search.js';
import { isCanonical } from '../../../runtime/search/parse/parse-value.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { matches } from '../../../runtime/search/query/match.js';
import { modifiersOf } from '../../../runtime/search/parse/modifiers.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import { placesOf } from '../../../runtime/indexing/parameter-kinds.js';
import { utc } from '../../../runtime/indexing/values/zone.js';

/** All that the specification has. https://hl7.org/fhir/R5/valueset-search-modifier-code.html, search.html#modifiers */
const MODIFIERS = ['above', 'below', 'code-text', 'contains', 'exact', 'identifier', 'in', 'iterate', 'missing', 'not', 'not-in', 'of-type', 'text', 'text-advanced', '[type]'] as const; // prettier-ignore

type Modifier = (typeof MODIFIERS)[number];

/** What works on which types; every other cell is refused by name. */
const WORKS: Readonly<Record<SearchType, readonly Modifier[]>> = {
  composite: ['missing'],
  date: ['missing'],
  number: ['missing'],
  quantity: ['missing'],
  // The last two on those that can refer into a hierarchy.
  reference: ['[type]', 'identifier', 'missing', 'not', 'above', 'below'],
  // Those that ask for places.
  special: ['missing'],
  string: ['contains', 'exact', 'missing'],
  token: ['above', 'below', 'code-text', 'in', 'missing', 'not', 'not-in', 'of-type'],
  uri: ['above', 'below', 'missing', 'not'],
};

/** Types of values that have text beside them. */
const WITH_TEXT = new Set(['Coding', 'CodeableConcept', 'CodeableReference', 'Identifier', 'Reference']);

function works({ type, paths }: SearchRow, modifier: Modifier): boolean {
  if (WORKS[type].includes(modifier)) return true;
  if (modifier !== 'text' && modifier !== 'text-advanced') return false;
  const isText = paths.some(({ types }) => types.some((each) => WITH_TEXT.has(each)));
  return (type === 'token' || type === 'reference') && isText;
}

const searchTables = new Map(tables.search.map((table) => [table.type, table]));
const resourceTypes = new Set(tables.resourceTypes);
const extract = createExtractor(tables);
const hierarchies = searchDefinitions(tables).hierarchies();

const isFollowed = (modifier: string): boolean => modifier === 'above' || modifier === 'below';

/** A type that a parameter can refer to, whose hierarchy is followed then. */
function followedType(type: string, { code, targets = [] }: SearchRow): string | undefined {
  const codesOf = (target: string): readonly string[] => hierarchies.get(target) ?? [];
  return targets.find((each) => codesOf(each).length === 1 || (each === type && codesOf(each).includes(code)));
}

function parse(type: string, name: string, value: string) {
  return parseCriterion(name, value, {
    rows: parametersOf(type, searchTables),
    isResourceType: (word) => resourceTypes.has(word),
    zone: utc,
    own: new OwnBases(),
    now: 0,
    maxAlternatives: 10,
    hierarchy: { type, hierarchies },
  });
}

/** A value that a modifier could take on a type, were there such a thing. */
function valueFor(row: SearchRow, modifier: Modifier | ''): string {
  if (modifier === 'missing') return 'true';
  if (modifier === 'of-type') return 'urn:t|MR|1';
  if (row.type === 'token' && isFollowed(modifier)) return 'urn:system|code';
  const values: Record<string, string> = {
    date: '2020-01-01',
    number: '1',
    quantity: '1',
    reference: 'a',
    uri: 'urn:a',
  };
  if (row.type === 'composite') return (row.components ?? []).map(({ type }) => values[type] ?? 'x').join('$');
  return values[row.type] ?? 'x';
}

const rows = tables.search.flatMap(({ type, parameters }) =>
  parameters.map((row) => ({ row, type: resourceTypes.has(type) ? type : 'Patient', name: `${type}.${row.code}` })),
);

describe('modifiers (search.html#modifiers)', () => {
  it('of every parameter work, or are refused by name with 400', () => {
    const wrong: string[] = [];
    let working = 0;
    for (const { row, type, name } of rows) {
      const isThere = (row.type !== 'special' || placesOf(row) !== undefined) && row.paths.length > 0 && !['_in'].includes(row.code) && !(row.components ?? []).some((each) => each.type === 'special'); // prettier-ignore
      for (const modifier of MODIFIERS) {
        const spelt = modifier === '[type]' ? (row.targets?.[0] ?? 'Patient') : modifier;
        let problem: unknown;
        try {
          const followed = isFollowed(modifier) ? followedType(type, row) : undefined;
          parse(type, `${row.code}:${spelt}`, followed === undefined ? valueFor(row, modifier) : `${followed}/a`);
          working++;
        } catch (error) {
          problem = error;
        }
        const isHead = row.code === '_id' && !['missing', 'not'].includes(modifier);
        const isExpected = isThere && !isHead && works(row, modifier) && (row.type !== 'reference' || !isFollowed(modifier) || followedType(type, row) !== undefined || (modifier === 'below' && isCanonical(row))); // prettier-ignore
        if (isExpected ? problem !== undefined : !isRefusal(problem, row.code, isThere ? spelt : '')) {
          wrong.push(`${name}:${spelt} (${row.type}): ${problem instanceof Error ? problem.message : 'works'}`);
        }
        if (isThere && modifiersOf(row, { type, hierarchies }).includes(modifier) !== isExpected)
          wrong.push(`${name}:${modifier} is told wrongly`);
      }
    }
    expect(wrong).toEqual([]);
    expect(working).toBeGreaterThan(4000);
  });

  function isRefusal(problem: unknown, code: string, modifier: string): boolean {
    if (!(problem instanceof FhirError) || problem.status !== 400) return false;
    return problem.message.includes(code) && problem.message.includes(modifier);
  }

  it.each([
    'nope',
    'NOT',
    'not:not',
    'Exact',
    'missing ',
    'constructor',
    '__proto__',
    'toString',
    '[type]',
    'Nothing',
    'a.b',
  ])('what is none is refused on every type of parameter: %j', (modifier) => {
    const wrong: string[] = [];
    for (const [type, code] of [
      ['Patient', 'name'],
      ['Patient', 'gender'],
      ['Patient', 'birthdate'],
      ['Patient', 'organization'],
      ['RiskAssessment', 'probability'],
      ['Observation', 'value-quantity'],
      ['Observation', 'code-value-quantity'],
      ['ValueSet', 'url'],
    ] as const) {
      // prettier-ignore
      try {
          parse(type, `${code}:${modifier}`, 'x');
          wrong.push(`${code}:${modifier}`);
        } catch (error) {
          if (!(error instanceof FhirError) || error.status !== 400) wrong.push(`${code}:${modifier} ${String(error)}`);
        }
    }
    expect(wrong).toEqual([]);
  });
});

type Json = Record<string, unknown>;
const patient: Json = {
  resourceType: 'Patient',
  id: 'p',
  name: [{ family: 'Évesque' }],
  identifier: [{ type: { coding: [{ system: 'urn:t', code: 'MR' }] }, system: 'urn:s', value: 'AB-1' }],
  gender: 'male',
  birthDate: '2020-02-03',
  generalPractitioner: [{ reference: 'Practitioner/1' }, { identifier: { system: 'urn:i', value: '7' } }],
};
const risk: Json = { resourceType: 'RiskAssessment', id: 'r', prediction: [{ probabilityDecimal: 0.5 }] };
const observation: Json = {
  resourceType: 'Observation',
  id: 'o',
  code: { coding: [{ system: 'urn:c', code: 'x' }] },
  valueQuantity: { value: 5 },
};
const located: Json = { resourceType: 'Location', id: 'l', position: { latitude: 1, longitude: 2 } };
const valueSet: Json = { resourceType: 'ValueSet', id: 'v', url: 'http://a/b/c' };

/** For each cell that works: a resource, a criterion that finds it, one that does not. */
const CELLS: readonly (readonly [SearchType, Modifier, Json, finds: string, not: string])[] = [
  ['composite', 'missing', observation, 'code-value-quantity:missing=false', 'code-value-quantity:missing=true'],
  ['date', 'missing', patient, 'death-date:missing=true', 'birthdate:missing=true'],
  ['number', 'missing', risk, 'probability:missing=false', 'probability:missing=true'],
  ['quantity', 'missing', observation, 'value-quantity:missing=false', 'value-quantity:missing=true'],
  ['reference', 'missing', patient, 'organization:missing=true', 'organization:missing=false'],
  ['reference', '[type]', patient, 'general-practitioner:Practitioner=1', 'general-practitioner:Organization=1'],
  [
    'reference',
    'identifier',
    patient,
    'general-practitioner:identifier=urn:i|7',
    'general-practitioner:identifier=urn:j|7',
  ],
  ['reference', 'not', patient, 'general-practitioner:not=2', 'general-practitioner:not=2,Practitioner/1'],
  ['special', 'missing', located, 'near:missing=false', 'contains:missing=false'],
  ['string', 'missing', patient, 'address:missing=true', 'name:missing=true'],
  ['string', 'contains', patient, 'family:contains=VESQ', 'family:contains=x'],
  ['string', 'exact', patient, 'family:exact=Évesque', 'family:exact=Evesque'],
  ['token', 'missing', patient, 'language:missing=true', 'gender:missing=true'],
  ['token', 'not', patient, 'gender:not=female', 'gender:not=female,male'],
  ['token', 'code-text', patient, 'identifier:code-text=ab', 'identifier:code-text=b'],
  ['token', 'of-type', patient, 'identifier:of-type=urn:t|MR|AB-1', 'identifier:of-type=urn:s|MR|AB-1'],
  ['uri', 'missing', valueSet, 'url:missing=false', 'url:missing=true'],
  ['uri', 'above', valueSet, 'url:above=http://a/b/c/d', 'url:above=http://a/b'],
  ['uri', 'below', valueSet, 'url:below=http://a/b', 'url:below=http://a/b/c/d'],
  ['uri', 'not', valueSet, 'url:not=http://a/b', 'url:not=http://a/b/c'],
];

describe('each modifier that works on a type does what it says', () => {
  it.each(CELLS)('%s :%s', (_type, _modifier, resource, ...criteria) => {
    const found = criteria.map((criterion) => {
      const [name = '', value = ''] = criterion.split('=');
      const candidate = { id: String(resource['id']), lastUpdated: 0, entries: extract(resource) };
      return matches(parse(String(resource['resourceType']), name, value) as Condition, candidate);
    });
    expect(found).toEqual([true, false]);
  });

  it('no cell is left out', () => {
    const cells = CELLS.map(([type, modifier]) => `${type} ${modifier}`).sort();
    const works = Object.entries(WORKS).flatMap(([type, modifiers]) =>
      modifiers.map((modifier) => `${type} ${modifier}`),
    );
    // What is above and below, and what is in a value set, is in the store.
    const codes = ['in', 'not-in', 'above', 'below'].map((each) => `token ${each}`);
    const elsewhere = ['reference above', 'reference below', ...codes];
    expect(cells).toEqual(works.filter((cell) => !elsewhere.includes(cell)).sort());
  });
});

describe('prefixes (search.html#prefix)', () => {
  const PREFIXES = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'];
  const ordered = rows.filter(({ row }) => ['number', 'date', 'quantity'].includes(row.type));

  it('all of them, on every parameter of numbers, dates and quantities; others are refused', () => {
    for (const { type, row } of ordered) {
      const value = valueFor(row, '');
      for (const prefix of PREFIXES) expect(() => parse(type, row.code, prefix + value), row.code).not.toThrow();
      for (const none of ['xx', 'GT', 'e', 'eqeq', 'gt ']) {
        expect(() => parse(type, row.code, none + value), `${row.code}=${none}${value}`).toThrow(row.code);
      }
    }
    expect(ordered.length).toBeGreaterThan(150);
  });

  it('on other types they are the beginning of the text', () => {
    expect(parse('Patient', 'name', 'gtx')).toEqual({ param: 'name', any: [{ is: 'string-begins', folded: 'gtx' }] });
    expect(parse('Patient', 'gender', 'ne1')).toEqual({ param: 'gender', any: [{ is: 'token', code: 'ne1' }] });
    expect(parse('ValueSet', 'url', 'eb:1')).toEqual({ param: 'url', any: [{ is: 'uri-equals', value: 'eb:1' }] });
  });
});
