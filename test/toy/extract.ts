import { isObject, type JsonValue, type Resource } from '../../runtime/fhir/resource.js';
import type { IndexEntry } from '../../runtime/indexing/entry.js';

/** A hand-made extractor: some parameters of each kind, enough to see entries come and go. */
export function toyExtract(resource: Resource): IndexEntry[] {
  const entries: IndexEntry[] = [];
  for (const name of objects(resource['name'])) {
    const family = name['family'];
    if (typeof family === 'string') {
      entries.push({ kind: 'string', param: 'family', text: family, folded: family.toLowerCase() });
    }
  }
  for (const { system, value } of objects(resource['identifier'])) {
    if (typeof system === 'string' && typeof value === 'string') {
      entries.push({ kind: 'token', param: 'identifier', system, code: value });
    }
  }
  return entries;
}

function objects(value: JsonValue | undefined) {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
