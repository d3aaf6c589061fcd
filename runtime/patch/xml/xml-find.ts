import type { XmlAttribute, XmlElement } from '../../fhir/xml/xml-tree.js';
import type { WorkBudget } from './xml-fault.js';
import { attributeUri, elementUri, scopeIn, type XmlScope } from './xml-scope.js';

/** Whether an element has this name, `outer` being the scope in which it is. */
export function isNamed(element: XmlElement, outer: XmlScope, uri: string, local: string): boolean {
  if (element.name.local !== local) return false;
  return (element.namespaces.get(element.name.prefix) ?? elementUri(outer, element.name)) === uri;
}

/** The attribute of this name, or undefined. */
export function findAttribute(
  element: XmlElement,
  uri: string,
  local: string,
  work: WorkBudget,
): XmlAttribute | undefined {
  work.spend(element.attributes.length + 1);
  const candidates = element.attributes.filter((attribute) => attribute.local === local);
  if (uri === '') return candidates.find(({ prefix }) => prefix === '');
  if (candidates.length === 0) return undefined;
  const scope = scopeIn(element);
  return candidates.find((attribute) => attributeUri(scope, attribute) === uri);
}
