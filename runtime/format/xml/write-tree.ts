import { xmlName, type XmlDocument, type XmlElement, type XmlNode } from '../../fhir/xml/xml-tree.js';
import { escapeAttribute, escapeText } from './escape.js';

/** Writes a tree as XML. An element that has not changed goes out as it came in, to the character. */
export function writeTree(document: XmlDocument): string {
  return `<?xml version="1.0" encoding="UTF-8"?>${document.children.map(writeNode).join('')}`;
}

function writeNode(node: XmlNode): string {
  switch (node.kind) {
    case 'element':
      return node.source ?? writeElement(node);
    case 'text':
      return escapeText(node.text);
    case 'comment':
      return `<!--${node.text}-->`;
    case 'instruction':
      return `<?${node.target}${node.text === '' ? '' : ` ${node.text}`}?>`;
  }
}

function writeElement(element: XmlElement): string {
  const name = xmlName(element.name);
  let start = `<${name}`;
  for (const [prefix, uri] of element.namespaces) start += attribute(prefix === '' ? 'xmlns' : `xmlns:${prefix}`, uri);
  for (const each of element.attributes) start += attribute(xmlName(each), each.value);
  if (element.children.length === 0) return `${start}/>`;
  return `${start}>${element.children.map(writeNode).join('')}</${name}>`;
}

/** Values have been read from XML, which can hold them. */
function attribute(name: string, value: string): string {
  return ` ${name}="${escapeAttribute(value)!}"`;
}
