import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { readItems, writeItems, type Item } from './fhirpath-items.js';
import type { PatchElement, PatchModel } from './fhirpath-model.js';
import type { JsonPath, Node, Slot } from './fhirpath-node.js';

/** Changes an object by giving another. */
type Change = (object: JsonObject) => JsonObject;

/**
 * The same resource with the children of one element changed: for a primitive, its id and extensions. What is not on
 * the way to it stays the very same object.
 */
export function editContent(resource: Resource, node: Node, model: PatchModel, change: Change): Resource {
  const { slot } = node;
  if (slot === undefined || model.primitive(node.type) === undefined) return editAt(resource, node.content, 0, change);
  return editItems(resource, slot, (items) =>
    items.map((item, i) => (i === slot.index ? { ...item, twin: change(item.twin ?? {}) } : item)),
  );
}

/** The same resource with other values of the element that has a node. */
export function editItems(
  resource: Resource,
  { parent, key, element }: Pick<Slot, 'parent' | 'key'> & { readonly element: PatchElement },
  change: (items: readonly Item[]) => readonly Item[],
): Resource {
  return editAt(resource, parent.content, 0, (holder) =>
    writeItems(holder, key, change(readItems(holder, key)), element.list),
  );
}

function editAt(resource: Resource, path: JsonPath, depth: number, change: Change): Resource;
function editAt(value: JsonValue | undefined, path: JsonPath, depth: number, change: Change): JsonValue;
function editAt(value: JsonValue | undefined, path: JsonPath, depth: number, change: Change): JsonValue {
  const step = path[depth];
  if (step === undefined) return change(isObject(value) ? value : {});
  if (typeof step === 'number') {
    if (!Array.isArray(value)) throw new Error('a path that leads nowhere');
    return value.with(step, editAt(value[step], path, depth + 1, change));
  }
  if (!isObject(value)) throw new Error('a path that leads nowhere');
  return { ...value, [step]: editAt(value[step], path, depth + 1, change) };
}
