import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { PatchFault } from '../patch-fault.js';

/**
 * Budget of the copies of one patch: the characters that they may still add to the document, which are those of names
 * and strings, and one for each value.
 */
export class CopyBudget {
  constructor(
    private left: number,
    private readonly maxDepth: number,
  ) {}

  /** A copy of a value, that shares nothing with it which could change. @throws PatchFault when there is too much of it */
  copy(value: JsonValue, depth = 0): JsonValue {
    this.take(typeof value === 'string' ? value.length + 1 : 1);
    if (depth > this.maxDepth) throw tooDeep(this.maxDepth);
    if (Array.isArray(value)) return value.map((item) => this.copy(item, depth + 1));
    if (!isObject(value)) return value;
    const copy: JsonObject = {};
    for (const [name, inner] of Object.entries(value)) {
      this.take(name.length);
      copy[name] = this.copy(inner, depth + 1);
    }
    return copy;
  }

  private take(length: number): void {
    this.left -= length;
    if (this.left < 0) throw new PatchFault('resource-too-large', 'the patch copies more than a resource may hold');
  }
}

/** @throws PatchFault where a value has objects and arrays deeper within each other than is allowed */
export function checkDepth(value: JsonValue, maxDepth: number, depth = 0): void {
  if (!Array.isArray(value) && !isObject(value)) return;
  if (depth >= maxDepth) throw tooDeep(maxDepth);
  for (const inner of Array.isArray(value) ? value : Object.values(value)) checkDepth(inner, maxDepth, depth + 1);
}

function tooDeep(maxDepth: number): PatchFault {
  return new PatchFault('patch-target', `objects and arrays may be nested ${maxDepth} deep`);
}
