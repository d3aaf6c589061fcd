import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { countItems, readItem, readItems, type PatchItem } from './fhirpath-items.js';
import type { ElementForm } from '../../path/expression/type-index.js';
import type { PatchElement, PatchModel, PatchType } from './fhirpath-model.js';

/** Names and positions from the root of a resource to one of its parts. */
export type JsonPath = readonly (string | number)[];

/** An element in a resource. */
export interface Node {
  /** Name of its type; of a resource its own. */
  readonly type: string;
  readonly item: PatchItem;
  /** Undefined for the resource itself. */
  readonly slot?: Slot;
}

/** Where an element is in its parent. */
export interface Slot {
  readonly parent: Node;
  readonly element: PatchElement;
  /** Its JSON name. */
  readonly key: string;
  /** Its position; 0 where the element does not repeat. */
  readonly index: number;
}

/** The resource as a node. */
export function rootNode(resource: Resource): Node {
  return { type: resource.resourceType, item: { value: resource } };
}

/**
 * Returns the object that holds the children of a node: of a primitive, its id and extensions. Undefined: there is
 * none.
 */
export function contentOf(node: Node): JsonObject | undefined {
  const { value, twin } = node.item;
  return isObject(value) ? value : twin;
}

/** Type of a node's children. */
export function typeOf(node: Node, model: PatchModel): PatchType | undefined {
  return model.primitive(node.type) === undefined ? model.type(node.type) : model.type('Element');
}

/** Where a node's children are in the JSON; for a primitive its id and extensions, which need not be there yet. */
export function contentPath({ type, slot }: Node, model: PatchModel): JsonPath {
  if (slot === undefined) return [];
  const name = model.primitive(type) === undefined ? slot.key : `_${slot.key}`;
  return [...contentPath(slot.parent, model), name, ...(slot.element.list ? [slot.index] : [])];
}

/** The children of one element; none where there are none. */
export function childNodes(parent: Node, element: PatchElement, model: PatchModel): readonly Node[] {
  const found = keyOf(parent, element, model);
  if (found === undefined) return [];
  const items = readItems(found.content, found.key);
  return items.map((item, index) => makeNode(parent, element, found, item, index, model));
}

/** One child of an element, by its position; undefined where there is none. */
export function childAt(parent: Node, element: PatchElement, index: number, model: PatchModel): Node | undefined {
  const found = keyOf(parent, element, model);
  const item = found && readItem(found.content, found.key, index);
  return found && item && makeNode(parent, element, found, item, index, model);
}

interface FoundKey extends ElementForm {
  readonly content: JsonObject;
}

/** The JSON name by which an element is there. */
function keyOf(parent: Node, element: PatchElement, model: PatchModel): FoundKey | undefined {
  const content = contentOf(parent);
  const keys = content && typeOf(parent, model)?.keysOf(element);
  const found = keys?.find(({ key }) => countItems(content ?? {}, key) > 0);
  return content && found && { ...found, content };
}

function makeNode(
  parent: Node,
  element: PatchElement,
  { key, type }: ElementForm,
  item: PatchItem,
  index: number,
  model: PatchModel,
): Node {
  return { type: resourceType(item.value, model, type), item, slot: { parent, element, key, index } };
}

function resourceType(value: JsonValue | undefined, model: PatchModel, declared: string): string {
  if (!isObject(value) || !model.isResource(declared)) return declared;
  const type = value['resourceType'];
  return typeof type === 'string' ? type : declared;
}

/** An element as a path; for messages and for telling whether two nodes are one. */
export function pathOf(node: Node): string {
  if (node.slot === undefined) return node.type;
  const { parent, element, index } = node.slot;
  return `${pathOf(parent)}.${element.name}${element.list ? `[${index}]` : ''}`;
}
