import type { XmlElement } from '../../fhir/xml/xml-tree.js';
import type { WorkBudget } from './xml-fault.js';
import { findAttribute, isNamed } from './xml-find.js';
import { enterScope, resolveName, type XmlScope } from './xml-scope.js';
import type { XmlCondition } from './xml-selector.js';

/** What a condition costs more than a look at a node. */
const CONDITION_WORK = 10;

/**
 * Whether a condition holds for an element.
 *
 * @param place Its place among those that fulfil the conditions before, from 1
 * @param scopes What prefixes mean in the patch, and in the document where the element is
 */
export function matchesCondition(
  element: XmlElement,
  place: number,
  condition: XmlCondition,
  { patch, outer }: { readonly patch: XmlScope; readonly outer: XmlScope },
  work: WorkBudget,
): boolean {
  work.spend(CONDITION_WORK);
  switch (condition.kind) {
    case 'position':
      return place === condition.position;
    case 'self':
      return hasText(element, condition.value, work);
    case 'attribute': {
      const uri = resolveName(patch, condition.name, 'attribute');
      return findAttribute(element, uri, condition.name.local, work)?.value === condition.value;
    }
    case 'child': {
      const uri = resolveName(patch, condition.name, 'element');
      const inner = enterScope(outer, element);
      return element.children.some((child) => {
        work.spend(1);
        if (child.kind !== 'element' || !isNamed(child, inner, uri, condition.name.local)) return false;
        return hasText(child, condition.value, work);
      });
    }
  }
}

/** Whether the text of an element and all in it, put together, is this one. */
function hasText(element: XmlElement, text: string, work: WorkBudget): boolean {
  return matchText(element, text, 0, work) === text.length;
}

/** Where the text of an element ends in another text; -1 where it departs from it. */
function matchText(element: XmlElement, text: string, start: number, work: WorkBudget): number {
  let at = start;
  for (const child of element.children) {
    work.spend(1);
    if (child.kind === 'element') {
      at = matchText(child, text, at, work);
      if (at < 0) return -1;
    } else if (child.kind === 'text') {
      work.spend(Math.min(child.text.length, text.length - at));
      if (!text.startsWith(child.text, at)) return -1;
      at += child.text.length;
    }
  }
  return at;
}
