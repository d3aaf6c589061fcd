import { isObject, type JsonValue } from '../../../fhir/resource.js';

/**
 * FHIRPath of a link relative to the resource of its entry: `.name[0].text`. A link that is not in the resource is in the
 * patch that a Binary has as its content.
 *
 * @param holder has the link under `key`
 */
export function locateLink(root: JsonValue, holder: object, key: string | number): string {
  const path = search(root, holder, '');
  if (path === undefined) return '.data';
  return typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`;
}

function search(value: JsonValue, wanted: object, path: string): string | undefined {
  if (value === wanted) return path;
  if (Array.isArray(value))
    return firstOf(
      value.map((each, i) => [each, `${path}[${i}]`]),
      wanted,
    );
  if (!isObject(value)) return undefined;
  return firstOf(
    Object.entries(value).map(([name, each]) => [each, `${path}.${name}`]),
    wanted,
  );
}

function firstOf(places: readonly (readonly [JsonValue, string])[], wanted: object): string | undefined {
  for (const [value, path] of places) {
    const found = search(value, wanted, path);
    if (found !== undefined) return found;
  }
  return undefined;
}
