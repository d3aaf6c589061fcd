import type { Db, Document, Timestamp } from 'mongodb';

import { fieldsOf, readValue, skipName, type Raw } from '../bson/bson.js';

/** A moment of the cluster: seconds, and the operation within the second. */
export interface ClusterTime {
  readonly seconds: number;
  readonly increment: number;
}

/** Documents of one answer of the server. */
export interface Batch {
  readonly documents: readonly Raw[];
  /** There are more within the limit, but they did not fit into the answer. */
  readonly isCut: boolean;
}

/** The moment that an answer is of. */
export function timeOf(cursor: Raw | Document): ClusterTime {
  if (!Buffer.isBuffer(cursor)) {
    const { atClusterTime } = cursor as { atClusterTime: Timestamp };
    return { seconds: atClusterTime.t, increment: atClusterTime.i };
  }
  const field = fieldsOf(cursor).get('atClusterTime');
  if (field === undefined) throw new Error('an answer of MongoDB is of no moment');
  return { seconds: cursor.readUInt32LE(field.at + 4), increment: cursor.readUInt32LE(field.at) };
}

/** The documents in the bytes of an answer. The cursor behind it, if there is more, is closed. */
export function readBatch(db: Db, collection: string, cursor: Raw): Batch {
  const fields = fieldsOf(cursor);
  const [id, batch] = [fields.get('id'), fields.get('firstBatch')];
  if (id === undefined || batch === undefined) throw new Error('an answer of MongoDB has no batch');
  const number = readValue(cursor, id) as bigint;
  if (number !== 0n) void db.command({ killCursors: collection, cursors: [number] }).catch(() => {});
  const documents: Raw[] = [];
  const end = batch.at + cursor.readInt32LE(batch.at) - 1;
  for (let from = batch.at + 4; from < end;) {
    const at = skipName(cursor, from + 1);
    from = at + cursor.readInt32LE(at);
    documents.push(cursor.subarray(at, from));
  }
  return { documents, isCut: number !== 0n };
}
