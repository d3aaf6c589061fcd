import { DEFAULT_LIMITS } from '../limits.js';
import { MAX_XHTML_DEPTH } from './xhtml.js';

/** The namespace of `xml:lang`, `xml:space` and `xml:id`, to which the prefix `xml` is bound everywhere. */
export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
/** The namespace of the attributes that declare namespaces. */
export const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/';

/** Elements within each other: those of a resource, and of a narrative in it. */
export const MAX_TREE_DEPTH = DEFAULT_LIMITS.nesting + MAX_XHTML_DEPTH;

/** A name as it is written; no prefix is ''. */
export interface XmlName {
  readonly prefix: string;
  readonly local: string;
}

/** An attribute, declarations of namespaces aside. */
export interface XmlAttribute extends XmlName {
  value: string;
}

/**
 * An element as it is written: what prefixes mean is for its `namespaces` and those of the elements that it is in to
 * say.
 */
export interface XmlElement {
  readonly kind: 'element';
  name: XmlName;
  attributes: XmlAttribute[];
  /** The namespaces that it declares, by their prefixes; '' is the default namespace. */
  namespaces: Map<string, string>;
  children: XmlNode[];
  parent: XmlParent | undefined;
  /** Its text in the document, as long as nothing in it has changed. */
  source: string | undefined;
}

/** A node that is no element. Its text is that of a text node, of a comment, or of an instruction after its target. */
export interface XmlLeaf {
  readonly kind: 'text' | 'comment' | 'instruction';
  text: string;
  /** What an instruction is for; otherwise ''. */
  readonly target: string;
  parent: XmlParent | undefined;
}

/** A node that is among the children of another. */
export type XmlNode = XmlElement | XmlLeaf;

/** The root element, and the comments and instructions before and behind it. */
export interface XmlDocument {
  readonly kind: 'document';
  children: XmlNode[];
  readonly parent: undefined;
}

/** A node that can have children. */
export type XmlParent = XmlDocument | XmlElement;

/** A name with its prefix, as it is written. */
export function xmlName({ prefix, local }: XmlName): string {
  return prefix === '' ? local : `${prefix}:${local}`;
}

/** The root element. */
export function rootOf(document: XmlDocument): XmlElement {
  return document.children.find((node) => node.kind === 'element')!;
}
