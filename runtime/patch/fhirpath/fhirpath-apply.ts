import { greatest } from '../../fhir/lists.js';
import type { Resource } from '../../fhir/resource.js';
import type { Budget } from './fhirpath-budget.js';
import { editContent, spendOnLists } from './fhirpath-edit.js';
import { PathFault } from '../../path/expression/path-fault.js';
import { countItems, replaceKeys, spliceItems, writeItems } from './fhirpath-items.js';
import type { PatchElement, PatchModel } from './fhirpath-model.js';
import { childAt, contentOf, pathOf, typeOf, type Node } from './fhirpath-node.js';
import type { Operation, OperationType } from './fhirpath-operation.js';
import { addValue, elementOf, readValue } from './fhirpath-value.js';

/** Context that an operation works with. */
export interface Bench {
  readonly resource: Resource;
  readonly model: PatchModel;
  readonly budget: Budget;
  /** What a path finds. */
  readonly find: (path: string) => readonly Node[];
  /** What holds a list, and the name of the list, by the path of the list. */
  readonly findList: (path: string) => { readonly holders: readonly Node[]; readonly name: string };
}

/** Each operation gives the resource as it is afterwards. https://hl7.org/fhir/R5/fhirpatch.html#concept */
export const OPERATIONS: Readonly<Record<OperationType, (operation: Operation, bench: Bench) => Resource>> = {
  add(operation, { resource, model, budget, find }) {
    const holder = one(find(operation.path));
    const type = contentType(holder, model);
    const element = elementOf(type, operation.name ?? '', 'name');
    const added = readValue(operation.value ?? {}, type, element, model);
    spendOnLists(holder, added.key, budget);
    return editContent(resource, holder, model, (content) => addValue(content, type, element, added));
  },

  insert(operation, bench) {
    const { resource, model, budget } = bench;
    const { holder, element } = findList(operation, bench);
    const type = contentType(holder, model);
    const length = countOf(holder, element, model);
    const { index = 0 } = operation;
    if (!element.list && length > 0) throw new PathFault(`${pathOf(holder)}.${element.name} is no list`, 'path');
    if (index > length) throw beyond('index', index, length);
    const { key, item } = readValue(operation.value ?? {}, type, element, model);
    spendOnLists(holder, key, budget);
    return editContent(resource, holder, model, (content) => spliceItems(content, key, element.list, index, 0, item));
  },

  delete(operation, { resource, model, budget, find }) {
    const nodes = find(operation.path);
    if (nodes.length === 0) return resource;
    const { slot } = one(nodes);
    if (slot === undefined) throw new PathFault('a patch cannot delete the resource itself', 'path');
    spendOnLists(slot.parent, slot.key, budget);
    return editContent(resource, slot.parent, model, (content) =>
      spliceItems(content, slot.key, slot.element.list, slot.index, 1),
    );
  },

  replace(operation, { resource, model, budget, find }) {
    const { slot } = one(find(operation.path));
    if (slot === undefined) throw new PathFault('a patch cannot replace the resource itself', 'path');
    const { key, item } = readValue(operation.value ?? {}, contentType(slot.parent, model), slot.element, model);
    spendOnLists(slot.parent, slot.key, budget);
    return editContent(resource, slot.parent, model, (content) =>
      key === slot.key
        ? spliceItems(content, key, slot.element.list, slot.index, 1, item)
        : replaceKeys(content, [slot.key], Object.entries(writeItems({}, key, [item], slot.element.list))),
    );
  },

  move(operation, bench) {
    const { resource, model, budget } = bench;
    const { holder, element } = findList(operation, bench);
    const type = contentType(holder, model);
    const length = countOf(holder, element, model);
    const { source = 0, destination = 0 } = operation;
    for (const [part, index] of Object.entries({ source, destination })) {
      if (index >= length) throw beyond(part, index, length);
    }
    const [key] = type.keysOf(element).map((each) => each.key);
    const item = childAt(holder, element, source, model)?.item;
    if (key === undefined || item === undefined) throw new Error('a list without items');
    // It makes two lists, one without the item and one with it.
    for (let i = 0; i < 2; i++) spendOnLists(holder, key, budget);
    return editContent(resource, holder, model, (content) =>
      spliceItems(spliceItems(content, key, true, source, 1), key, true, destination, 0, item),
    );
  },
};

function findList(operation: Operation, bench: Bench): { readonly holder: Node; readonly element: PatchElement } {
  const { holders, name } = bench.findList(operation.path);
  const holder = one(holders);
  const element = elementOf(contentType(holder, bench.model), name, 'path');
  return { holder, element };
}

/** The one element that a path has to find. */
function one(nodes: readonly Node[]): Node {
  const [node] = nodes;
  if (node === undefined) throw new PathFault('the path finds nothing', 'path');
  if (nodes.length === 1) return node;
  const some = nodes.slice(0, 3).map(pathOf).join(', ') + (nodes.length > 3 ? '…' : '');
  throw new PathFault(`the path finds ${nodes.length} elements where it has to find one: ${some}`, 'path');
}

function contentType(node: Node, model: PatchModel): NonNullable<ReturnType<typeof typeOf>> {
  const type = typeOf(node, model);
  const isPlain = model.primitive(node.type) !== undefined && node.slot?.element.twins === false;
  if (type === undefined || isPlain) throw new PathFault(`${pathOf(node)} has no elements`, 'path');
  return type;
}

function countOf(holder: Node, element: PatchElement, model: PatchModel): number {
  const content = contentOf(holder) ?? {};
  return greatest(
    contentType(holder, model)
      .keysOf(element)
      .map(({ key }) => countItems(content, key)),
  );
}

function beyond(part: string, index: number, length: number): PathFault {
  return new PathFault(`${part} ${index} is beyond the end: the list has ${length} items`, part);
}
