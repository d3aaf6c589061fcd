import type { Raw } from '../bson/bson.js';

/** Documents that are kept, and the greatest size of one, in bytes. */
const MOST = { documents: 200, size: 32 * 1024 };

/**
 * Current versions that were read by themselves a moment ago. Who updates a resource reads it first, to decide what becomes of it, and
 * the update then need not read it again.
 */
export interface Recent {
  note(key: string, bytes: Raw): void;
  /** What was noted last, once; undefined: nothing, or it was long ago. */
  take(key: string): Raw | undefined;
}

/** Nothing is known yet. */
export function openRecent(): Recent {
  const known = new Map<string, Raw>();
  return {
    note(key, bytes) {
      known.delete(key);
      if (bytes.length > MOST.size) return;
      // Copied: the bytes belong to an answer that may be much larger.
      known.set(key, Buffer.from(bytes));
      const [oldest] = known.keys();
      if (known.size > MOST.documents && oldest !== undefined) known.delete(oldest);
    },
    take(key) {
      const bytes = known.get(key);
      known.delete(key);
      return bytes;
    },
  };
}
