import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { readPointer, type JsonPointer } from './json-pointer.js';
import { inOperation, PatchFault } from '../patch-fault.js';
import { quote } from '../../fhir/quote.js';

/** One operation of a JSON Patch, seen to have what it needs. https://www.rfc-editor.org/rfc/rfc6902#section-4 */
export type JsonOperation = { readonly path: JsonPointer; /** For messages. */ readonly name: string } & (
  | { readonly op: 'add' | 'replace' | 'test'; readonly value: JsonValue }
  | { readonly op: 'move' | 'copy'; readonly from: JsonPointer }
  | { readonly op: 'remove' }
);

/**
 * Reads the operations of a JSON Patch. Members that an operation has no use for are ignored, as RFC 6902 wants it.
 *
 * @param maxDepth Levels that a pointer may lead down
 * @throws FhirError `patch-invalid`; `patch-too-large` for more than `maxOperations`
 */
export function readOperations(patch: JsonValue, maxOperations: number, maxDepth: number): readonly JsonOperation[] {
  if (!Array.isArray(patch)) {
    throw new FhirError('patch-invalid', 'A JSON Patch is an array of operations: [{"op": …, "path": …}, …]');
  }
  if (patch.length > maxOperations) {
    throw new FhirError('patch-too-large', `The patch has ${patch.length} operations; ${maxOperations} are allowed`);
  }
  return patch.map((operation, index) => {
    const name = isObject(operation) ? `${textOf(operation, 'op')} ${textOf(operation, 'path')}` : 'which is no object';
    return inOperation(index, name, () => readOperation(operation, name, maxDepth));
  });
}

function readOperation(operation: JsonValue, name: string, maxDepth: number): JsonOperation {
  if (!isObject(operation)) throw new PatchFault('patch-invalid', 'an operation is an object with "op" and "path"');
  const op = member(operation, 'op');
  const pointer = (of: 'path' | 'from'): JsonPointer => {
    const text = member(operation, of);
    if (typeof text !== 'string') throw new PatchFault('patch-invalid', `"${of}" has to be a string, a JSON pointer`);
    return readPointer(text, maxDepth);
  };
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      return { op, name, path: pointer('path'), value: member(operation, 'value') };
    case 'move':
    case 'copy':
      return { op, name, path: pointer('path'), from: pointer('from') };
    case 'remove':
      return { op, name, path: pointer('path') };
    default:
      throw new PatchFault('patch-invalid', '"op" has to be "add", "remove", "replace", "move", "copy" or "test"');
  }
}

function member(operation: JsonObject, name: string): JsonValue {
  const value = Object.hasOwn(operation, name) ? operation[name] : undefined;
  if (value === undefined) throw new PatchFault('patch-invalid', `it has no "${name}"`);
  return value;
}

/** A member as messages have it: the operation without quotes. */
function textOf(operation: JsonObject, name: 'op' | 'path'): string {
  const value = Object.hasOwn(operation, name) ? operation[name] : undefined;
  if (typeof value !== 'string') return `without "${name}"`;
  return name === 'op' && /^[a-z]{1,10}$/.test(value) ? value : quote(value);
}
