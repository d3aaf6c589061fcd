import type { IndexEntry } from '../../../search/entry.js';
import type { Leaf, ValueTest } from '../../../search/query/query.js';
import { entryAccess, idAccess, timeAccess } from './access.js';
import { timeRanges } from './date-range.js';
import { NONE, type Compiled } from './compiled.js';
import { compileRows } from './rows.js';
import { rangeMatch } from './row-match.js';
import { shareGroup } from './row-expression.js';
import { mergeTests } from './merge.js';
import type { Kind, Range } from './row-test.js';
import { toRowTests } from './row-tests.js';

/** Arrays of rows that entries of a kind are in. */
const ARRAYS: Readonly<Record<Exclude<IndexEntry['kind'], 'composite'>, Kind>> = {
  token: 'token',
  string: 'string',
  date: 'date',
  number: 'number',
  quantity: 'number',
  reference: 'reference',
  uri: 'uri',
};

/** What a condition on entries or on the head of a resource comes to. */
export function compileLeaf(type: string, leaf: Leaf): Compiled {
  if ('ids' in leaf) {
    const keys = [...new Set(leaf.ids)].map((id) => `${type}/${id}`);
    return { filter: { _id: { $in: keys } }, accesses: [idAccess(type, leaf.ids)] };
  }
  if ('updated' in leaf) return compileTime(type, leaf.updated.map(timeRanges));
  if ('present' in leaf) return compilePresent(type, leaf.param, leaf.present);
  if ('any' in leaf) return compileAny(type, leaf.param, leaf.any);
  return compileComposite(type, leaf.param, leaf.composite);
}

function compileTime(type: string, alternatives: readonly (readonly Range[])[]): Compiled {
  const filters = alternatives.map((ranges) => ({
    $and: [{}, ...ranges.map((range) => ({ updated: rangeMatch(range) }))],
  }));
  if (filters.length === 0) return { filter: NONE, accesses: [] };
  const [ranges = []] = alternatives;
  // Bounds of both ends are bounds of the one time.
  const accesses = alternatives.length === 1 ? [timeAccess(type, Object.assign({}, ...ranges) as Range)] : [];
  return { filter: { $or: filters }, accesses };
}

function compilePresent(type: string, param: string, kind: IndexEntry['kind']): Compiled {
  if (kind === 'composite') {
    // The part tells nothing of its kind.
    const kinds = [...new Set(Object.values(ARRAYS))];
    return { filter: { $or: kinds.map((each) => ({ [`${each}.p`]: partParam(param, 0) })) }, accesses: [] };
  }
  const array = ARRAYS[kind];
  const accesses = [entryAccess(type, array, param, { ranges: [{}] })];
  return { filter: { [array]: { $elemMatch: { p: param } } }, accesses };
}

function compileAny(type: string, param: string, tests: readonly ValueTest[]): Compiled {
  return compileRows(type, mergeTests(tests.flatMap((test) => toRowTests(param, test))));
}

/** The parameter under which the rows of a part of a composite are kept. */
function partParam(param: string, part: number): string {
  return `${param}$${part + 1}`;
}

/**
 * Each part is fulfilled by some row, and for some alternative all parts by rows of one group. The first can use an index, the
 * second makes it exact.
 */
function compileComposite(
  type: string,
  param: string,
  alternatives: readonly (readonly (readonly ValueTest[])[])[],
): Compiled {
  const rows = alternatives
    .map((parts) => parts.map((tests, i) => tests.flatMap((test) => toRowTests(partParam(param, i), test))))
    .filter((parts) => parts.every((tests) => tests.length > 0));
  const count = Math.max(0, ...rows.map((parts) => parts.length));
  if (rows.length === 0 || count === 0) return { filter: NONE, accesses: [] };
  const parts = Array.from({ length: count }, (_, i) =>
    compileRows(type, mergeTests(rows.flatMap((tests) => tests[i] ?? []))),
  );
  const exact = { $expr: shareGroup(rows) };
  return {
    filter: { $and: [...parts.map(({ filter }) => filter), exact] },
    accesses: parts.flatMap(({ filter, accesses }) => accesses.map((access) => ({ ...access, part: filter }))),
  };
}
