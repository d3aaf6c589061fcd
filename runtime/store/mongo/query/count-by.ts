import type { Document } from 'mongodb';

import type { CountQuery, CountRow, ElementPath } from '../../store.js';
import { fieldsOf, readValue, type Raw } from '../bson/bson.js';
import { translateMongoError } from '../mongo-errors.js';
import type { QueryLimits, Snapshot } from '../read/snapshot.js';
import { openAsk } from './ask.js';
import { withoutAbsent } from './links/contained-types.js';
import { openLinks } from './links/links.js';
import type { FindParts } from './parts.js';
import { hasLinks } from './plan/plan.js';
import { runSearch } from './run-search.js';
import { openScope } from './scope.js';
import { findingAll } from './total.js';

/** Counts resources by texts in them. */
export function openCountBy(
  parts: FindParts,
): (query: CountQuery, limits: QueryLimits) => Promise<readonly CountRow[] | undefined> {
  const { snapshots, turns } = parts;

  async function rowsOf({ type, where, by, most }: CountQuery, snapshot: Snapshot): Promise<CountRow[] | undefined> {
    const plan = await withoutAbsent(snapshot, where);
    if (hasLinks(plan)) throw new Error('what is counted by its texts is found without links');
    const { filter, hint } = await findingAll(openScope(openLinks(parts, openAsk(snapshot), undefined), type, plan));
    const key = Object.fromEntries(by.map((path, i) => [`v${i}`, { $ifNull: [textAt(path), null] }]));
    const pipeline = [
      { $match: filter },
      { $group: { _id: key, n: { $sum: 1 } } },
      { $limit: most + 1 },
      { $replaceRoot: { newRoot: { $mergeObjects: ['$_id', { n: '$n' }] } } },
    ];
    const { documents, isCut } = await snapshot.pipeline({ collection: 'resource', pipeline, hint, limit: most + 1 });
    return isCut || documents.length > most ? undefined : documents.map((each) => toRow(each, by.length));
  }

  return async (query, limits) => {
    try {
      return await runSearch(snapshots, turns, query, limits, (snapshot) => rowsOf(query, snapshot));
    } catch (error) {
      throw translateMongoError(error);
    }
  };
}

/** The text at a path, as an expression. What is no list has no places. */
function textAt(path: ElementPath): unknown {
  return path.reduce<unknown>((of, step) => {
    const value = typeof step === 'string' ? `$$of.${step}` : elementOf('$$of', step);
    return { $let: { vars: { of }, in: value } };
  }, '$resource');
}

function elementOf(list: string, at: number): Document {
  return { $cond: [{ $isArray: list }, { $arrayElemAt: [list, at] }, null] };
}

function toRow(bytes: Raw, count: number): CountRow {
  const fields = fieldsOf(bytes);
  const value = (name: string): unknown => {
    const field = fields.get(name);
    return field === undefined ? undefined : readValue(bytes, field);
  };
  const values = Array.from({ length: count }, (_, i) => {
    const found = value(`v${i}`);
    return found === undefined || found === null ? undefined : String(found as string | number);
  });
  return { values, count: Number(value('n')) };
}
