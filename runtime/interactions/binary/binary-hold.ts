import type { BlobStore } from '../../store/store.js';
import { blobKey, storeContent, type Pointer } from '../../core/binary/binary-content.js';

/** Content that a write brings, in a blob, while it is not decided yet which Binary it becomes part of. */
export interface HeldContent {
  /** Puts it where the content of this Binary is. */
  at(id: string): Promise<Pointer>;
  /** Deletes it. A failure to do so is nobody's concern but the sweep's. */
  drop(): Promise<void>;
}

/**
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
