import { MAX_TREE_DEPTH, type XmlNode, type XmlParent } from '../../fhir/xml/xml-tree.js';
import { PatchFault } from '../patch-fault.js';

/** Says that something in a node has changed, so that neither it nor what it is in is still as it was read. */
export function touch(node: XmlParent | undefined): void {
  for (let at = node; at?.kind === 'element'; at = at.parent) at.source = undefined;
}

/**
 * Puts nodes before the one that has this index among the children. Text that comes to be beside text becomes one
 * with it. https://www.rfc-editor.org/rfc/rfc5261#section-4.3.5
 */
export function insertNodes(parent: XmlParent, index: number, nodes: readonly XmlNode[]): void {
  checkDepth(parent, nodes);
  for (const node of nodes) node.parent = parent;
  // In one piece, but not as arguments, of which there may be too many.
  parent.children = [...parent.children.slice(0, index), ...nodes, ...parent.children.slice(index)];
  joinTexts(parent, index + nodes.length);
  if (nodes.length > 0) joinTexts(parent, index);
  touch(parent);
}

/** Takes a node out; text on both sides of it becomes one. https://www.rfc-editor.org/rfc/rfc5261#section-4.5 */
export function removeNode(node: XmlNode): void {
  const parent = node.parent!;
  const index = parent.children.indexOf(node);
  parent.children.splice(index, 1);
  joinTexts(parent, index);
  touch(parent);
}

/** Joins the children before and at an index, where both are text. */
function joinTexts(parent: XmlParent, index: number): void {
  const first = parent.children[index - 1];
  const second = parent.children[index];
  if (first?.kind !== 'text' || second?.kind !== 'text') return;
  first.text += second.text;
  parent.children.splice(index, 1);
}

function checkDepth(parent: XmlParent, nodes: readonly XmlNode[]): void {
  let depth = 0;
  for (let at: XmlParent | undefined = parent; at?.kind === 'element'; at = at.parent) depth++;
  if (depth + height(nodes) > MAX_TREE_DEPTH) {
    throw new PatchFault('patch-target', `elements may be nested ${MAX_TREE_DEPTH} deep`);
  }
}

function height(nodes: readonly XmlNode[]): number {
  return nodes.reduce((most, node) => Math.max(most, node.kind === 'element' ? 1 + height(node.children) : 0), 0);
}
