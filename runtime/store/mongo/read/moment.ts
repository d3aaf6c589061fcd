import { BSON, Timestamp, type Document } from 'mongodb';

import { readMapPlace, writeMapPlace } from '../../map-place.js';
import { append } from '../../../fhir/lists.js';
import { readPieces } from '../../pieces.js';
import type { Store } from '../../store.js';
import type { ChunkDocument, FileDocument, MapDocument } from '../bson/documents.js';
import { connect } from '../connect.js';
import { isSnapshotGone, translateMongoError } from '../mongo-errors.js';
import { toSettings, type MongoOptions } from '../settings.js';
import { openStaleTransactions } from '../write/stale-transactions.js';
import { openCausal } from './causal.js';
import { openScan } from './copy.js';
import { toEntry } from './maps.js';
import { openSnapshots, type FindQuery, type Snapshots } from './snapshot.js';

/** Names of blobs that one command reads. */
const PIECE = 1000;

/** A store as it is at one moment, whatever is written meanwhile: what a backup reads. */
export interface Moment {
  readonly scan: Store['scan'];
  readonly maps: Pick<Store['maps'], 'scan' | 'get'>;
  readonly blobs: Pick<Store['blobs'], 'list' | 'get'>;
  close(): Promise<void>;
}

/**
 * Opens a database as it is now: all that was acknowledged before is in it, nothing that comes later.
 *
 * Methods reject with an Error that says what to set where the servers do not keep that moment any more.
 *
 * @param url as of `openMongoStore`
 * @throws Error where it cannot be reached
 */
export async function openMongoMoment(url: string, options: MongoOptions = {}): Promise<Moment> {
  const settings = toSettings(options);
  const { client, ...server } = await connect(url, settings);
  const limits = { budget: settings.queryBudget, signal: undefined };
  const toTimestamp = ({ seconds, increment }: { seconds: number; increment: number }): Timestamp =>
    new Timestamp({ t: seconds, i: increment });
  const snapshots = openSnapshots(server, openCausal(client, openStaleTransactions(client, server.db)), toTimestamp);
  try {
    const at = await snapshots.run(limits, (snapshot) => snapshot.time());
    const then: Snapshots = {
      run: async (given, work) => {
        try {
          return await snapshots.run(given, work, at);
        } catch (error) {
          throw isSnapshotGone(error) ? new Error(GONE, { cause: error }) : translateMongoError(error);
        }
      },
    };
    const find = async <T extends Document>(query: FindQuery): Promise<T[]> => {
      const { documents } = await then.run(limits, (snapshot) => snapshot.find(query));
      return documents.map((bytes) => BSON.deserialize(bytes) as T);
    };
    const scan = openScan(then);
    return {
      scan: (after, limit) => scan(after, limit, limits),
      maps: openMapReads(find),
      blobs: openBlobReads(find),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw translateMongoError(error);
  }
}

const GONE =
  'the servers do not keep the moment of this backup any more, which is of the instant at which it began; let every ' +
  'member keep an hour, and run it again: db.adminCommand({ setParameter: 1, minSnapshotHistoryWindowInSeconds: 3600 })';

type Find = <T extends Document>(query: FindQuery) => Promise<T[]>;

function openMapReads(find: Find): Moment['maps'] {
  const collection = 'map';
  return {
    async scan(after, limit) {
      const filter = after === undefined ? {} : { _id: { $gt: readMapPlace(after) } };
      const found = await find<MapDocument>({ collection, filter, sort: { _id: 1 }, limit });
      const last = found.at(-1);
      const now = Date.now();
      // The server deletes entries some time after they have expired.
      const entries = found.map(toEntry).filter(({ expires = Infinity }) => expires > now);
      return { entries, ...(last !== undefined && { next: writeMapPlace(last._id) }) };
    },
    async get(map, key) {
      const [found] = await find<MapDocument>({ collection, filter: { _id: { map, key } }, limit: 1 });
      return found?.value;
    },
  };
}

function openBlobReads(find: Find): Moment['blobs'] {
  const byName = (filename: object | string, limit: number): Promise<FileDocument[]> =>
    find<FileDocument>({ collection: 'blob.files', filter: { filename }, sort: { filename: 1 }, limit });
  return {
    async list(prefix) {
      const all: FileDocument[] = [];
      for (let page: FileDocument[] | undefined; page === undefined || page.length > 0; append(all, page)) {
        const after = all.at(-1)?.filename;
        const from = after === undefined ? { $gte: prefix } : { $gt: after };
        page = await byName({ ...from, $lt: `${prefix}\u{10ffff}` }, PIECE);
      }
      return all.map(({ filename = '', uploadDate, length: size, metadata: { sha256 = '' } }) => ({
        ...{ key: filename, put: uploadDate.getTime(), size, sha256 },
      }));
    },
    async get(key) {
      const [file] = await byName(key, 1);
      if (file === undefined) return undefined;
      const readPiece = async (n: number): Promise<Uint8Array | undefined> => {
        const filter = { files_id: file._id, n };
        const [piece] = await find<ChunkDocument>({ collection: 'blob.chunks', filter, limit: 1 });
        return piece?.data.buffer.subarray(0, piece.data.position);
      };
      return { size: file.length, stream: readPieces(file.length, undefined, readPiece) };
    },
  };
}
