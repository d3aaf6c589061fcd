import { append } from '../../fhir/lists.js';
import type { ElementNode } from '../profiles/definition/element-tree.js';
import { CORE, ProfileFault, type DefinedElement } from '../profiles/definition/structure-definition.js';
import { typeUrl, type Work } from './work.js';

/**
 * Takes in the elements below an element: those of its type, of the one profile of its type, or of the element that it is like.
 *
 * @throws ProfileFault where that is not known
 */
export function unfold(target: ElementNode, work: Work): void {
  const { element } = target;
  if (element === undefined) return;
  if (element.contentReference !== undefined) {
    const like = referenced(element.contentReference, work);
    const { contentReference: _contentReference, ...said } = element;
    append(target.children, like.children.map(work.copy));
    target.element = { ...said, ...(like.element?.type !== undefined && { type: like.element.type }) };
    return;
  }
  const from = elementsBelow(element, work);
  append(target.children, from.children.map(work.copy));
}

/** Another element. One of a definition is as that definition has it, whatever a profile says about it. */
function referenced(contentReference: string, { url, root, tree }: Work): ElementNode {
  const [canonical = '', id = ''] = contentReference.split('#');
  const like = nodeAt(canonical === '' || canonical === url ? root : tree(canonical), id);
  if (like === undefined) throw new ProfileFault(`${url}: there is no element ${contentReference}`);
  return like;
}

function nodeAt(root: ElementNode | undefined, path: string): ElementNode | undefined {
  const [, ...names] = path.split('.');
  return names.reduce<ElementNode | undefined>((at, name) => at?.children.find((child) => child.name === name), root);
}

function elementsBelow({ path, type = [] }: DefinedElement, { url, tree, isType, unknown }: Work): ElementNode {
  const [first, ...others] = type;
  if (first === undefined) {
    if (isType) return { name: path, element: undefined, children: [], slices: [] };
    throw new ProfileFault(`${url}: ${path} has no type`);
  }
  const canonical = others.every(({ code }) => code === first.code) ? typeUrl(first.code) : `${CORE}Element`;
  const profiles = others.length === 0 ? (first.profile ?? []) : [];
  const [profile] = profiles;
  const isOne = profiles.length === 1 && profile?.includes('#') === false;
  const own = isOne ? tree(profile) : undefined;
  if (isOne && own === undefined) unknown.add(profile);
  const found = own ?? tree(canonical);
  if (found === undefined) throw new ProfileFault(`${url} constrains ${path}; its type ${canonical} is not known here`);
  return found;
}
