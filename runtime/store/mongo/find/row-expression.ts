import type { Document } from 'mongodb';

import type { FieldTest, FieldTests, RowTest } from './row-test.js';

/** A value as itself, whatever it looks like. */
function literal(value: unknown): Document {
  return { $literal: value };
}

/** Whether a document has a row that fulfils a test, as an expression. */
export function hasRow(test: RowTest): Document {
  return { $gt: [{ $size: rowsWith([test]) }, 0] };
}

/** The rows of one array of a document that fulfil some of these tests. */
function rowsWith(tests: readonly RowTest[]): Document {
  const input = { $ifNull: [`$${tests[0]!.kind}`, []] };
  return { $filter: { input, as: 'row', cond: { $or: tests.map(isRow) } } };
}

function isRow({ p, fields }: RowTest): Document {
  return { $and: [{ $eq: ['$$row.p', literal(p)] }, ...fieldExpressions('$$row', fields)] };
}

/** The groups (`g`) of all rows that fulfil some of these tests. */
export function groupsWith(tests: readonly RowTest[]): Document {
  const byKind = new Map<string, RowTest[]>();
  for (const test of tests) byKind.set(test.kind, [...(byKind.get(test.kind) ?? []), test]);
  const groups = [...byKind.values()].map((some) => ({ $map: { input: rowsWith(some), as: 'row', in: '$$row.g' } }));
  return groups.length === 1 ? groups[0]! : { $concatArrays: groups };
}

function fieldExpressions(row: string, fields: FieldTests): Document[] {
  return Object.entries(fields).map(([name, test]) => fieldExpression(`${row}.${name}`, test));
}

function fieldExpression(path: string, test: FieldTest): Document {
  if ('in' in test) {
    return test.in.length === 1 ? { $eq: [path, literal(test.in[0])] } : { $in: [path, literal([...test.in])] };
  }
  if ('range' in test) {
    const bounds = Object.entries(test.range).map(([name, value]) => ({ [`$${name}`]: [path, literal(value)] }));
    // Below every value there is what is missing.
    return { $and: [{ $gt: [path, null] }, ...bounds] };
  }
  if ('isAbsent' in test) return { $eq: [{ $type: path }, 'missing'] };
  if ('contains' in test) return { $gte: [{ $indexOfBytes: [path, literal(test.contains)] }, 0] };
  if ('pattern' in test) return { $regexMatch: { input: path, regex: literal(test.pattern) } };
  if ('beginsAnyCase' in test) {
    const at = { $indexOfBytes: [{ $toLower: path }, literal(test.beginsAnyCase)] };
    return { $and: [{ $gt: [path, null] }, { $eq: [at, 0] }] };
  }
  const cond = { $and: fieldExpressions('$$element', test.some) };
  const found = { $filter: { input: { $ifNull: [path, []] }, as: 'element', cond } };
  return { $gt: [{ $size: found }, 0] };
}
