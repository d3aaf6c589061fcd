import type { IndexEntry } from '../../indexing/entry.js';
import type { RestoredVersion } from '../../store/store.js';
import { cutByMembers } from '../../store/write-contained.js';

/** What one piece may take of a database's cache, in bytes: its smallest is 256 MB, of which a transaction has a fifth. */
const PIECE = 16 * 1024 * 1024;

/** What an index entry takes in documents and in the indexes on them, and each character of words, in bytes. */
const TAKES = { entry: 400, character: 11 };

/** Versions in pieces, in their order, by what they are estimated to take while they are written, and by what is within them. */
export function cutVersions(versions: readonly RestoredVersion[]): readonly (readonly RestoredVersion[])[] {
  return [...cutByMembers(versions, ({ contained = [] }) => contained.length)].flatMap(cutBySize);
}

function cutBySize(versions: readonly RestoredVersion[]): readonly (readonly RestoredVersion[])[] {
  const pieces: RestoredVersion[][] = [];
  let room = 0;
  for (const version of versions) {
    const size = sizeOf(version);
    if (pieces.length === 0 || size > room) {
      pieces.push([]);
      room = PIECE;
    }
    pieces.at(-1)!.push(version);
    room -= size;
  }
  return pieces;
}

function sizeOf({ json = '', entries = [], contained = [] }: RestoredVersion): number {
  const all = [entries, ...contained.map((each) => each.entries)];
  return all.flat().reduce((sum, entry) => sum + sizeOfEntry(entry), 2 * json.length);
}

function sizeOfEntry(entry: IndexEntry): number {
  return entry.kind === 'words' ? TAKES.entry + TAKES.character * entry.text.length : TAKES.entry;
}
