import type { XmlElement, XmlNode } from '../../fhir/xml/xml-tree.js';
import { isSpace } from './xml-content.js';
import { removeNode, touch } from './xml-edit.js';
import { xmlFault, type WorkBudget } from './xml-fault.js';
import type { XmlTarget } from './xml-locate.js';
import type { XmlOperation, XmlSpace } from './xml-operation.js';

type RemoveOperation = XmlOperation & { readonly op: 'remove' };

/** Removes a node, an attribute or the declaration of a namespace. https://www.rfc-editor.org/rfc/rfc5261#section-4.5 */
export function remove(operation: RemoveOperation, target: XmlTarget, work: WorkBudget): void {
  if (operation.element.children.some((node) => node.kind === 'element' || (node.kind === 'text' && !isSpace(node)))) {
    throw xmlFault('invalid-patch-directive', 'remove has no content; to put something in its place use replace');
  }
  if (target.kind === 'node' && target.node.kind !== 'text') {
    removeWithSpace(target.node, operation.ws, work);
    return;
  }
  if (operation.ws !== undefined) {
    throw xmlFault('invalid-patch-directive', '"ws" goes with elements, comments and processing instructions only');
  }
  if (target.kind === 'node') {
    removeNode(target.node);
  } else if (target.kind === 'attribute') {
    target.element.attributes = target.element.attributes.filter((each) => each !== target.attribute);
    touch(target.element);
  } else {
    if (isUsed(target.element, target.prefix, work)) {
      throw xmlFault('invalid-namespace-prefix', `the prefix "${target.prefix}" is in use`);
    }
    target.element.namespaces.delete(target.prefix);
    touch(target.element);
  }
}

function removeWithSpace(node: XmlNode, ws: XmlSpace | undefined, work: WorkBudget): void {
  const parent = node.parent!;
  if (parent.kind === 'document' && node.kind === 'element') {
    throw xmlFault('invalid-root-element-operation', 'the root element cannot be removed');
  }
  work.spend(parent.children.length);
  const index = parent.children.indexOf(node);
  const siblings = [
    ...(ws === 'before' || ws === 'both' ? [parent.children[index - 1]] : []),
    ...(ws === 'after' || ws === 'both' ? [parent.children[index + 1]] : []),
  ];
  if (!siblings.every(isSpace)) {
    const text = `there is no text of white space only ${ws === 'both' ? 'on both sides of' : ws} the node`;
    throw xmlFault('invalid-whitespace-directive', text);
  }
  for (const each of [...siblings, node]) removeNode(each!);
}

/** Whether an element or anything in it has a name with this prefix that is not declared further in. */
function isUsed(element: XmlElement, prefix: string, work: WorkBudget): boolean {
  work.spend(1 + element.attributes.length);
  if (element.name.prefix === prefix || element.attributes.some((each) => each.prefix === prefix)) return true;
  return element.children.some(
    (child) => child.kind === 'element' && !child.namespaces.has(prefix) && isUsed(child, prefix, work),
  );
}
