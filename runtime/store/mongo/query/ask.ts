import type { Document } from 'mongodb';

import type { Batch } from '../read/batch.js';
import type { Snapshot } from '../read/snapshot.js';
import type { Access, Stretch } from './plan/access.js';
import { VERSION_ONLY } from '../bson/stored-version.js';

/** A command that was sent for a page, to be explained. */
export type Sent =
  | {
      readonly find: string;
      readonly filter: Document;
      readonly sort?: Document;
      readonly hint?: Document;
      readonly min?: Document;
      readonly max?: Document;
      readonly projection?: Document;
      readonly limit: number;
    }
  | { readonly aggregate: string; readonly pipeline: readonly Document[]; readonly hint?: Document };

/** Asks the collection of current versions, and notes down what for. */
export interface Ask {
  /** @param hint absent: the server chooses the index */
  find(
    filter: Document,
    sort: Document,
    hint: Document | undefined,
    limit: number,
    /** The range of the index, if it contains all matches. */
    stretch?: Stretch,
  ): Promise<Batch>;
  /** Documents in a stretch of an index, of which no more is read than the index has: the `_id`. */
  list(stretch: Stretch, hint: Access['hint'], limit: number): Promise<Batch>;
  /** The `_id` of documents that fulfil a filter. */
  findKeys(filter: Document, hint: Document, limit: number): Promise<Batch>;
  pipeline(pipeline: readonly Document[], hint: Document | undefined, limit: number): Promise<Batch>;
  /** Whether more than so many documents fulfil a filter that an index answers. */
  isLonger(filter: Document, hint: Document, than: number): Promise<boolean>;
  /** Fields of current versions, as they are asked for. */
  read(query: ReadQuery): Promise<Batch>;
  /** The same of current versions with some keys, in any order. */
  byKeys(keys: readonly string[], projection: Document): Promise<Batch>;
  readonly sent: readonly Sent[];
  /** What `find` asks for of each document. */
  readonly projection: Document;
  /** The same, but `find` asks for other fields. */
  reading(projection: Document): Ask;
}

/** Fields of some documents. */
export interface ReadQuery {
  readonly collection?: 'resource' | 'history';
  readonly filter: Document;
  readonly projection: Document;
  readonly limit: number;
  readonly hint?: Document;
  readonly sort?: Document;
  readonly min?: Document;
  readonly max?: Document;
}

/** Nothing is sent yet. */
export function openAsk(snapshot: Snapshot, projection: Document = VERSION_ONLY, sent: Sent[] = []): Ask {
  const collection = 'resource';
  return {
    sent,
    projection,
    reading: (other) => openAsk(snapshot, other, sent),
    read({ collection: from = collection, ...query }) {
      sent.push({ find: from, ...query });
      return snapshot.find({ collection: from, ...query });
    },
    byKeys(keys, fields) {
      sent.push({
        find: collection,
        filter: { _id: { $in: keys } },
        hint: { _id: 1 },
        projection: fields,
        limit: keys.length,
      });
      return snapshot.byKeys(keys, fields);
    },
    find(filter, sort, hint, limit, stretch) {
      const query = { filter, sort, limit, ...(hint !== undefined && { hint }), ...stretch };
      sent.push({ find: collection, ...query });
      return snapshot.find({ collection, ...query, projection });
    },
    list({ min, max }, hint, limit) {
      const query = { filter: {}, min, max, hint, limit, projection: { _id: 1 } };
      sent.push({ find: collection, ...query });
      return snapshot.find({ collection, ...query });
    },
    findKeys(filter, hint, limit) {
      const query = { filter, hint, limit, projection: { _id: 1 } };
      sent.push({ find: collection, ...query });
      return snapshot.find({ collection, ...query });
    },
    async isLonger(filter, hint, skip) {
      const query = { collection, filter, hint, skip, limit: 1, projection: { _id: 1 } };
      const { documents } = await snapshot.find(query);
      return documents.length > 0;
    },
    pipeline(pipeline, hint, limit) {
      sent.push({ aggregate: collection, pipeline, ...(hint !== undefined && { hint }) });
      return snapshot.pipeline({ collection, pipeline, limit, ...(hint !== undefined && { hint }) });
    },
  };
}
