import type { ReferenceTest, ValueTest } from '../../../../search/query/query.js';
import type { Plan } from '../plan/plan.js';
import type { FieldTest, RowTest } from './row-test.js';
import { escapeRegex } from './text.js';

/** Places of references that a search may list; where there are more, those of many types go by their ids. */
const MAX_PLACES = 5000;

/** So few types are listed, however many ids there are. */
const FEW_TYPES = 4;

/**
 * Whether a search asks for so many places (each id of its references with each of their types) that listing them would hold
 * up the process, and the server after it.
 */
export function hasManyPlaces(where: Plan): boolean {
  return placesIn(where) > MAX_PLACES;
}

function placesIn(where: Plan): number {
  if ('all' in where) return sum(where.all, placesIn);
  if ('some' in where) return sum(where.some, placesIn);
  if ('not' in where) return placesIn(where.not);
  if ('any' in where) return sum(where.any, placesOf);
  return 'composite' in where ? sum(where.composite, (parts) => sum(parts, (tests) => sum(tests, placesOf))) : 0;
}

function placesOf(test: ValueTest): number {
  return isOfManyTypes(test) ? (test.types?.length ?? 0) : 0;
}

function sum<T>(all: readonly T[], measure: (one: T) => number): number {
  return all.reduce((total, one) => total + measure(one), 0);
}

/** Whether a test is of an id that any of many types may have. */
export function isOfManyTypes(test: ValueTest): test is ReferenceTest {
  return (
    test.is === 'reference' && test.id !== undefined && test.url === undefined && (test.types?.length ?? 0) > FEW_TYPES
  );
}

interface Alike {
  readonly test: ReferenceTest;
  readonly ids: Set<string>;
}

/** References to ids of any of many types, as one test for all that differ in the id alone. */
export function byIds(p: string, tests: readonly ReferenceTest[]): RowTest[] {
  // Type lists are compared by identity: all tests of a parameter share one list, which is long.
  const groups = new Map<readonly string[] | undefined, Map<string, Alike>>();
  for (const test of tests) {
    const group = groups.get(test.types) ?? new Map<string, Alike>();
    groups.set(test.types, group);
    const name = JSON.stringify([test.base, test.version, test.fragment]);
    const alike = group.get(name) ?? { test, ids: new Set() };
    group.set(name, alike);
    alike.ids.add(test.id!);
  }
  return [...groups.values()].flatMap((group) => [...group.values()].flatMap((alike) => toRowTest(p, alike)));
}

function toRowTest(p: string, { test: { types = [], base, version, fragment }, ids }: Alike): RowTest[] {
  const names = `^${base === undefined ? '' : `${escapeRegex(base)}/`}(?:${types.map(escapeRegex).join('|')})/[^/]*$`;
  // A regular expression cannot hold it, and no base URL does.
  if (names.includes('\0')) return [];
  const equal = (name: string, value: string | undefined): Record<string, FieldTest> =>
    value === undefined ? {} : { [name]: { in: [value] } };
  const fields = { id: { in: [...ids] }, to: { pattern: names } };
  return [
    { kind: 'reference', p, fields: { ...fields, ...equal('version', version), ...equal('fragment', fragment) } },
  ];
}
