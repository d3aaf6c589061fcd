import { createHash } from 'node:crypto';

import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { canonicalText } from '../../patch/diff/diff-canonical.js';

/** Members of `meta` that the server sets, or that clients may add to a resource without changing its statement. */
const BESIDE: ReadonlySet<string> = new Set(['versionId', 'lastUpdated', 'tag', 'security']);

/** A digest of what a resource says: of everything but its id, its tags and security labels, its version and time. */
export function contentDigest({ id: _id, meta, ...rest }: Resource): string {
  const own = isObject(meta) ? Object.entries(meta).filter(([name]) => !BESIDE.has(name.replace(/^_/, ''))) : [];
  const content: JsonValue = own.length === 0 ? rest : { ...rest, meta: Object.fromEntries(own) };
  return createHash('sha256').update(canonicalText(content)).digest('base64url');
}
