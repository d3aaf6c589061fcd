import type { XmlElement, XmlNode, XmlParent } from '../../fhir/xml/xml-tree.js';
import { xmlName } from '../../fhir/xml/xml-tree.js';
import { quote } from '../../fhir/quote.js';
import { adopt, adoptAttribute } from './xml-adopt.js';
import { isSpace, textContent, uriContent } from './xml-content.js';
import { insertNodes, touch } from './xml-edit.js';
import { xmlFault, type WorkBudget } from './xml-fault.js';
import { findAttribute } from './xml-find.js';
import type { XmlTarget } from './xml-locate.js';
import type { AddedType, XmlOperation, XmlPlace } from './xml-operation.js';
import { resolveName, scopeIn } from './xml-scope.js';

type AddOperation = XmlOperation & { readonly op: 'add' };

/** Adds nodes, an attribute or a namespace. https://www.rfc-editor.org/rfc/rfc5261#section-4.3 */
export function add(operation: AddOperation, target: XmlTarget, work: WorkBudget): void {
  if (target.kind !== 'node') {
    throw xmlFault('invalid-attribute-value', 'what is added goes to a node; for an attribute use type="@name"');
  }
  if (operation.type === undefined) {
    addNodes(operation, target.node, work);
  } else if (target.node.kind === 'element') {
    addToTag(operation, target.node, operation.type, work);
  } else {
    throw xmlFault('invalid-patch-directive', 'only an element has attributes and declares namespaces');
  }
}

function addNodes(operation: AddOperation, node: XmlNode, work: WorkBudget): void {
  const [parent, index] = placeOf(node, operation.pos);
  const nodes = parent.kind === 'document' ? prologContent(operation.element) : operation.element.children;
  work.spend(parent.children.length);
  adopt(nodes, operation.scope, scopeIn(parent), work);
  insertNodes(parent, index, nodes);
}

/** The node that gets the new children, and before which of its own they go. */
function placeOf(node: XmlNode, pos: XmlPlace | undefined): [XmlParent, number] {
  if (pos === 'before' || pos === 'after') {
    const parent = node.parent!;
    return [parent, parent.children.indexOf(node) + (pos === 'after' ? 1 : 0)];
  }
  if (node.kind !== 'element') {
    throw xmlFault('invalid-patch-directive', `a ${node.kind} has no children; with it goes pos="before" or "after"`);
  }
  return [node, pos === 'prepend' ? 0 : node.children.length];
}

/** What may be beside the root element. */
function prologContent(operation: XmlElement): XmlNode[] {
  const nodes = operation.children.filter((node) => !isSpace(node));
  for (const { kind } of nodes) {
    if (kind === 'element') throw xmlFault('invalid-root-element-operation', 'there can be only one root element');
    if (kind === 'text') throw xmlFault('invalid-prolog-operation', 'there can be no text outside the root element');
  }
  return nodes;
}

function addToTag(operation: AddOperation, element: XmlElement, type: AddedType, work: WorkBudget): void {
  if (type.kind === 'namespace') {
    declareNamespace(operation, element, type.prefix);
  } else {
    const { name } = type;
    const uri = resolveName(operation.scope, name, 'attribute');
    if (findAttribute(element, uri, name.local, work) !== undefined) {
      const text = `the element has an attribute ${quote(xmlName(name))} already, which replace can change`;
      throw xmlFault('invalid-patch-directive', text);
    }
    const value = textContent(operation.element, 'the value of an attribute');
    const prefix = adoptAttribute(name, operation.scope, element, scopeIn(element), work);
    element.attributes.push({ prefix, local: name.local, value });
  }
  touch(element);
}

function declareNamespace(operation: AddOperation, element: XmlElement, prefix: string): void {
  const uri = uriContent(operation.element);
  if (prefix === 'xml' || prefix === 'xmlns') {
    throw xmlFault('invalid-namespace-prefix', `the prefix "${prefix}" has its meaning and can get no other`);
  }
  if (element.namespaces.has(prefix)) {
    const text = `the element declares ${quote(prefix)} already, which replace can change`;
    throw xmlFault('invalid-namespace-prefix', text);
  }
  element.namespaces.set(prefix, uri);
}
