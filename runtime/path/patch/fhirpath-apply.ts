import type { Resource } from '../../fhir/resource.js';
import { editContent, editItems } from './fhirpath-edit.js';
import { PatchFault } from './fhirpath-fault.js';
import { replaceKeys, writeItems, type Item } from './fhirpath-items.js';
import type { PatchElement, PatchModel } from './fhirpath-model.js';
import { childNodes, pathOf, typeOf, type Node, type Slot } from './fhirpath-node.js';
import type { Operation, OperationType } from './fhirpath-operation.js';
import { addValue, elementOf, readValue } from './fhirpath-value.js';

/** What an operation works with. */
export interface Bench {
  readonly resource: Resource;
  readonly model: PatchModel;
  /** What a path finds. */
  readonly find: (path: string) => readonly Node[];
  /** What holds a list, and the name of the list, by the path of the list. */
  readonly findList: (path: string) => { readonly holders: readonly Node[]; readonly name: string };
}

/** Each operation gives the resource as it is afterwards. https://hl7.org/fhir/R5/fhirpatch.html#concept */
export const OPERATIONS: Readonly<Record<OperationType, (operation: Operation, bench: Bench) => Resource>> = {
  add(operation, { resource, model, find }) {
    const holder = one(find(operation.path));
    const type = contentType(holder, model);
    const element = elementOf(type, operation.name ?? '', 'name');
    const added = readValue(operation.value ?? {}, type, element, model);
    return editContent(resource, holder, model, (content) => addValue(content, type, element, added));
  },

  insert(operation, bench) {
    const { resource, model } = bench;
    const { holder, element } = findList(operation, bench);
    const type = contentType(holder, model);
    const items = childNodes(holder, element, model).map((node) => node.item);
    const { index = 0 } = operation;
    if (!element.list && items.length > 0) throw new PatchFault(`${pathOf(holder)}.${element.name} is no list`, 'path');
    if (index > items.length) throw beyond('index', index, items.length);
    const { key, item } = readValue(operation.value ?? {}, type, element, model);
    return editContent(resource, holder, model, (content) =>
      writeItems(content, key, items.toSpliced(index, 0, item), element.list),
    );
  },

  delete(operation, { resource, find }) {
    const nodes = find(operation.path);
    if (nodes.length === 0) return resource;
    const { slot } = one(nodes);
    if (slot === undefined) throw new PatchFault('a patch cannot delete the resource itself', 'path');
    return editItems(resource, slot, (items) => items.toSpliced(slot.index, 1));
  },

  replace(operation, { resource, model, find }) {
    const { slot } = one(find(operation.path));
    if (slot === undefined) throw new PatchFault('a patch cannot replace the resource itself', 'path');
    const { key, item } = readValue(operation.value ?? {}, contentType(slot.parent, model), slot.element, model);
    if (key === slot.key) return editItems(resource, slot, (items) => items.with(slot.index, item));
    return replaceChoice(resource, slot, key, item, model);
  },

  move(operation, bench) {
    const { holder, element } = findList(operation, bench);
    const { length } = childNodes(holder, element, bench.model);
    const { source = 0, destination = 0 } = operation;
    for (const [part, index] of Object.entries({ source, destination })) {
      if (index >= length) throw beyond(part, index, length);
    }
    const [key] = contentType(holder, bench.model).keysOf(element);
    return editItems(bench.resource, { parent: holder, key: key?.key ?? '', element }, (items) => {
      const moved = items.slice(source, source + 1);
      return items.toSpliced(source, 1).toSpliced(destination, 0, ...moved);
    });
  },
};

/** The value of a choice that gets another type, and by that another name. */
function replaceChoice(resource: Resource, slot: Slot, key: string, item: Item, model: PatchModel): Resource {
  return editContent(resource, slot.parent, model, (content) => {
    const fresh = Object.entries(writeItems({}, key, [item], slot.element.list));
    return replaceKeys(content, [slot.key], fresh);
  });
}

function findList(operation: Operation, bench: Bench): { readonly holder: Node; readonly element: PatchElement } {
  const { holders, name } = bench.findList(operation.path);
  const holder = one(holders);
  const element = elementOf(contentType(holder, bench.model), name, 'path');
  return { holder, element };
}

/** The one element that a path has to find. */
function one(nodes: readonly Node[]): Node {
  const [node] = nodes;
  if (node === undefined) throw new PatchFault('the path finds nothing', 'path');
  if (nodes.length === 1) return node;
  const some = nodes.slice(0, 3).map(pathOf).join(', ');
  throw new PatchFault(`the path finds ${nodes.length} elements where it has to find one: ${some}…`, 'path');
}

function contentType(node: Node, model: PatchModel): NonNullable<ReturnType<typeof typeOf>> {
  const type = typeOf(node, model);
  const isPlain = model.primitive(node.type) !== undefined && node.slot?.element.twins === false;
  if (type === undefined || isPlain) throw new PatchFault(`${pathOf(node)} has no elements`, 'path');
  return type;
}

function beyond(part: string, index: number, length: number): PatchFault {
  return new PatchFault(`${part} ${index} is beyond the end: the list has ${length} items`, part);
}
