import { isContainedType, placeOfContained, plainType } from '../../../contained-resources.js';
import type { StoredVersion } from '../../../store.js';
import { idOf, type Raw } from '../../bson/bson.js';
import { keyOf } from '../../bson/documents.js';
import type { Ask } from '../ask.js';
import { withinOf } from '../../write/contained-resources.js';
import { toStoredVersions } from '../../bson/stored-version.js';
import { readBodies } from './bodies.js';
import { toKey } from './held.js';

/** Characters of bodies after which a page ends early; what is within a resource has one with all others there. */
const MAX_PAGE = 16 * 1024 * 1024;

/** The versions of a page. */
export interface PageVersions {
  readonly versions: readonly StoredVersion[];
  /** So many of what was found, from the first on, the page has or leaves out; the next begins behind them. */
  readonly passed: number;
}

/** The versions that the documents of a page hold, or of what is within others, the versions of these. */
export async function readPageVersions(ask: Ask, type: string, documents: readonly Raw[]): Promise<PageVersions> {
  if (isContainedType(type)) return readVersionsOf(ask, documents.map(idOf));
  return { versions: await toStoredVersions(documents), passed: documents.length };
}

/**
 * Current versions with some keys, in their order: as many as one answer holds, and not fewer than one. What a program that did not
 * know what is within resources has left behind is left out: its resource is deleted, or has nothing of its type within it.
 */
export async function readVersionsOf(ask: Ask, keys: readonly string[]): Promise<PageVersions> {
  const wanted = [...new Set(keys.map(contentKeyOf))];
  const { documents, looked } = await readBodies(ask, wanted);
  const stored = await toStoredVersions(documents);
  const contents = new Map(stored.map((each, i) => [keyOf(each), { stored: each, bytes: documents[i]! }]));
  const later = new Set(wanted.slice(looked));
  const versions: StoredVersion[] = [];
  const counted = new Set<string>();
  let passed = 0;
  let size = 0;
  for (const key of keys) {
    const contentKey = contentKeyOf(key);
    if (later.has(contentKey) || size >= MAX_PAGE) break;
    passed++;
    const content = contents.get(contentKey);
    const place = toKey(key);
    if (content === undefined || !holds(content.bytes, place)) continue;
    if (!counted.has(contentKey)) size += content.stored.json?.length ?? 0;
    counted.add(contentKey);
    versions.push({ ...content.stored, ...place });
  }
  return { versions, passed };
}

/** Whether a document is what is looked for, or of what is within it, has something of its type. A deletion has nothing. */
function holds(bytes: Raw, { type }: { readonly type: string }): boolean {
  return !isContainedType(type) || withinOf(bytes).includes(plainType(type));
}

/** The key of the document that has the content. */
function contentKeyOf(key: string): string {
  const { type, id } = toKey(key);
  return isContainedType(type) ? keyOf(placeOfContained(id)) : key;
}
