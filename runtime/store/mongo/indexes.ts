import type { IndexDescription } from 'mongodb';

import { SORT_SLOTS } from '../../contract/search.js';
import type { Collections } from './bson/documents.js';
import { slotFields } from './bson/sort-slots.js';

/** The order of history. Both collections have it, so that pages are merged without sorting. */
export const BY_TIME = { updated: 1, n: 1, type: 1, id: 1 } as const;

/** Index of the order of history within a type. */
export const BY_TYPE_AND_TIME = { type: 1, updated: 1, n: 1, id: 1 } as const;

/** Deletions, which are few, so that what lives can be counted. */
export const DELETED = { type: 1 } as const;

/** Past versions of one instance. */
export const BY_VERSION = { type: 1, id: 1, version: 1 } as const;

/** Copies of versions that were to be replaced, which are few: see `Copies`. */
export const PENDING = { until: 1 } as const;

/**
 * Index entries, by kind. Dates have two: a range can bound one end only, and what ends after an instant may have begun at any time. Most
 * numbers are points; the high ends of the others have rows of their own (`endParam`), so that points need one key and not two.
 */
export const BY_ENTRY = {
  token: { type: 1, 'token.p': 1, 'token.code': 1, _id: 1 },
  string: { type: 1, 'string.p': 1, 'string.folded': 1, _id: 1 },
  date: { type: 1, 'date.p': 1, 'date.low': 1, 'date.high': 1, _id: 1 },
  date_high: { type: 1, 'date.p': 1, 'date.high': 1, _id: 1 },
  number: { type: 1, 'number.p': 1, 'number.low': 1, 'number.high': 1, _id: 1 },
  reference: { type: 1, 'reference.p': 1, 'reference.to': 1, _id: 1 },
  uri: { type: 1, 'uri.p': 1, 'uri.value': 1, _id: 1 },
  words: { type: 1, 'words.p': 1, 'words.w': 1, _id: 1 },
} as const;

/**
 * Indexes of each collection. There is one for each kind of entries, whatever the number of parameters. `_id` comes
 * last, so that matches of one value are in the order of pages.
 */
export const INDEXES: Readonly<Partial<Record<keyof Collections, readonly IndexDescription[]>>> = {
  resource: [
    { name: 'by_time', key: BY_TIME },
    { name: 'by_type_and_time', key: BY_TYPE_AND_TIME },
    { name: 'deleted', key: DELETED, partialFilterExpression: { deleted: true } },
    ...Object.entries(BY_ENTRY).map(([name, key]) => ({ name, key })),
    ...sortIndexes(),
  ],
  history: [
    { name: 'by_time', key: BY_TIME },
    { name: 'by_type_and_time', key: BY_TYPE_AND_TIME },
    { name: 'by_version', key: BY_VERSION },
    { name: 'pending', key: PENDING, partialFilterExpression: { pending: true } },
  ],
  map: [{ name: 'expiry', key: { expires: 1 }, expireAfterSeconds: 0 }],
  change: [
    { name: 'by_version', key: BY_VERSION },
    { name: 'by_time', key: { updated: 1 } },
  ],
  // Transactions last a minute at most.
  lock: [{ name: 'expiry', key: { touched: 1 }, expireAfterSeconds: 60 }],
  files: [
    { name: 'by_name', key: { filename: 1 }, unique: true, partialFilterExpression: { filename: { $exists: true } } },
    { name: 'unwanted', key: { 'metadata.unwanted': 1 }, sparse: true },
  ],
  chunks: [{ name: 'files_id_1_n_1', key: { files_id: 1, n: 1 }, unique: true }],
};

/** Two for each slot, for all types; resources without a value are in none. */
function sortIndexes(): IndexDescription[] {
  return Array.from({ length: SORT_SLOTS }, (_, slot) => slotFields(slot)).flatMap(({ least, greatest }) => [
    { name: least, key: { type: 1, [least]: 1, _id: 1 }, partialFilterExpression: { [least]: { $exists: true } } },
    {
      name: greatest,
      key: { type: 1, [greatest]: -1, _id: 1 },
      partialFilterExpression: { [greatest]: { $exists: true } },
    },
  ]);
}
