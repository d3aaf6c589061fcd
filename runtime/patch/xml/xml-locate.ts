import {
  rootOf,
  XML_NAMESPACE,
  type XmlAttribute,
  type XmlDocument,
  type XmlElement,
  type XmlNode,
  type XmlParent,
} from '../../fhir/xml/xml-tree.js';
import { quote } from '../../fhir/quote.js';
import { matchesCondition } from './xml-condition.js';
import { xmlFault, type WorkBudget } from './xml-fault.js';
import { findAttribute, isNamed } from './xml-find.js';
import { elementUri, resolveName, scopeIn, type XmlScope } from './xml-scope.js';
import type { XmlSelector, XmlStep } from './xml-selector.js';

/** Target of a selector: a node, an attribute, or the declaration of a namespace. */
export type XmlTarget =
  | { readonly kind: 'node'; readonly node: XmlNode }
  | { readonly kind: 'attribute'; readonly element: XmlElement; readonly attribute: XmlAttribute }
  | { readonly kind: 'namespace'; readonly element: XmlElement; readonly prefix: string };

/**
 * Finds the one node of a document that a selector leads to. https://www.rfc-editor.org/rfc/rfc5261#section-4.1
 *
 * @param scope What prefixes mean where the selector is
 * @throws PatchFault `unlocated-node` where there is none, or more than one; `invalid-namespace-prefix`
 */
export function locate(document: XmlDocument, selector: XmlSelector, scope: XmlScope, work: WorkBudget): XmlTarget {
  const last = selector.steps.length - 1;
  let parents: readonly XmlParent[] = [document];
  for (const step of selector.steps.slice(0, last)) {
    parents = elementsAt(parents, step, scope, work);
    if (parents.length === 0) throw notFound(document, selector, step, scope);
  }
  const step = selector.steps[last]!;
  const targets = targetsAt(parents, step, scope, work);
  const [target] = targets;
  if (target === undefined) throw notFound(document, selector, step, scope);
  if (targets.length > 1) {
    const text = `${quote(selector.text)} leads to ${targets.length} places, and has to lead to one`;
    throw xmlFault('unlocated-node', text);
  }
  return target;
}

function targetsAt(parents: readonly XmlParent[], step: XmlStep, scope: XmlScope, work: WorkBudget): XmlTarget[] {
  switch (step.kind) {
    case 'id':
    case 'element':
      return elementsAt(parents, step, scope, work).map((node) => ({ kind: 'node', node }));
    case 'attribute': {
      const uri = resolveName(scope, step.name, 'attribute');
      return parents.flatMap((parent) => {
        const attribute = parent.kind === 'element' ? findAttribute(parent, uri, step.name.local, work) : undefined;
        return attribute === undefined ? [] : [{ kind: 'attribute', element: parent as XmlElement, attribute }];
      });
    }
    case 'namespace':
      return parents.flatMap((parent) =>
        parent.kind === 'element' && parent.namespaces.has(step.prefix)
          ? [{ kind: 'namespace', element: parent, prefix: step.prefix }]
          : [],
      );
    case 'text':
    case 'comment':
    case 'instruction':
      return parents.flatMap((parent) => {
        work.spend(parent.children.length);
        const found = parent.children.filter(
          (node) => node.kind === step.kind && (step.target === '' || node.target === step.target),
        );
        const wanted = step.position === undefined ? found : found.slice(step.position - 1, step.position);
        return wanted.map((node): XmlTarget => ({ kind: 'node', node }));
      });
  }
}

function elementsAt(parents: readonly XmlParent[], step: XmlStep, scope: XmlScope, work: WorkBudget): XmlElement[] {
  if (step.kind === 'id') return elementsWithId(parents[0] as XmlDocument, step.id, work);
  if (step.kind !== 'element') return [];
  const uri = step.name === undefined ? undefined : resolveName(scope, step.name, 'element');
  return parents.flatMap((parent) => {
    work.spend(parent.children.length);
    const outer = scopeIn(parent);
    let found = parent.children.filter((node) => node.kind === 'element');
    if (uri !== undefined) found = found.filter((node) => isNamed(node, outer, uri, step.name!.local));
    for (const condition of step.conditions) {
      found = found.filter((element, i) => matchesCondition(element, i + 1, condition, { patch: scope, outer }, work));
    }
    return found;
  });
}

/** Without a DTD, which is not allowed, only `xml:id` is an id. */
function elementsWithId(document: XmlDocument, id: string, work: WorkBudget): XmlElement[] {
  const found: XmlElement[] = [];
  const visit = (element: XmlElement): void => {
    if (findAttribute(element, XML_NAMESPACE, 'id', work)?.value === id) found.push(element);
    for (const child of element.children) if (child.kind === 'element') visit(child);
  };
  visit(rootOf(document));
  return found;
}

function notFound(document: XmlDocument, selector: XmlSelector, step: XmlStep, scope: XmlScope): Error {
  const text = `there is nothing at ${quote(selector.text.slice(0, step.end))}`;
  return xmlFault('unlocated-node', text + hint(document, selector, step, scope));
}

/** The fault that is made most often: names without the namespace of the document. */
function hint(document: XmlDocument, { steps }: XmlSelector, step: XmlStep, scope: XmlScope): string {
  if (step.kind === 'id') return '; only the attribute xml:id makes an id';
  const root = rootOf(document);
  const uri = elementUri(scopeIn(root), root.name);
  if (step !== steps[0] || step.kind !== 'element' || step.name?.local !== root.name.local) return '';
  return resolveName(scope, step.name, 'element') === uri
    ? ''
    : `; "${root.name.local}" is of the namespace "${uri}", which the patch has to declare`;
}
