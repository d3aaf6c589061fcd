import { isContainedType, placeOfContained, plainType } from '../../../contained-resources.js';
import type { StoredVersion } from '../../../store.js';
import type { Raw } from '../../bson/bson.js';
import { keyOf } from '../../bson/documents.js';
import type { Ask } from '../ask.js';
import { withinOf } from '../../write/contained-resources.js';
import { toStoredVersions } from '../../bson/stored-version.js';
import { readBodies } from './bodies.js';
import type { Hit } from '../hit.js';
import { toKey } from './candidate.js';
import type { Links } from './links.js';

/** Characters of bodies after which a page ends early; what is within a resource has one with all others there. */
const MAX_PAGE = 16 * 1024 * 1024;

/** The versions of a page. */
interface PageVersions {
  readonly versions: readonly StoredVersion[];
  /** So many of what was found, from the first on, the page has or leaves out; the next begins behind them. */
  readonly passed: number;
}

/** The versions of a page, and the documents that hold them. @param isRead whether what was read of them are these documents */
export async function readPageVersions(
  { ask, projection }: Pick<Links, 'ask' | 'projection'>,
  type: string,
  hits: readonly Hit[],
  isRead: boolean,
): Promise<PageVersions & { readonly documents: readonly Raw[] }> {
  const keys = hits.map(({ key }) => key);
  if (isContainedType(type)) return { ...(await readVersionsOf(ask, keys)), documents: [] };
  const { documents, looked } = isRead
    ? { documents: hits.map(({ bytes }) => bytes), looked: hits.length }
    : await readBodies(ask, keys, projection);
  return { versions: await toStoredVersions(documents), passed: looked, documents };
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
