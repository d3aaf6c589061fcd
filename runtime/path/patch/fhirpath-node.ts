import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { readItems, type Item } from './fhirpath-items.js';
import type { PatchElement, PatchModel, PatchType } from './fhirpath-model.js';

/** Names and positions from the root of a resource to one of its parts. */
export type JsonPath = readonly (string | number)[];

/** An element in a resource. */
export interface Node {
  /** Name of its type; of a resource its own. */
  readonly type: string;
  /** Where its children are; for a primitive its id and extensions, which need not be there yet. */
  readonly content: JsonPath;
  readonly item: Item;
  /** Undefined for the resource itself. */
  readonly slot?: Slot;
}

/** Where an element stands in its parent. */
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
  return { type: resource.resourceType, content: [], item: { value: resource } };
}

/** What may have children: of a primitive its id and extensions. */
export function contentOf(node: Node): JsonObject | undefined {
  const { value, twin } = node.item;
  return isObject(value) ? value : twin;
}

/** Type of a node's children. */
export function typeOf(node: Node, model: PatchModel): PatchType | undefined {
  return model.primitive(node.type) === undefined ? model.type(node.type) : model.type('Element');
}

/** The children of one element; none where there are none. */
export function childNodes(parent: Node, element: PatchElement, model: PatchModel): readonly Node[] {
  const content = contentOf(parent);
  const type = typeOf(parent, model);
  if (content === undefined || type === undefined) return [];
  for (const { key, type: name } of type.keysOf(element)) {
    const items = readItems(content, key);
    if (items.length === 0) continue;
    return items.map((item, index): Node => ({
      type: resourceType(item.value, model, name),
      content: [
        ...parent.content,
        model.primitive(name) === undefined ? key : `_${key}`,
        ...(element.list ? [index] : []),
      ],
      item,
      slot: { parent, element, key, index },
    }));
  }
  return [];
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
