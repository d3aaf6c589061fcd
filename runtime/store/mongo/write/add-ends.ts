import { MongoNetworkTimeoutError, type Document } from 'mongodb';

import type { Collections } from '../bson/documents.js';
import { endParam, spanParam } from '../bson/spans.js';

/** Beginnings of parameters that rows of spans and of ends have. */
const [SPAN, END] = [spanParam('', 0).slice(0, 1), endParam('')];

const begins = (text: string): Document => ({ $eq: [{ $substrBytes: ['$$row.p', 0, 1] }, text] });

/** A row of an interval that has no row of its end yet, if the document has none. */
const IS_WIDE: Document = { $and: [{ $lt: ['$$row.low', '$$row.high'] }, { $not: begins(SPAN) }] };

const anyRow = (test: Document): Document => ({
  $anyElementTrue: [{ $map: { input: '$number', as: 'row', in: test } }],
});

/**
 * Adds the rows of high ends to documents of an older layout that lack them, by the server alone. It may be repeated, and several
 * processes may do it at once.
 */
export async function addEnds({ resource }: Pick<Collections, 'resource'>): Promise<void> {
  const filter = {
    number: { $exists: true },
    $expr: { $and: [anyRow(IS_WIDE), { $not: anyRow(begins(END)) }] },
  };
  const input = { $filter: { input: '$number', as: 'row', cond: IS_WIDE } };
  const end = { p: { $concat: [END, '$$row.p'] }, value: '$$row.high', low: '$$row.high', high: '$$row.high' };
  const ends = { $map: { input, as: 'row', in: end } };
  for (;;) {
    try {
      await resource.updateMany(filter, [{ $set: { number: { $concatArrays: ['$number', ends] } } }], {
        hint: { _id: 1 },
      });
      return;
    } catch (error) {
      // The driver gives up a connection that says nothing for seconds; what was done by then is left out the next time.
      if (!(error instanceof MongoNetworkTimeoutError)) throw error;
    }
  }
}
