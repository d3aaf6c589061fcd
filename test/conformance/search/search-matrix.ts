import { beforeAll, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import type { SearchRow } from '../../../runtime/contract/index.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Store } from '../../../runtime/store/store.js';
import { idsOf, query, sharedStore } from '../../contract/search/behaviour-search-helpers.js';
import type { Subject } from '../../contract/subject.js';
import { readSamples, writeSamples, type Sample } from './search-matrix-data.js';
import { criterionFor, IMPOSSIBLE, joined, nameOf, type Criterion } from './search-oracle-criteria.js';
import { createSearchOracle } from './search-oracle.js';

/** Pairs that answer 400 by name, and why. */
export const REFUSED: Readonly<Record<string, string>> = {
  'Composition.section-code-text': 'one of its parts is that special one',
  'Resource._has': 'no expression: reverse chains',
  'Resource._query': 'no expression: named queries',
  'Resource._type': 'no expression: several types at once',
};

/** Pairs that are about no element, with tests of their own in `test/http`. */
export const APART = [
  'Resource._filter',
  'Resource._in',
  'Resource._list',
  'Resource._content',
  'Resource._text',
  'DomainResource._text',
  'Composition.section-text',
];

const NOW = Date.parse('2024-06-01T00:00:00Z');
const searchTables = new Map(tables.search.map((table) => [table.type, table]));
export const resourceTypes = new Set(tables.resourceTypes);
const oracle = createSearchOracle({ resourceTypes, baseUrl: 'http://here/fhir', now: NOW });
export const parse = (type: string, name: string, value: string) =>
  parseCriterion(name, value, {
    rows: parametersOf(type, searchTables),
    isResourceType: (word) => resourceTypes.has(word),
    zone: utc,
    now: NOW,
    own: new OwnBases(['http://here/fhir']),
    maxAlternatives: 10,
  });

/** One pair: where it is tried, by what, and what the oracle says is found. */
interface Trial {
  readonly name: string;
  readonly type: string;
  readonly row: SearchRow;
  readonly from: Sample;
  readonly criterion: Criterion;
  readonly expected: readonly string[];
}

const samples = readSamples(tables);

/** A criterion by a value that the library finds in a resource, examples before made-up ones. */
function findValue(row: SearchRow, all: readonly Sample[]): Pick<Trial, 'from' | 'criterion'> | undefined {
  for (const from of all) {
    const values = row.type === 'composite' ? oracle.composites(row, from.resource) : oracle.items(row, from.resource).map((item) => [[item]]); // prettier-ignore
    for (const value of values) {
      const parts = value.map((items) => items.map(criterionFor).find((each) => each !== undefined && (row.type !== 'composite' || each.modifier === ''))); // prettier-ignore
      const criterion = parts.some((part) => part === undefined) ? undefined : joined(parts, '$');
      if (criterion !== undefined) return { from, criterion };
    }
  }
  return undefined;
}

/** Every pair of every table; those of the bases on the first type that has values. */
export const untried: string[] = [];
export const trials = tables.search.flatMap((table): Trial[] =>
  table.parameters.flatMap((row): Trial[] => {
    const name = `${table.type}.${row.code}`;
    if (name in REFUSED || APART.includes(name) || row.code === '_lastUpdated') return [];
    const types = resourceTypes.has(table.type) ? [table.type] : tables.resourceTypes;
    for (const type of types) {
      const all = samples.get(type) ?? [];
      const found = findValue(row, all);
      if (found === undefined) continue;
      const { modifier, text } = found.criterion;
      const expected = all.filter(({ resource }) => oracle.finds(row, modifier, text, resource)).map(({ id }) => id);
      return [{ name, type, row, ...found, expected: expected.sort() }];
    }
    untried.push(name);
    return [];
  }),
);

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  await Promise.all(Array.from({ length: 4 }, async () => { for (let item = rest.shift(); item !== undefined; item = rest.shift()) await run(item); })); // prettier-ignore
}

/** Each pair by its value and by an impossible one, on one store. */
export function matrix(on: Subject): void {
  const subject = sharedStore(on);
  let store: Store;
  beforeAll(async () => {
    ({ store } = subject);
    await writeSamples(store, samples);
  }, 120_000);

  it('by a value of a resource finds it, and what else has it, and nothing more', async () => {
    const wrong: string[] = [];
    await inParallel(trials, async ({ name, type, row, criterion, expected }) => {
      const where = parse(type, nameOf(row, criterion), criterion.text);
      const found = idsOf(await store.find(query(type, { where }))).sort();
      if (String(found) !== String(expected))
        wrong.push(`${name} ${JSON.stringify(criterion)}: ${String(found)} instead of ${String(expected)}`);
    });
    expect(wrong).toEqual([]);
  }, 120_000);

  it('by an impossible value finds nothing', async () => {
    const wrong: string[] = [];
    await inParallel(trials, async ({ name, type, row }) => {
      const impossible = (each: Pick<SearchRow, 'type'>): string => IMPOSSIBLE[each.type as 'token'];
      const text =
        row.type === 'composite'
          ? row
              .components!.map(impossible)
              .map((part) => part)
              .join('$')
          : impossible(row);
      const found = await store.find(query(type, { where: parse(type, row.code, text) }));
      if (found.versions.length > 0) wrong.push(`${name}=${text}: ${String(idsOf(found))}`);
    });
    expect(wrong).toEqual([]);
  }, 120_000);
}
