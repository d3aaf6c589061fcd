import {
  MAX_TREE_DEPTH,
  XMLNS_NAMESPACE,
  type XmlDocument,
  type XmlElement,
  type XmlLeaf,
  type XmlParent,
} from '../../fhir/xml/xml-tree.js';
import { checkText } from './check-text.js';
import { openParser, XmlRefusal, type XmlTag } from './open-parser.js';
import { refusalIssue, XmlError } from './xml-error.js';

/**
 * Reads any XML 1.0 document, comments and processing instructions included, as a tree in which every element keeps
 * the text that it was read from. CDATA is text as any other. Text outside the root element, which can only be white
 * space, is left out.
 *
 * @throws FhirError `xml-syntax`, `xml-forbidden` (DOCTYPE and entities) or `xml-depth`, with line and column
 */
export function readTree(text: string): XmlDocument {
  const parser = openParser();
  const document: XmlDocument = { kind: 'document', children: [], parent: undefined };
  const starts: number[] = [];
  let open: XmlParent = document;
  const addLeaf = (kind: XmlLeaf['kind'], content: string, target = ''): void => {
    const last = open.children.at(-1);
    if (kind === 'text' && (open === document || content === '')) return;
    if (kind === 'text' && last?.kind === 'text') last.text += content;
    else open.children.push({ kind, text: content, target, parent: open });
  };
  parser.on('opentag', (tag) => {
    const start = text.lastIndexOf('<', parser.position - 1);
    if (starts.length >= MAX_TREE_DEPTH) {
      throw new XmlRefusal('depth', `elements may be nested ${MAX_TREE_DEPTH} deep`, start);
    }
    starts.push(start);
    const element = elementOf(tag, open);
    open.children.push(element);
    open = element;
  });
  parser.on('closetag', () => {
    const element = open as XmlElement;
    element.source = text.slice(starts.pop(), parser.position);
    open = element.parent!;
  });
  parser.on('text', (content) => addLeaf('text', content));
  parser.on('cdata', (content) => addLeaf('text', content));
  parser.on('comment', (content) => addLeaf('comment', content));
  parser.on('processinginstruction', ({ target, body }) => addLeaf('instruction', body, target));
  try {
    checkText(text);
    parser.write(text).close();
  } catch (error) {
    throw error instanceof XmlRefusal ? new XmlError([refusalIssue(error, text)]) : error;
  }
  return document;
}

function elementOf(tag: XmlTag, parent: XmlParent): XmlElement {
  const attributes = Object.values(tag.attributes);
  return {
    kind: 'element',
    name: { prefix: tag.prefix, local: tag.local },
    attributes: attributes
      .filter(({ uri }) => uri !== XMLNS_NAMESPACE)
      .map(({ prefix, local, value }) => ({ prefix, local, value })),
    namespaces: new Map(Object.entries(tag.ns)),
    children: [],
    parent,
    source: undefined,
  };
}
