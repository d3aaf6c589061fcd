import type { Document } from 'mongodb';

import { KEY_FIELD } from '../plan/merge.js';
import type { FieldTest, FieldTests, RowTest } from './row-test.js';

/** Gives the expression of a value: the value itself, or where it is kept. */
type ToExpression = (value: unknown) => unknown;

/** A value as itself, whatever it looks like. */
function literal(value: unknown): Document {
  return { $literal: value };
}

/** Whether a document has a row that fulfils some of these tests, as an expression. */
export function hasRow(tests: readonly RowTest[]): Document {
  return someOf(tests, (test, toExpression) => ({ $gt: [{ $size: rowsWith([test], toExpression, listed) }, 0] }));
}

/** Gives the expression of the rows of a kind. */
type RowsOf = (kind: RowTest['kind']) => Document | string;

/** Rows of the indexed array. */
export const listed: RowsOf = (kind) => ({ $ifNull: [`$${kind}`, []] });

/** With those that are in no index, for others cover them. In documents of an older layout all are. */
export const withCovered: RowsOf = (kind) => ({ $concatArrays: [listed(kind), { $ifNull: [`$covered.${kind}`, []] }] });

/**
 * Whether for some of the alternatives there are rows of one group (`g`) that fulfil some test of each part.
 *
 * @param isCovered whether the parameters of the parts have their values, too
 */
export function shareGroup(alternatives: readonly (readonly (readonly RowTest[])[])[], isCovered: boolean): Document {
  const rowsOf = isCovered ? withCovered : listed;
  const params = new Map<RowTest['kind'], Set<string>>();
  for (const { kind, p } of alternatives.flat(2)) params.set(kind, (params.get(kind) ?? new Set()).add(p));
  // The rows of the parameter once: they are few among those of the document, and looked at for each alternative.
  const rows = [...params].map(([kind, all]): [string, Document] => [
    `${kind}Rows`,
    { $filter: { input: rowsOf(kind), as: 'row', cond: { $in: ['$$row.p', literal([...all])] } } },
  ]);
  const keys = [...params.keys()].flatMap((kind): [string, Document][] => {
    const key = KEY_FIELD[kind];
    return key === undefined ? [] : [[`${kind}Keys`, { $map: { input: `$$${kind}Rows`, as: 'row', in: `$$row.${key}` } }]]; // prettier-ignore
  });
  const some = someOf(
    alternatives,
    (parts, toExpression) => {
      const groups = parts.map((tests) => groupsWith(tests, toExpression, (kind) => `$$${kind}Rows`));
      return { $gt: [{ $size: { $setIntersection: groups } }, 0] };
    },
    keysOf,
  );
  return { $let: { vars: Object.fromEntries(rows), in: { $let: { vars: Object.fromEntries(keys), in: some } } } };
}

/** A value that a document has to have for it. */
interface Key {
  readonly value: unknown;
  /** Those that the document has. */
  readonly among: string;
}

/** The values that parts ask for which ask for one. */
function keysOf(parts: readonly (readonly RowTest[])[]): Key[] {
  return parts.flatMap(([only, ...more]) => {
    const test = only === undefined || more.length > 0 ? undefined : only.fields[KEY_FIELD[only.kind] ?? ''];
    if (test === undefined || !('in' in test) || test.in.length !== 1) return [];
    return [{ value: test.in[0], among: `$$${only!.kind}Keys` }];
  });
}

/**
 * Whether some of these holds. Those that differ in their values alone are one expression, and the values a list that it is
 * tried with: thousands of expressions take the server longer to read than to evaluate.
 *
 * @param keysOf what the document has to have for one, which is looked at first: it takes a tenth of the time
 */
