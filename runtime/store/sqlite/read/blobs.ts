import { createHash } from 'node:crypto';

import { FhirError } from '../../../fhir/errors.js';
import { cutPieces } from '../../pieces.js';
import type { BlobStore } from '../../store.js';
import { PIECE } from '../write/blob-tables.js';
import type { ReaderPool } from '../threads/reader-pool.js';
import type { Thread } from '../threads/thread.js';
import type { WriterOperations } from '../threads/writer-worker.js';

/** Pieces of an upload that may be under way to the writer. */
const AHEAD = 3;

/**
 * Blobs in pieces of a table. Each piece is a write of its own among those of others, so a large upload holds the lock no
 * longer than a small one; the last step makes it visible.
 */
export function openBlobs(writer: Thread<WriterOperations>, readers: ReaderPool, now?: () => number): BlobStore {
  return {
    async put(key, content, limit) {
      const hash = createHash('sha256');
      const blob = await writer.request('beginBlob', []);
      let size = 0;
      let n = 0;
      const underWay: Promise<void>[] = [];
      try {
        for await (const bytes of cutPieces(content, PIECE)) {
          size += bytes.length;
          if (size > limit) throw new FhirError('body-too-large', `At most ${limit} bytes are taken`);
          hash.update(bytes);
          const sent = writer.request('addPiece', [blob, n++, bytes], { transfer: [bytes.buffer as ArrayBuffer] });
          // Awaited later; meanwhile it may fail.
          sent.catch(() => {});
          underWay.push(sent);
          if (underWay.length >= AHEAD) await underWay.shift();
        }
        await Promise.all(underWay);
        const sha256 = hash.digest('hex');
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
      const from = Math.max(0, range?.from ?? 0);
      const to = Math.min(range?.to ?? Infinity, found.size - 1);
      return { size: found.size, stream: readPieces(readers, found.id, from, to) };
    },

    delete: (key) => writer.request('deleteBlob', [key]),
    list: (prefix) => readers.run('listBlobs', [prefix]),
  };
}

/** Bytes `from` to `to`, a piece at a time, each read when it is wanted. */
async function* readPieces(readers: ReaderPool, blob: number, from: number, to: number): AsyncGenerator<Uint8Array> {
  for (let n = Math.floor(from / PIECE); n * PIECE <= to; n++) {
    const piece = await readers.run('piece', [blob, n]);
    if (piece === undefined) throw new FhirError('store-unavailable', 'The content was removed while it was read');
    const start = Math.max(0, from - n * PIECE);
    const end = Math.min(piece.length, to - n * PIECE + 1);
    yield start === 0 && end === piece.length ? piece : piece.subarray(start, end);
  }
}
