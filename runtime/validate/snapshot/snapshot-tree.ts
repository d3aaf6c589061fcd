import type { ElementNode } from '../profiles/definition/element-tree.js';
import type { DefinedElement } from '../profiles/definition/structure-definition.js';

/** A copy that may be changed. Elements are replaced, never changed, so they are shared. */
export function copyTree({ name, element, children, slices }: ElementNode): ElementNode {
  return { name, element, children: children.map(copyTree), slices: slices.map(copyTree) };
}

/** The elements of a tree in order, with the paths and ids that they have there. */
export function elementsOf(root: ElementNode): readonly DefinedElement[] {
  const elements: DefinedElement[] = [];
  add(root, root.name, root.name, elements);
  return elements;
}

function add(node: ElementNode, path: string, id: string, elements: DefinedElement[]): void {
  const { element, children, slices } = node;
  const { id: _id, path: _path, ...said } = element ?? { path };
  elements.push({ id, path, ...said });
  for (const child of children) add(child, `${path}.${child.name}`, `${id}.${child.name}`, elements);
  for (const slice of slices) {
    const name = slice.element?.sliceName ?? '';
    const stem = node.element?.sliceName === undefined ? id : id.slice(0, id.lastIndexOf(':'));
    add(slice, path, `${stem}:${name}`, elements);
  }
}
