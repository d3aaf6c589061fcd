import type { Document } from 'mongodb';

import type { Batch } from '../read/batch.js';
import type { Snapshot } from '../read/snapshot.js';

/** A command that was sent for a page, to be explained. */
export type Sent =
  | ({ readonly find: string } & Omit<ReadQuery, 'collection'>)
  | { readonly aggregate: string; readonly pipeline: readonly Document[]; readonly hint?: Document };

/** Asks the collection of current versions, and notes down what for. */
export interface Ask {
  readonly snapshot: Snapshot;
  /** Fields of current versions, as they are asked for. */
  read(query: ReadQuery): Promise<Batch>;
  /** The same of current versions with some keys, in any order. */
  byKeys(keys: readonly string[], projection: Document): Promise<Batch>;
  pipeline(pipeline: readonly Document[], hint: Document, limit: number): Promise<Batch>;
  /** Whether more than so many documents fulfil a filter that an index answers. */
  isLonger(filter: Document, hint: Document, than: number): Promise<boolean>;
  readonly sent: readonly Sent[];
}

/** Fields of some documents. */
interface ReadQuery {
  readonly collection?: 'resource' | 'history';
  readonly filter: Document;
  readonly projection: Document;
  readonly limit: number;
  readonly hint?: Document;
  readonly sort?: Document;
  readonly min?: Document;
  readonly max?: Document;
  readonly skip?: number;
}

/** Nothing is sent yet. */
export function openAsk(snapshot: Snapshot): Ask {
  const collection = 'resource';
  const sent: Sent[] = [];
  return {
    snapshot,
    sent,
    read({ collection: from = collection, ...query }) {
      sent.push({ find: from, ...query });
      return snapshot.find({ collection: from, ...query });
    },
    byKeys(keys, projection) {
      sent.push({ find: collection, filter: { _id: { $in: keys } }, hint: { _id: 1 }, projection, limit: keys.length });
      return snapshot.byKeys(keys, projection);
    },
    async isLonger(filter, hint, skip) {
      const query = { collection, filter, hint, skip, limit: 1, projection: { _id: 1 } };
      const { documents } = await snapshot.find(query);
      return documents.length > 0;
    },
    pipeline(pipeline, hint, limit) {
      sent.push({ aggregate: collection, pipeline, hint });
      return snapshot.pipeline({ collection, pipeline, limit, hint });
    },
  };
}
