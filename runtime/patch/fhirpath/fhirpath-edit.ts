import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { COPIED_ITEM, type Budget } from './fhirpath-budget.js';
import { countItems, spliceItems, readItem } from './fhirpath-items.js';
import type { PatchModel } from './fhirpath-model.js';
import { contentOf, contentPath, type JsonPath, type Node } from './fhirpath-node.js';

/** Changes an object by giving another. */
type Change = (object: JsonObject) => JsonObject;

/**
 * Returns a copy of the resource with the children of one element changed: for a primitive, its id and extensions.
 * Values that are not on the path to the element stay the very same objects.
 */
export function editContent(resource: Resource, node: Node, model: PatchModel, change: Change): Resource {
  const { slot } = node;
  const isPrimitive = slot !== undefined && model.primitive(node.type) !== undefined;
  if (!isPrimitive) return editAt(resource, contentPath(node, model), 0, change);
  const { parent, key, element, index } = slot;
  return editAt(resource, contentPath(parent, model), 0, (holder) => {
    const item = readItem(holder, key, index) ?? {};
    return spliceItems(holder, key, element.list, index, 1, { ...item, twin: change(item.twin ?? {}) });
  });
}

/**
 * Counts what it costs to change a list in an element, and with it all lists that the element is in.
 *
 * @throws PatchFault `patch-too-large`
 */
export function spendOnLists(holder: Node, key: string, budget: Budget): void {
  let items = countItems(contentOf(holder) ?? {}, key);
  for (let { slot } = holder; slot !== undefined; { slot } = slot.parent) {
    items += countItems(contentOf(slot.parent) ?? {}, slot.key);
  }
  budget.spend(items * COPIED_ITEM);
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
