import type { Change, Put } from './store.js';

/** Bounds of a piece: what is done with one keeps a thread for a few milliseconds. */
const MOST = { changes: 100, characters: 256 * 1024, entries: 3000 };

/** The changes of a write in pieces of bounded size, in their order; a change is never cut, however large it is. */
export function* cutChanges<T>(items: readonly T[], changeOf: (item: T) => Change): Generator<readonly T[]> {
  let from = 0;
  let characters = 0;
  let entries = 0;
  for (const [at, item] of items.entries()) {
    const change = changeOf(item);
    const size = sizeOf(change);
    const more = change.body === undefined ? 0 : countEntries(change);
    const isFull = characters + size > MOST.characters || entries + more > MOST.entries || at - from >= MOST.changes;
    if (isFull && at > from) {
      yield items.slice(from, at);
      from = at;
      characters = 0;
      entries = 0;
    }
    characters += size;
    entries += more;
  }
  if (from < items.length) yield items.slice(from);
}

/** Index entries of a resource, and of what is within it. */
export function countEntries({ entries = [], contained = [] }: Partial<Pick<Put, 'entries' | 'contained'>>): number {
  return contained.reduce((sum, each) => sum + each.entries.length, entries.length);
}

/** Characters of the text of a change. */
export function sizeOf({ body }: Change): number {
  return body === undefined ? 0 : body.head.length + body.tail.length;
}
