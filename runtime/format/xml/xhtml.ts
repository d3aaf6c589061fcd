import { checkXhtml, XHTML_NAMESPACE } from '../../fhir/xml/xhtml.js';
import { XML_NAMESPACE, XMLNS_NAMESPACE } from '../../fhir/xml/xml-tree.js';
import { escapeAttribute, escapeText } from './escape.js';
import { openParser, type XmlTag } from './open-parser.js';

/**
 * Returns what is wrong with an element of a narrative as XML, or undefined. The element has to be in the XHTML
 * namespace, and its attributes in no namespace but XML's own. The validator checks which elements and attributes XHTML
 * may use.
 * https://hl7.org/fhir/R5/narrative.html#xhtml
 */
export function xhtmlTagFault(tag: XmlTag): string | undefined {
  if (tag.uri !== XHTML_NAMESPACE) {
    return `a narrative holds elements of ${XHTML_NAMESPACE} only; "${tag.name}" is of ${tag.uri || 'no namespace'}`;
  }
  for (const { name, uri } of Object.values(tag.attributes)) {
    if (uri !== '' && uri !== XML_NAMESPACE && uri !== XMLNS_NAMESPACE) {
      return `a narrative has no attributes of other namespaces; "${name}" is of ${uri}`;
    }
  }
  return undefined;
}

/**
 * The div of a narrative, ready for an XML document: as it is, but for white space around it and the
 * declaration of its namespace where that is missing, as it may be in what was stored by others.
 *
 * @throws XhtmlFault when it is not one well-formed `div` of XHTML: inserted, it would break the document
 */
export function embedXhtml(div: string): string {
  const text = div.trim();
  const { nameEnd, isDeclared } = checkXhtml(text, true);
  return isDeclared ? text : `${text.slice(0, nameEnd)} xmlns="${XHTML_NAMESPACE}"${text.slice(nameEnd)}`;
}

/**
 * A div that leans on namespaces declared around it (or uses prefixes), written anew so that it stands for itself and
 * without prefixes: the form that JSON has. The div has to be well-formed.
 *
 * @param namespaces What its prefixes mean; '' is the default namespace
 */
export function standaloneXhtml(div: string, namespaces: Readonly<Record<string, string>>): string {
  const parser = openParser(namespaces);
  let result = '';
  let isOpen = false;
  const closeStart = (): void => {
    if (isOpen) result += '>';
    isOpen = false;
  };
  parser.on('opentag', (tag) => {
    closeStart();
    result += `<${tag.local}${result === '' ? ` xmlns="${XHTML_NAMESPACE}"` : ''}${attributesOf(tag)}`;
    isOpen = true;
  });
  const addText = (text: string): void => {
    closeStart();
    result += escapeText(text);
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', (tag) => {
    result += isOpen ? '/>' : `</${tag.local}>`;
    isOpen = false;
  });
  parser.write(div).close();
  return result;
}

function attributesOf(tag: XmlTag): string {
  return Object.values(tag.attributes)
    .filter(({ uri }) => uri !== XMLNS_NAMESPACE)
    .map(({ name, value }) => ` ${name}="${escapeAttribute(value) ?? ''}"`)
    .join('');
}
