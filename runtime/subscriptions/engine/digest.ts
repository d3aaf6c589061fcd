import { createHash } from 'node:crypto';

import type { JsonValue, Resource } from '../../fhir/resource.js';
import { isObject } from '../../fhir/resource.js';

/** In place of the version of a Subscription that was not there before: it follows that of a deletion, which its client need not know. */
export const NEW = 0;

/** A digest of what a Subscription says, without what the server writes: the same for the content that is stored. */
export function contentDigest({ meta: _meta, id: _id, ...content }: Resource): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(content)))
    .digest('base64url')
    .slice(0, 22);
}

/** Stores and formats may change the order of members. */
function sorted(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((each) => sorted(each) ?? null);
  if (!isObject(value)) return typeof value === 'object' && value !== null ? String(value) : value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key]) ?? null]),
  );
}
