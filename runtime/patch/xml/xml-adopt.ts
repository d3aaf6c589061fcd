import type { XmlElement, XmlName, XmlNode } from '../../fhir/xml/xml-tree.js';
import { touch } from './xml-edit.js';
import type { WorkBudget } from './xml-fault.js';
import { attributeUri, elementUri, enterScope, resolveName, type XmlScope } from './xml-scope.js';

/**
 * Makes nodes of the patch mean in the document what they mean in the patch: their names get the prefix that the
 * document has for their namespace, and a namespace that it does not know is declared. Elements that need neither stay
 * as they were read. https://www.rfc-editor.org/rfc/rfc5261#section-4.2.3
 *
 * @param from What prefixes mean in the patch, where the nodes are
 * @param to What they mean in the document, where the nodes will be
 */
export function adopt(nodes: readonly XmlNode[], from: XmlScope, to: XmlScope, work: WorkBudget): void {
  work.spend(nodes.length);
  for (const node of nodes) if (node.kind === 'element') adoptElement(node, from, to, work);
}

function adoptElement(element: XmlElement, outerFrom: XmlScope, outerTo: XmlScope, work: WorkBudget): void {
  const from = enterScope(outerFrom, element);
  const declare = new Declarations(element, enterScope(outerTo, element), work);
  const { prefix, local } = element.name;
  const own = declare.elementPrefix(elementUri(from, element.name), prefix);
  if (own !== prefix) {
    element.name = { prefix: own, local };
    touch(element);
  }
  element.attributes = element.attributes.map((attribute) => {
    const wanted = declare.attributePrefix(attributeUri(from, attribute), attribute.prefix);
    if (wanted === attribute.prefix) return attribute;
    touch(element);
    return { ...attribute, prefix: wanted };
  });
  adopt(element.children, from, declare.scope, work);
}

/**
 * The prefix that an attribute of the patch gets on an element of the document; its namespace is declared there where
 * nothing has.
 *
 * @param to What prefixes mean within the element
 */
export function adoptAttribute(
  name: XmlName,
  from: XmlScope,
  element: XmlElement,
  to: XmlScope,
  work: WorkBudget,
): string {
  return new Declarations(element, to, work).attributePrefix(resolveName(from, name, 'attribute'), name.prefix);
}

/** Finds prefixes for namespaces on one element, and declares there what is missing. */
class Declarations {
  constructor(
    private readonly element: XmlElement,
    /** What prefixes mean within the element. */
    public scope: XmlScope,
    private readonly work: WorkBudget,
  ) {}

  elementPrefix(uri: string, wanted: string): string {
    if ((this.scope.get(wanted) ?? '') === uri) return wanted;
    if (uri === '') return this.declare('', '');
    return this.bound(uri, true) ?? this.declare(wanted === '' ? '' : this.unused(wanted), uri);
  }

  attributePrefix(uri: string, wanted: string): string {
    if (uri === '') return '';
    if (this.scope.get(wanted) === uri) return wanted;
    return this.bound(uri, false) ?? this.declare(this.unused(wanted), uri);
  }

  /** The first prefix, the default namespace before all others, that means a namespace. */
  private bound(uri: string, orDefault: boolean): string | undefined {
    this.work.spend(this.scope.size);
    const bound = [...this.scope].filter(([prefix, each]) => each === uri && (orDefault || prefix !== ''));
    return bound.map(([prefix]) => prefix).sort()[0];
  }

  /** A prefix that means nothing yet, so that declaring it takes no meaning from anything. */
  private unused(wanted: string): string {
    let prefix = wanted;
    for (let n = 1; this.scope.has(prefix); n++) prefix = `${wanted}${n}`;
    return prefix;
  }

  private declare(prefix: string, uri: string): string {
    // What is declared again and again makes the document larger than the patch is.
    this.work.spend(prefix.length + uri.length);
    this.element.namespaces.set(prefix, uri);
    this.scope = new Map([...this.scope, [prefix, uri]]);
    touch(this.element);
    return prefix;
  }
}
