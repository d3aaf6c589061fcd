import type { BlobStore } from '../../store/store.js';
import { blobKey, storeContent, type Pointer } from '../../core/binary/binary-content.js';

/** Content of a write in a blob, while it is not yet known which Binary it will belong to. */
export interface HeldContent {
  /** Stores the content in a blob of this Binary. */
  at(id: string): Promise<Pointer>;
  /** Deletes the blob. A failure is ignored: the sweep deletes the blob later. */
  drop(): Promise<void>;
}

/**
 * Holds the content of a write.
 *
 * @param take puts the content into a blob of this Binary; called once at most
 * @param limit size of the content, in bytes
 */
export function holdContent(blobs: BlobStore, take: (id: string) => Promise<Pointer>, limit: number): HeldContent {
  let held: { readonly id: string; readonly pointer: Pointer } | undefined;
  const drop = async (): Promise<void> => {
    if (held !== undefined) await blobs.delete(blobKey(held.id, held.pointer.name)).catch(() => {});
  };
  return {
    async at(id) {
      if (held?.id === id) return held.pointer;
      if (held === undefined) {
        held = { id, pointer: await take(id) };
        return held.pointer;
      }
      const content = await blobs.get(blobKey(held.id, held.pointer.name));
      if (content === undefined) throw new Error('the content that was just stored is missing');
      const pointer = await storeContent(blobs, id, content.stream, limit);
      await drop();
      held = { id, pointer };
      return pointer;
    },
    drop,
  };
}
