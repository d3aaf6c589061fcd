import { XML_NAMESPACE, XMLNS_NAMESPACE, type XmlElement, type XmlNode } from '../../fhir/xml/xml-tree.js';
import { xmlFault } from './xml-fault.js';

/** The content of an operation that has to be text, such as the value of an attribute. */
export function textContent(operation: XmlElement, what: string): string {
  const { children } = operation;
  if (children.some((node) => node.kind !== 'text')) {
    throw xmlFault('invalid-node-types', `${what} is text, and the content of the operation is not`);
  }
  return children.map((node) => (node.kind === 'text' ? node.text : '')).join('');
}

/** The content of an operation that has to be one node of this kind; white space may be around it. */
export function singleContent(operation: XmlElement, kind: XmlNode['kind']): XmlNode {
  const nodes = operation.children.filter((node) => !isSpace(node));
  const [node] = nodes;
  if (nodes.length === 1 && node?.kind === kind) return node;
  const what = kind === 'instruction' ? 'processing instruction' : kind;
  const found = nodes.length === 1 ? `one ${node!.kind}` : `${nodes.length} nodes`;
  throw xmlFault('invalid-node-types', `only one ${what} can replace the ${what}, and the content is ${found}`);
}

/** Whether a node is text of white space only. */
export function isSpace(node: XmlNode | undefined): boolean {
  return node?.kind === 'text' && !/[^ \t\r\n]/.test(node.text);
}

/** The namespace that an operation declares. */
export function uriContent(operation: XmlElement): string {
  const uri = textContent(operation, 'a namespace').trim();
  if (uri === '') throw xmlFault('invalid-namespace-uri', 'a prefix cannot stand for no namespace');
  if (uri === XML_NAMESPACE || uri === XMLNS_NAMESPACE) {
    throw xmlFault('invalid-namespace-uri', `${uri} has its own prefix and no other`);
  }
  return uri;
}
