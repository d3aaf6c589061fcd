import type { JsonObject, JsonValue } from '../../../runtime/fhir/resource.js';

/** An operation as the generators make it: always one that can be done. */
export type Operation = { op: string; path: string; from?: string; value?: JsonValue };

/** JSON Patch the plain way: everything copied before each operation. Only for operations that can be done. */
export function naivePatch(document: JsonValue, patch: readonly Operation[]): JsonValue {
  return patch.reduce<JsonValue>(naiveOperation, document);
}

function naiveOperation(before: JsonValue, { op, path, from, value }: Operation): JsonValue {
  const document = structuredClone(before);
  if (op === 'add') return add(document, path, value!);
  if (op === 'replace') return add(remove(document, path), path, value!);
  if (op === 'remove') return remove(document, path);
  if (op === 'copy') return add(document, path, structuredClone(get(document, from!)));
  if (op === 'move') return add(remove(document, from!), path, structuredClone(get(before, from!)));
  return document;
}

function add(document: JsonValue, path: string, value: JsonValue): JsonValue {
  if (path === '') return value;
  const [holder, name] = split(document, path);
  if (!Array.isArray(holder)) holder[name] = value;
  else if (name === '-') holder.push(value);
  else holder.splice(Number(name), 0, value);
  return document;
}

function remove(document: JsonValue, path: string): JsonValue {
  if (path === '') return null;
  const [holder, name] = split(document, path);
  if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else delete holder[name];
  return document;
}

function split(document: JsonValue, path: string): [JsonObject | JsonValue[], string] {
  const at = path.lastIndexOf('/');
  return [get(document, path.slice(0, at)) as JsonObject, unescape(path.slice(at + 1))];
}

/** The value that a pointer leads to; it has to be there. */
export function get(document: JsonValue, path: string): JsonValue {
  let value = document;
  for (const token of path.split('/').slice(1)) value = (value as JsonObject)[unescape(token)]!;
  return value;
}

/** Pointers to all that is in a document, itself first. */
export function pointers(value: JsonValue, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, inner]) => pointers(inner, `${at}/${escape(name)}`))];
}

/** A name as pointers have it. */
export function escape(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescape(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
