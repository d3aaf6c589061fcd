import { readPieces, sendPieces } from '../../pieces.js';
import type { BlobStore } from '../../store.js';
import type { ReaderPool } from '../threads/reader-pool.js';
import type { Thread } from '../threads/thread.js';
import type { WriterOperations } from '../threads/writer-worker.js';

/**
 * Blobs in pieces of a table. Each piece is a write of its own among those of others, so a large upload holds the lock no
 * longer than a small one; the last step makes it visible.
 */
export function openBlobs(writer: Thread<WriterOperations>, readers: ReaderPool, now?: () => number): BlobStore {
  return {
    async put(key, content, limit) {
      const blob = await writer.request('beginBlob', []);
      try {
        const { size, sha256 } = await sendPieces(
          content,
          limit,
          (bytes, n) =>
          writer.request('addPiece', [blob, n, bytes], { transfer: bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [] }), // prettier-ignore
        );
        await writer.request('finishBlob', [blob, key, size, sha256, now?.()]);
        return { size, sha256 };
      } catch (error) {
        // Should this fail too, it is cleaned up as the upload of a dead process is.
        await writer.request('dropBlob', [blob]).catch(() => {});
        throw error;
      }
    },

    async get(key, range) {
      const found = await readers.run('findBlob', [key]);
      if (found === undefined) return undefined;
      const { id, size } = found;
      return { size, stream: readPieces(size, range, (n) => readers.run('piece', [id, n])) };
    },

    delete: (key) => writer.request('deleteBlob', [key]),
    list: (prefix) => readers.run('listBlobs', [prefix]),
  };
}
