import type { XmlNode } from '../../fhir/xml/xml-tree.js';
import { adopt } from './xml-adopt.js';
import { singleContent, textContent, uriContent } from './xml-content.js';
import { insertNodes, removeNode, touch } from './xml-edit.js';
import type { WorkBudget } from './xml-fault.js';
import type { XmlTarget } from './xml-locate.js';
import type { XmlOperation } from './xml-operation.js';
import { scopeIn } from './xml-scope.js';

/** Replaces a node by one of its kind, or a value. https://www.rfc-editor.org/rfc/rfc5261#section-4.4 */
export function replace(operation: XmlOperation, target: XmlTarget, work: WorkBudget): void {
  switch (target.kind) {
    case 'attribute':
      target.attribute.value = textContent(operation.element, 'the value of an attribute');
      touch(target.element);
      break;
    case 'namespace':
      target.element.namespaces.set(target.prefix, uriContent(operation.element));
      touch(target.element);
      break;
    case 'node':
      replaceNode(operation, target.node, work);
      break;
  }
}

function replaceNode(operation: XmlOperation, node: XmlNode, work: WorkBudget): void {
  const parent = node.parent!;
  work.spend(parent.children.length);
  if (node.kind === 'text') {
    const text = textContent(operation.element, 'what replaces text');
    // There is no text node without text.
    if (text === '') removeNode(node);
    node.text = text;
    touch(parent);
    return;
  }
  const content = singleContent(operation.element, node.kind);
  const index = parent.children.indexOf(node);
  adopt([content], operation.scope, scopeIn(parent), work);
  parent.children.splice(index, 1);
  insertNodes(parent, index, [content]);
}
