import { XML_NAMESPACE, xmlName, type XmlElement, type XmlName, type XmlParent } from '../../fhir/xml/xml-tree.js';
import { xmlFault } from './xml-fault.js';

/** Namespaces by the prefixes that name them at one position; '' is the default namespace. */
export type XmlScope = ReadonlyMap<string, string>;

const OUTERMOST: XmlScope = new Map([['xml', XML_NAMESPACE]]);

/** Returns the namespaces that prefixes name within a node. */
export function scopeIn(node: XmlParent | undefined): XmlScope {
  const chain: XmlElement[] = [];
  for (let at = node; at?.kind === 'element'; at = at.parent) chain.push(at);
  return chain.reduceRight((scope, element) => enterScope(scope, element), OUTERMOST);
}

/** Returns the namespaces that prefixes name within an element: those declared around it, and its own declarations. */
export function enterScope(scope: XmlScope, { namespaces }: XmlElement): XmlScope {
  return namespaces.size === 0 ? scope : new Map([...scope, ...namespaces]);
}

/** The namespace of an element; none is ''. */
export function elementUri(scope: XmlScope, { prefix }: XmlName): string {
  return scope.get(prefix) ?? '';
}

/** The namespace of an attribute: without a prefix it has none. */
export function attributeUri(scope: XmlScope, { prefix }: XmlName): string {
  return prefix === '' ? '' : (scope.get(prefix) ?? '');
}

/**
 * The namespace that a name in the patch means. An element without prefix is of the default namespace of the patch,
 * other than in XPath 1.0. https://www.rfc-editor.org/rfc/rfc5261#section-4.2.2
 */
export function resolveName(scope: XmlScope, name: XmlName, kind: 'element' | 'attribute'): string {
  const { prefix } = name;
  if (prefix !== '' && !scope.has(prefix)) {
    const text = `the prefix of "${xmlName(name)}" means nothing; declare it in the patch: xmlns:${prefix}="…"`;
    throw xmlFault('invalid-namespace-prefix', text);
  }
  return kind === 'element' ? elementUri(scope, name) : attributeUri(scope, name);
}