function someOf<T>(
  all: readonly T[],
  make: (one: T, toExpression: ToExpression) => Document,
  keysOf: (one: T) => readonly Key[] = () => [],
): Document {
  const byShape = new Map<string, { expression: Document; among: readonly string[]; lists: Document[] }>();
  for (const one of all) {
    const values: unknown[] = [];
    const expression = make(one, (value) => `$$tried.v${values.push(value) - 1}`);
    const keys = keysOf(one);
    const among = keys.map((key) => key.among);
    const shape = JSON.stringify([expression, among]);
    const same = byShape.get(shape) ?? { expression, among, lists: [] };
    const named = [...keys.map(({ value }, i) => [`k${i}`, value]), ...values.map((value, i) => [`v${i}`, value])];
    same.lists.push(Object.fromEntries(named) as Document);
    byShape.set(shape, same);
  }
  const some = [...byShape.values()].map(({ expression, among, lists }) => {
    const list = literal(lists);
    const cond = { $and: among.map((each, i) => ({ $in: [`$$tried.k${i}`, each] })) };
    const input = among.length === 0 ? list : { $filter: { input: list, as: 'tried', cond } };
    return { $anyElementTrue: [{ $map: { input, as: 'tried', in: expression } }] };
  });
  return some.length === 1 ? some[0]! : { $or: some };
}

/** The rows of one kind that fulfil some of these tests. */
function rowsWith(tests: readonly RowTest[], toExpression: ToExpression, rowsOf: RowsOf): Document {
  const input = rowsOf(tests[0]!.kind);
  return { $filter: { input, as: 'row', cond: { $or: tests.map((test) => isRow(test, toExpression)) } } };
}

function isRow({ p, fields }: RowTest, toExpression: ToExpression): Document {
  return { $and: [{ $eq: ['$$row.p', literal(p)] }, ...fieldExpressions('$$row', fields, toExpression)] };
}

/** The groups of all rows that fulfil some of these tests. */
function groupsWith(tests: readonly RowTest[], toExpression: ToExpression, rowsOf: RowsOf): Document {
  const byKind = new Map<string, RowTest[]>();
  for (const test of tests) byKind.set(test.kind, [...(byKind.get(test.kind) ?? []), test]);
  const groups = [...byKind.values()].map((some) => ({
    $map: { input: rowsWith(some, toExpression, rowsOf), as: 'row', in: '$$row.g' },
  }));
  return groups.length === 1 ? groups[0]! : { $concatArrays: groups };
}

function fieldExpressions(row: string, fields: FieldTests, toExpression: ToExpression): Document[] {
  return Object.entries(fields).map(([name, test]) => fieldExpression(`${row}.${name}`, test, toExpression));
}

function fieldExpression(path: string, test: FieldTest, toExpression: ToExpression): Document {
  if ('in' in test) return { $in: [path, toExpression([...test.in])] };
  if ('range' in test) {
    const bounds = Object.entries(test.range).map(([name, value]) => ({ [`$${name}`]: [path, toExpression(value)] }));
    // Below every value there is what is missing.
    return { $and: [{ $gt: [path, null] }, ...bounds] };
  }
  if ('isAbsent' in test) return { $eq: [{ $type: path }, 'missing'] };
  if ('contains' in test) return { $gte: [{ $indexOfBytes: [path, toExpression(test.contains)] }, 0] };
  if ('pattern' in test) return { $regexMatch: { input: path, regex: toExpression(test.pattern) } };
  if ('ends' in test) return endsExpression(path, toExpression(test.ends));
  if ('differs' in test) return { $not: [fieldExpression(path, test.differs, toExpression)] };
  if ('equalsAnyCase' in test) return { $eq: [{ $toLower: path }, toExpression(test.equalsAnyCase)] };
  if ('beginsAnyCase' in test) {
    const at = { $indexOfBytes: [{ $toLower: path }, toExpression(test.beginsAnyCase)] };
    return { $and: [{ $gt: [path, null] }, { $eq: [at, 0] }] };
  }
  const cond = { $and: fieldExpressions('$$element', test.some, toExpression) };
  const found = { $filter: { input: { $ifNull: [path, []] }, as: 'element', cond } };
  return { $gt: [{ $size: found }, 0] };
}

/** Tests whether a text ends with `end`: `end` occurs at the difference of the two lengths. */
function endsExpression(path: string, end: unknown): Document {
  const text = { $ifNull: [path, ''] };
  const before = { $subtract: [{ $strLenBytes: text }, { $strLenBytes: end }] };
  const found = { $indexOfBytes: [text, end, { $max: [before, 0] }] };
  return { $and: [{ $gt: [path, null] }, { $gte: [before, 0] }, { $eq: [found, before] }] };
}
