import { isMemberType, placeOfMember } from '../../members.js';
import type { StoredVersion } from '../../store.js';
import type { Raw } from '../bson.js';
import { keyOf } from '../documents.js';
import type { Ask } from '../find/ask.js';
import { toStoredVersions } from '../stored-version.js';
import { readBodies } from './bodies.js';
import { toKey } from './held.js';
import { idOf } from './read-all.js';

/** Characters of bodies after which a page ends early; what is within a resource has one with all others there. */
const MAX_PAGE = 16 * 1024 * 1024;

/** The versions that the documents of a page hold, or of what is within others, the versions of these; they may be fewer. */
export async function readPageVersions(
  ask: Ask,
  type: string,
  documents: readonly Raw[],
): Promise<readonly StoredVersion[]> {
  return isMemberType(type) ? readVersionsOf(ask, documents.map(idOf)) : toStoredVersions(documents);
}

/** Current versions with some keys, in their order: as many as one answer holds, and not fewer than one. */
export async function readVersionsOf(ask: Ask, keys: readonly string[]): Promise<readonly StoredVersion[]> {
  const { documents } = await readBodies(ask, [...new Set(keys.map(contentKeyOf))]);
  const contents = new Map((await toStoredVersions(documents)).map((stored) => [keyOf(stored), stored]));
  const versions: StoredVersion[] = [];
  const counted = new Set<StoredVersion>();
  let size = 0;
  for (const key of keys) {
    const stored = contents.get(contentKeyOf(key));
    if (stored === undefined || size >= MAX_PAGE) break;
    if (!counted.has(stored)) size += stored.json?.length ?? 0;
    counted.add(stored);
    versions.push({ ...stored, ...toKey(key) });
  }
  return versions;
}

/** The key of the document that has the content. */
function contentKeyOf(key: string): string {
  const { type, id } = toKey(key);
  return isMemberType(type) ? keyOf(placeOfMember(id)) : key;
}
