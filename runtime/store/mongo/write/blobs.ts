import { Binary, ObjectId, type ClientSession } from 'mongodb';

import { FhirError } from '../../../fhir/errors.js';
import type { BlobStore } from '../../store.js';
import { PIECE, readPieces, sendPieces, type SentBlob } from '../../pieces.js';
import type { Causal } from '../read/causal.js';
import type { Collections } from '../bson/documents.js';
import type { Fault } from '../fault.js';
import { translateMongoError } from '../mongo-errors.js';
import type { Transactions } from './transaction.js';
import { answered } from '../read/answered.js';

/** Unwanted blobs that one clean-up removes. */
const AT_ONCE = 5000;

/** Parts of the store that blobs work with. */
export interface BlobParts {
  readonly collections: Collections;
  readonly causal: Causal;
  readonly transactions: Transactions;
  readonly now: () => number;
  /** How long each step may take, in milliseconds. */
  readonly time: number;
  /** How long what is unwanted stays, in milliseconds. */
  readonly grace: number;
  readonly fault: Fault;
}

/** Blobs, and the clean-up of those that are no longer needed. */
export interface CleanedBlobs extends BlobStore {
  /** Removes what is unwanted for longer than the grace: pieces of dead uploads, replaced and deleted blobs. */
  clean(): Promise<void>;
}

/**
 * Blobs as GridFS lays them out (bucket `blob`), so that its tools read them. The driver's own streams do not serve: they
 * replace nothing, and what a dead upload leaves is not found again.
 */
export function openBlobs({
  collections: { files, chunks },
  causal,
  transactions,
  now,
  time,
  grace,
  fault,
}: BlobParts): CleanedBlobs {
  const isOpen = { 'metadata.dying': { $exists: false }, filename: { $exists: false } };
  const instant = (): Date => new Date(now());

  async function begin(): Promise<ObjectId> {
    const _id = new ObjectId();
    const metadata = { unwanted: instant() };
    await files.insertOne({ _id, length: 0, chunkSize: PIECE, uploadDate: instant(), metadata });
    return _id;
  }

  /** Marks an upload as still in progress. */
  async function touch(_id: ObjectId): Promise<void> {
    const { matchedCount } = await files.updateOne({ _id, ...isOpen }, { $set: { 'metadata.unwanted': instant() } });
    if (matchedCount === 0) throw cleanedAway();
  }

  /** Makes an upload visible under its key, in place of what was there. */
  async function finish(_id: ObjectId, key: string, length: number, sha256: string): Promise<void> {
    await transactions.run(async (session) => {
      await unname(key, session);
      const { matchedCount } = await files.updateOne(
        { _id, ...isOpen },
        { $set: { filename: key, length, uploadDate: instant(), metadata: { sha256 } } },
        { session },
      );
      if (matchedCount === 0) throw cleanedAway();
    }, performance.now() + time);
  }

  async function unname(key: string, session: ClientSession): Promise<void> {
    await files.updateOne(
      { filename: key },
      { $unset: { filename: '' }, $set: { 'metadata.unwanted': instant() } },
      { session },
    );
  }

  function upload(_id: ObjectId, content: AsyncIterable<Uint8Array>, limit: number): Promise<SentBlob> {
    let touched = performance.now();
    return sendPieces(content, limit, async (bytes, n) => {
      const sent = chunks.insertOne({ files_id: _id, n, data: new Binary(bytes) }).then(() => fault('piece'));
      if (performance.now() - touched > grace / 4) {
        touched = performance.now();
        await Promise.all([answered(time, touch(_id)), answered(time, sent)]);
      } else await answered(time, sent);
    });
  }

  async function readPiece(_id: ObjectId, n: number): Promise<Uint8Array | undefined> {
    const find = (session: ClientSession) => chunks.findOne({ files_id: _id, n }, { session, maxTimeMS: time });
    const piece = await answered(time, causal.read(find));
    return piece?.data.buffer.subarray(0, piece.data.position);
  }

  return {
    async put(key, content, limit) {
      const _id = await answered(time, begin());
      try {
        const { size, sha256 } = await upload(_id, content, limit);
        await answered(time, finish(_id, key, size, sha256));
        return { size, sha256 };
      } catch (error) {
        // Should this fail too, it is cleaned up as the upload of a dead process is.
        await answered(time, files.updateOne({ _id, ...isOpen }, { $set: { 'metadata.unwanted': new Date(0) } })).catch(
          () => {},
        );
        throw translateMongoError(error);
      }
    },

    async get(key, range) {
      const find = (session: ClientSession) => files.findOne({ filename: key }, { session, maxTimeMS: time });
      const found = await answered(time, causal.read(find));
      if (found === null) return undefined;
      return { size: found.length, stream: readPieces(found.length, range, (n) => readPiece(found._id, n)) };
    },

    delete: (key) =>
      answered(
        time,
        causal.write((session) => unname(key, session)),
      ),

    async list(prefix) {
      const filename = { $gte: prefix, $lt: `${prefix}\u{10ffff}` };
      const find = (session: ClientSession) =>
        files.find({ filename }, { session, maxTimeMS: time }).sort({ filename: 1 }).toArray();
      return (await answered(time, causal.read(find))).map((file) => ({
        key: file.filename ?? '',
        put: file.uploadDate.getTime(),
        size: file.length,
        sha256: file.metadata.sha256 ?? '',
      }));
    },

    async clean() {
      const before = new Date(now() - grace);
      for (let i = 0; i < AT_ONCE; i++) {
        // From here on its upload cannot be finished any more; one that dies now is met again.
        const found = await files.findOneAndUpdate(
          { 'metadata.unwanted': { $lt: before }, filename: { $exists: false } },
          { $set: { 'metadata.dying': true } },
          { sort: { 'metadata.unwanted': 1 }, projection: { _id: 1 } },
        );
        if (found === null) return;
        await chunks.deleteMany({ files_id: found._id });
        await files.deleteOne({ _id: found._id });
      }
    },
  };
}

function cleanedAway(): FhirError {
  return new FhirError('store-unavailable', 'The upload stood still for so long that it was cleaned away');
}
