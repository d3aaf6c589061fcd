import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';

/** Where an object stands in another, as FHIRPath goes on from there: `.name[0]`; empty where it is the other itself. */
export function locate(root: JsonValue, wanted: JsonObject): string {
  return search(root, wanted, '') ?? '';
}

function search(value: JsonValue, wanted: JsonObject, path: string): string | undefined {
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

function firstOf(places: readonly (readonly [JsonValue, string])[], wanted: JsonObject): string | undefined {
  for (const [value, path] of places) {
    const found = search(value, wanted, path);
    if (found !== undefined) return found;
  }
  return undefined;
}
