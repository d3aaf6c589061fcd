import { isObject, type JsonObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { objectsOf } from './elements.js';

/** Elements of `meta` by which scopes show a resource or not. */
const LABELS = ['security', 'tag'];

/** Returns the labels and tags that some `meta` have together, each once. */
export function labelsIn(metas: readonly (JsonValue | undefined)[]): JsonObject {
  const found = LABELS.map((name) => {
    const all = metas.flatMap((meta) => objectsOf(meta, name));
    const distinct: JsonValue = [...new Map(all.map((label) => [JSON.stringify(label), label])).values()];
    return [name, distinct] as const;
  });
  return Object.fromEntries(found.filter(([, labels]) => labels.length > 0));
}

/** Returns a resource that has the labels of another one too: what is stored beside a DocumentReference is shown as it is. */
export function withLabelsOf(resource: Resource, other: Resource): Resource {
  if (Object.keys(labelsIn([other['meta']])).length === 0) return resource;
  const labels = labelsIn([resource['meta'], other['meta']]);
  return { ...resource, meta: { ...(isObject(resource['meta']) && resource['meta']), ...labels } };
}
