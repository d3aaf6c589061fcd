import type { Document } from 'mongodb';

import { append, greatest } from '../../../../fhir/lists.js';
import type { IndexEntry } from '../../../../indexing/entry.js';
import {
  type CompositeLeaf,
  type Leaf,
  type PresenceLeaf,
  type ValueTest,
  valuedBy,
} from '../../../../search/query/query.js';
import { entryAccess, idAccess, timeAccess } from '../plan/access.js';
import { joinedParam, partParam, referenceParams } from '../../bson/index-rows.js';
import { timeRanges } from './date-range.js';
import { inexact, NOTHING_COMPILED, type Compiled } from './compiled.js';
import { compilePlaces } from './places.js';
import { compileRows } from './rows.js';
import { rangeMatch } from './row-match.js';
import { shareGroup } from './row-expression.js';
import { byIds, isOfManyTypes } from './many-types.js';
import { mergeTests, type RowTests } from '../plan/merge.js';
import type { Kind, Range, RowTest } from './row-test.js';
import { toRowTests } from './row-tests.js';
import { compileWords } from './words.js';

/** Arrays of rows that entries of a kind are in. */
const ARRAYS: Readonly<Record<Exclude<IndexEntry['kind'], 'composite' | 'words'>, Kind>> = {
  token: 'token',
  string: 'string',
  date: 'date',
  number: 'number',
  quantity: 'number',
  reference: 'reference',
  uri: 'uri',
  // Their rows are tokens: cells.
  position: 'token',
  region: 'token',
};

/**
 * Compiles a condition on entries or on the head of a resource.
 *
 * @param hasManyPlaces as of the whole search
 */
export function compileLeaf(type: string, leaf: Leaf, hasManyPlaces: boolean): Compiled {
  const toRows = hasManyPlaces ? rowsByIds : rowsOf;
  if ('ids' in leaf) {
    const keys = [...new Set(leaf.ids)].map((id) => `${type}/${id}`);
    return { filter: { _id: { $in: keys } }, ways: [{ ...idAccess(type, leaf.ids), isExact: true }] };
  }
  if ('updated' in leaf) return compileTime(type, leaf.updated.map(timeRanges));
  if ('present' in leaf) return compilePresent(type, leaf);
  if ('places' in leaf) return compilePlaces(type, leaf.param, leaf.places);
  if ('words' in leaf) return compileWords(type, valuedBy(leaf), leaf.words);
  if ('any' in leaf) return compileRows(type, mergeTests(toRows(leaf.param, leaf.any)));
  return compileComposite(type, leaf, toRows);
}

function compileTime(type: string, alternatives: readonly (readonly Range[])[]): Compiled {
  const filters = alternatives.map((ranges) => ({
    $and: [{}, ...ranges.map((range) => ({ updated: rangeMatch(range) }))],
  }));
  if (filters.length === 0) return NOTHING_COMPILED;
  const [ranges = []] = alternatives;
  // Bounds of both ends are bounds of the one time.
  const ways = alternatives.length === 1 ? [timeAccess(type, Object.assign({}, ...ranges) as Range)] : [];
  return { filter: { $or: filters }, ways };
}

function compilePresent(type: string, { param, present: kind, coveredBy: [first] = [] }: PresenceLeaf): Compiled {
  if (kind === 'composite') {
    // The part tells nothing of its kind.
    const kinds = [...new Set(Object.values(ARRAYS))];
    const arrays = first === undefined ? kinds : kinds.flatMap((each) => [each, `covered.${each}`]);
    const names = referenceParams(partParam(param, 0));
    const filter = { $or: arrays.map((each) => ({ [`${each}.p`]: { $in: names } })) };
    if (first === undefined) return { filter, ways: [] };
    return withParts(filter, [compilePresent(type, { param: first.param, present: first.kind })]);
  }
  const array = ARRAYS[kind];
  if (array === 'reference') return compileRows(type, mergeTests(referenceParams(param).map((p) => ({ kind: array, p, fields: {} })))); // prettier-ignore
  const access = { ...entryAccess(type, array, param, { ranges: [{}] }), isExact: true };
  return { filter: { [array]: { $elemMatch: { p: param } } }, ways: [access] };
}

/** What tests of a parameter come to. */
type ToRows = (p: string, tests: readonly ValueTest[]) => readonly RowTest[];

function rowsOf(p: string, tests: readonly ValueTest[]): readonly RowTest[] {
  return tests.flatMap((test) => toRowTests(p, test));
}

/** The same, but references of many types by their ids. */
function rowsByIds(p: string, tests: readonly ValueTest[]): readonly RowTest[] {
  const many = tests.filter(isOfManyTypes);
  const others = many.length === 0 ? tests : tests.filter((test) => !isOfManyTypes(test));
  return [...rowsOf(p, others), ...byIds(p, many)];
}

/**
 * Each part is fulfilled by some row, and for some alternative all parts by rows of one group. The first can use an index, the
 * second makes it exact.
 */
function compileComposite(
  type: string,
  { param, composite: alternatives, coveredBy }: CompositeLeaf,
  toRows: ToRows,
): Compiled {
  const joined = joinedTests(param, alternatives);
  if (joined !== undefined) return compileRows(type, [joined]);
  const rowsBy = (paramOf: (part: number) => string): (readonly RowTest[])[][] =>
    alternatives
      .map((parts) => parts.map((tests, i) => toRows(paramOf(i), tests)))
      .filter((parts) => parts.every((tests) => tests.length > 0));
  const rows = rowsBy((i) => partParam(param, i));
  const count = greatest(
    rows.map((parts) => parts.length),
    0,
  );
  if (rows.length === 0 || count === 0) return NOTHING_COMPILED;
  const found = coveredBy === undefined ? rows : rowsBy((i) => coveredBy[i]!.param);
  const parts = Array.from({ length: count }, (_, i) =>
    compileRows(type, mergeTests(found.flatMap((tests) => tests[i] ?? []))),
  );
  return withParts({ $expr: shareGroup(rows, coveredBy !== undefined) }, parts);
}

/** A filter, and what it implies, by which it is found. */
function withParts(exact: Document, parts: readonly Compiled[]): Compiled {
  return {
    filter: { $and: [...parts.map(({ filter }) => filter), exact] },
    ways: parts.flatMap(({ ways }) => inexact(ways)),
  };
}

/** Codes with a system beside what is compared by ranges, where one parameter has the rows of all alternatives. */
function joinedTests(
  param: string,
  alternatives: readonly (readonly (readonly ValueTest[])[])[],
): RowTests | undefined {
  const rows: RowTest[] = [];
  for (const [tokens = [], values = [], ...others] of alternatives) {
    if (others.length > 0) return undefined;
    for (const token of tokens) {
      if (token.is !== 'token' || token.code === undefined || typeof token.system !== 'string') return undefined;
      const p = joinedParam(param, { system: token.system, code: token.code });
      for (const value of values) {
        const hasRow = value.is === 'number' || value.is === 'date' || (value.is === 'quantity' && value.canonical !== undefined); // prettier-ignore
        if (!hasRow) return undefined;
        append(rows, toRowTests(p, value));
      }
    }
  }
  const [only, ...more] = mergeTests(rows);
  return more.length === 0 ? only : undefined;
}
